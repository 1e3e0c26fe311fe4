// SPDX-License-Identifier: BSD-3-Clause
#include "perf/options.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>
#include <string_view>

#include "util/units.h"

namespace hps::perf {
namespace {

bool parse_number(std::string_view text, std::uint32_t smallest, std::uint32_t* value) {
  std::uint32_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size() || number < smallest) return false;
  *value = number;
  return true;
}

bool parse_datatype(std::string_view text, Datatype* datatype) {
  if (text == "float") text = "float32";
  if (text == "double") text = "float64";
  for (std::uint8_t i = 0; i < datatype_count; ++i) {
    if (text != datatype_name(static_cast<Datatype>(i))) continue;
    *datatype = static_cast<Datatype>(i);
    return true;
  }
  return false;
}

bool parse_op(std::string_view text, Op* op) {
  for (std::uint8_t i = 0; i < op_count; ++i) {
    if (text != op_name(static_cast<Op>(i))) continue;
    *op = static_cast<Op>(i);
    return true;
  }
  return false;
}

bool set_factor(std::string_view text, Options* options) {
  std::uint32_t factor = 0;
  if (!parse_number(text, 2, &factor)) return false;
  options->factor = factor;
  return true;
}

// One flag. `value` names its value in the help and is null where it takes none; `expects` completes "expected ...".
struct Flag {
  const char* letter;  // "-b", or null
  const char* name;    // "--min-bytes"
  const char* value;
  const char* expects;
  const char* description;
  bool (*set)(std::string_view, Options*);
};

constexpr char size_expected[] = "a size such as 8, 64K or 32M, 1 or more";
#define HPS_DATATYPE(name, ctype, kind) #name ", "
constexpr char datatypes[] =
#include "util/datatypes.def"
    "or float and double for float32 and float64";
#undef HPS_DATATYPE
#define HPS_OP(name) " " #name
constexpr char ops[] = "one of"
#include "util/ops.def"
    ;
#undef HPS_OP

// The one list of flags: parsing and help follow it.
constexpr Flag flags[] = {
    {"-b", "--min-bytes", "BYTES", size_expected, "the smallest message (default 8), an element or more",
     [](std::string_view text, Options* o) { return parse_bytes(text, &o->min_bytes) && o->min_bytes > 0; }},
    {"-e", "--max-bytes", "BYTES", size_expected, "the largest message (default 32M)",
     [](std::string_view text, Options* o) { return parse_bytes(text, &o->max_bytes) && o->max_bytes > 0; }},
    {"-f", "--factor", "N", "a whole number of 2 or more", "each message is N times the one before (default 2)",
     set_factor},
    {"-n", "--iterations", "N", "a whole number of 1 or more", "measured calls a message size (default 20)",
     [](std::string_view text, Options* o) { return parse_number(text, 1, &o->iterations); }},
    {"-w", "--warmup", "N", "a whole number of 0 or more", "calls before them that are not measured (default 5)",
     [](std::string_view text, Options* o) { return parse_number(text, 0, &o->warmup); }},
    {"-t", "--datatype", "TYPE", datatypes, "the type of an element (default float32)",
     [](std::string_view text, Options* o) { return parse_datatype(text, &o->datatype); }},
    {"-o", "--op", "OP", ops, "the operation (default sum)",
     [](std::string_view text, Options* o) { return parse_op(text, &o->op); }},
    {nullptr, "--in-place", nullptr, nullptr, "send from the receive buffer (MPI_IN_PLACE)",
     [](std::string_view, Options* o) { return o->in_place = true; }},
    {nullptr, "--check", nullptr, nullptr, "check every element of every result (default)",
     [](std::string_view, Options* o) { return o->check = true; }},
    {nullptr, "--no-check", nullptr, nullptr, "do not check results",
     [](std::string_view, Options* o) { return !(o->check = false); }},
    {nullptr, "--json", "FILE", "the name of a file", "write one JSON object a message size into FILE",
     [](std::string_view text, Options* o) { return !(o->json_file = text).empty(); }},
    {nullptr, "--link-rate", "RATE", "a link rate such as 100mbit or 10gbit",
     "the rate of every node's link, for the bound",
     [](std::string_view text, Options* o) { return parse_rate(text, &o->link_rate); }},
    {nullptr, "--vs-mpi", nullptr, nullptr, "measure MPI_Allreduce too, in turn with HPS",
     [](std::string_view, Options* o) { return o->vs_mpi = true; }},
    {nullptr, "--skew", "MS", "a whole number of milliseconds, 1 or more",
     "workers enter each call up to MS milliseconds apart",
     [](std::string_view text, Options* o) { return parse_number(text, 1, &o->skew_ms); }},
    {nullptr, "--groups", "N", "a whole number of 1 or more", "N groups of workers call at the same time (default 1)",
     [](std::string_view text, Options* o) { return parse_number(text, 1, &o->groups); }},
    {nullptr, "--predict", nullptr, nullptr, "tell what more CPU-only nodes would bring",
     [](std::string_view, Options* o) { return o->predict = true; }},
    {nullptr, "--list", nullptr, nullptr, "show every type with the operations that it has",
     [](std::string_view, Options* o) { return (o->action = Action::list) == Action::list; }},
    {"-h", "--help", nullptr, nullptr, "show this text",
     [](std::string_view, Options* o) { return (o->action = Action::help) == Action::help; }},
    {"-V", "--version", nullptr, nullptr, "show the version",
     [](std::string_view, Options* o) { return (o->action = Action::version) == Action::version; }},
};

Status invalid(std::string text) { return {Code::invalid_argument, std::move(text)}; }

// An argument cut at its "=": "--min-bytes=64K" is a name and a value.
struct Argument {
  std::string_view name;
  std::string_view value;
  bool has_value = false;
};

Argument cut(std::string_view text) {
  const auto equals = text.starts_with("--") ? text.find('=') : std::string_view::npos;
  if (equals == std::string_view::npos) return {text, {}, false};
  return {text.substr(0, equals), text.substr(equals + 1), true};
}

const Flag* find_flag(std::string_view name) {
  const auto found = std::find_if(std::begin(flags), std::end(flags), [name](const Flag& flag) {
    return name == flag.name || (flag.letter != nullptr && name == flag.letter);
  });
  return found == std::end(flags) ? nullptr : found;
}

Status set_flag(const Flag& flag, const Argument& argument, Options* options) {
  const std::string name(argument.name);
  if (flag.value == nullptr && argument.has_value) return invalid("option " + name + " takes no value");
  if (flag.value != nullptr && !argument.has_value) {
    return invalid("option " + name + " needs a value: expected " + flag.expects);
  }
  if (flag.set(argument.value, options)) return {};
  return invalid("option " + name + " " + std::string(argument.value) + ": expected " + flag.expects);
}

Status set_collective(const std::string& name, std::string* collective) {
  if (name != "allreduce_hetero") return invalid("collective " + name + ": expected allreduce_hetero");
  if (!collective->empty()) return invalid("the collective " + name + " is given twice");
  *collective = name;
  return {};
}

// What no single flag can see.
struct Given {
  std::string collective;
  bool min_bytes = false;
  bool max_bytes = false;
};
Status check_together(const Given& given, Options* options) {
  if (given.collective.empty()) return invalid("no collective is given: expected allreduce_hetero");
  const std::uint64_t element = datatype_bytes(options->datatype);
  if (!given.min_bytes) options->min_bytes = std::max(options->min_bytes, element);
  if (!given.max_bytes) options->max_bytes = std::max(options->max_bytes, options->min_bytes);
  if (options->min_bytes > options->max_bytes) {
    return invalid("the smallest message, " + format_bytes(options->min_bytes) + ", is larger than the largest, " +
                   format_bytes(options->max_bytes));
  }
  const std::string type = datatype_name(options->datatype);
  if (!op_supports(options->op, options->datatype))
    return invalid(std::string("the operation ") + op_name(options->op) + " is not defined on " + type);
  if (options->vs_mpi && partial_datatype(options->datatype) != options->datatype)
    return invalid("MPI has no " + type + " to measure: --vs-mpi wants another type");
  if (options->min_bytes < element) {
    return invalid("the smallest message, " + format_bytes(options->min_bytes) + " bytes, is shorter than one " + type);
  }
  if (options->max_bytes / element > std::numeric_limits<int>::max()) {
    return invalid("the largest message, " + format_bytes(options->max_bytes) + ", is more than 2147483647 elements");
  }
  return {};
}

}  // namespace

Status parse_options(const std::vector<std::string>& arguments, Options* options) {
  Options result;
  Given given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with("-")) {
      HPS_RETURN_IF_ERROR(set_collective(arguments[i], &given.collective));
      continue;
    }
    Argument argument = cut(arguments[i]);
    const Flag* flag = find_flag(argument.name);
    if (flag == nullptr) return invalid("unknown option " + std::string(argument.name));
    if (flag->value != nullptr && !argument.has_value && i + 1 < arguments.size()) {
      argument = {argument.name, arguments[++i], true};
    }
    HPS_RETURN_IF_ERROR(set_flag(*flag, argument, &result));
    if (result.action != Action::measure) break;
    given.min_bytes = given.min_bytes || std::string_view(flag->name) == "--min-bytes";
    given.max_bytes = given.max_bytes || std::string_view(flag->name) == "--max-bytes";
  }
  if (result.action == Action::measure) HPS_RETURN_IF_ERROR(check_together(given, &result));
  *options = result;
  return {};
}

std::string help_text() {
  std::string text =
      "usage: mpirun -n WORKERS hps_perf allreduce_hetero [OPTIONS] : -n CPU-ONLY-RANKS hps_server\n"
      "\n"
      "Measures HPS_Allreduce_hetero and checks its results; see hps_perf(1).\n"
      "\n";
  for (const Flag& flag : flags) {
    const std::string name = std::string(flag.name) + (flag.value == nullptr ? "" : " " + std::string(flag.value));
    char line[160];
    std::snprintf(line, sizeof line, "  %-3s %-19s %s\n", flag.letter == nullptr ? "" : flag.letter, name.c_str(),
                  flag.description);
    text += line;
  }
  text += "\nTypes: " + std::string(datatypes) + ".\nOperations, where MPI has them for the type: " + ops + ".\n";
  return text;
}

std::string list_text() {
  std::string text;
  for (std::uint8_t i = 0; i < datatype_count; ++i) {
    const auto datatype = static_cast<Datatype>(i);
    text += std::string(datatype_name(datatype)) + ":";
    for (std::uint8_t j = 0; j < op_count; ++j) {
      const auto op = static_cast<Op>(j);
      if (op_supports(op, datatype)) text += std::string(" ") + op_name(op);
    }
    text += "\n";
  }
  return text;
}

std::vector<std::uint64_t> element_counts(const Options& options) {
  std::vector<std::uint64_t> counts;
  const std::uint64_t element = datatype_bytes(options.datatype);
  for (std::uint64_t bytes = options.min_bytes; bytes <= options.max_bytes; bytes *= options.factor) {
    counts.push_back(bytes / element);
    if (bytes > options.max_bytes / options.factor) break;
  }
  return counts;
}

}  // namespace hps::perf
