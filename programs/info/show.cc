// SPDX-License-Identifier: BSD-3-Clause
#include "info/show.h"

#include "common/json.h"

namespace hps::info {
namespace {

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text + " ";
}

std::string shown(const std::string& value) { return value.empty() ? "(empty)" : value; }

std::string variable_text(const Variable& variable) {
  std::string text = "  " + padded(variable.name + "=" + variable.value, 28);
  text += padded(variable.is_set ? "(default: " + shown(variable.default_value) + ")" : "(default)", 20);
  text += variable.description + "\n";
  if (!variable.error.empty()) text += "    error: " + variable.error + "\n";
  return text;
}

std::string variable_json(const Variable& variable) {
  return JsonObject()
      .add("name", json_string(variable.name))
      .add("value", json_string(variable.value))
      .add("default", json_string(variable.default_value))
      .add("is_set", variable.is_set ? "true" : "false")
      .add("description", json_string(variable.description))
      .add("error", variable.error.empty() ? "null" : json_string(variable.error))
      .text();
}

std::string counter_json(const Counter& counter) {
  return JsonObject()
      .add("name", json_string(counter.name))
      .add("meaning", json_string(counter.meaning))
      .add("is_rejection", counter.is_rejection ? "true" : "false")
      .text();
}

std::string counters_text(const std::vector<Counter>& counters, bool rejections) {
  std::string text;
  for (const Counter& counter : counters) {
    if (counter.is_rejection == rejections) text += "  " + padded(counter.name, 13) + counter.meaning + "\n";
  }
  return text;
}

// The items' JSON, comma-separated, a line each.
template <class Items, class Json>
std::string lines_of(const Items& items, Json json) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "\n    " : ",\n    ") + json(item);
  return text;
}

}  // namespace

std::string as_text(const Facts& facts) {
  std::string text = "HPS " + facts.version + "\n";
  for (const Feature& feature : facts.features) text += "  " + padded(feature.name, 13) + feature.text + "\n";
  text += "\nVariables, see hps(7):\n";
  for (const Variable& variable : facts.variables) text += variable_text(variable);
  text += "\nWhat each rank counts, and tells at its end (HPS_LOG=info), see hps(7):\n";
  text += counters_text(facts.counters, false);
  text += "Messages are dropped, and counted,\n";
  text += counters_text(facts.counters, true);
  if (facts.unknown.empty()) return text;
  text += "\nIn the environment, but not read by HPS (a spelling mistake?):\n";
  for (const std::string& name : facts.unknown) text += "  " + name + "\n";
  return text;
}

std::string as_json(const Facts& facts) {
  const auto feature_json = [](const Feature& feature) {
    return json_string(feature.name) + ": " + json_string(feature.text);
  };
  return "{\n  \"version\": " + json_string(facts.version) + ",\n  \"features\": {" +
         lines_of(facts.features, feature_json) + "},\n  \"variables\": [" + lines_of(facts.variables, variable_json) +
         "],\n  \"counters\": [" + lines_of(facts.counters, counter_json) + "],\n  \"unknown_variables\": [" +
         lines_of(facts.unknown, json_string) + "]\n}\n";
}

}  // namespace hps::info
