// SPDX-License-Identifier: BSD-3-Clause
#include "util/config.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <set>

namespace hps {
namespace {

ConfigSource source_of(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const ConfigVariable& variable) -> std::optional<std::string> {
    const auto found = values.find(variable.name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

// What a variable's text makes of the configuration; the status is the caller's to check.
Status read_one(const std::string& name, const std::string& value, Config* config) {
  return read_config({source_of({{name, value}})}, config);
}

// An environment variable, set until the end of the block.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    const char* const before = std::getenv(name);
    if (before != nullptr) before_ = before;
    setenv(name, value, 1);
  }
  ~Setting() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

const ConfigVariable& variable(const std::string& name) {
  for (const ConfigVariable& each : config_variables()) {
    if (name == each.name) return each;
  }
  ADD_FAILURE() << name << " is not in config.def";
  return config_variables().front();
}

TEST(ConfigTest, DefaultsAreThoseOfTheTable) {
  Config config;
  config.window = 99;
  ASSERT_TRUE(read_config({}, &config).ok());
  EXPECT_EQ(config.log, LogLevel::warn);
  EXPECT_EQ(config.role, Role::worker);
  EXPECT_EQ(config.node, "");
  EXPECT_EQ(config.link_rate, 0);
  EXPECT_TRUE(config.measure);
  EXPECT_EQ(config.chunk, 0u);
  EXPECT_EQ(config.window, 0u);
  EXPECT_EQ(config.algorithm, Algorithm::automatic);
  EXPECT_EQ(config.serve_memory, std::uint64_t{128} << 20);
}

TEST(ConfigTest, ReadsEveryKind) {
  Config config;
  ASSERT_TRUE(read_config({source_of({{"HPS_LOG", "debug"},
                                      {"HPS_ROLE", "cpu"},
                                      {"HPS_NODE", "node 7"},
                                      {"HPS_LINK_RATE", "100mbit"},
                                      {"HPS_MEASURE", "no"},
                                      {"HPS_CHUNK", "16K"},
                                      {"HPS_WINDOW", "24"},
                                      {"HPS_ALGORITHM", "recursive_doubling"},
                                      {"HPS_SERVE_MEMORY", "1G"}})},
                          &config)
                  .ok());
  EXPECT_EQ(config.log, LogLevel::debug);
  EXPECT_EQ(config.role, Role::cpu_only);
  EXPECT_EQ(config.node, "node 7");
  EXPECT_EQ(config.link_rate, 12.5e6);
  EXPECT_FALSE(config.measure);
  EXPECT_EQ(config.chunk, 16384u);
  EXPECT_EQ(config.window, 24u);
  EXPECT_EQ(config.algorithm, Algorithm::recursive_doubling);
  EXPECT_EQ(config.serve_memory, std::uint64_t{1} << 30);
}

TEST(ConfigTest, ReadsEveryName) {
  Config config;
  const std::map<std::string, LogLevel> levels = {
      {"error", LogLevel::error}, {"warn", LogLevel::warn}, {"info", LogLevel::info}, {"debug", LogLevel::debug}};
  for (const auto& [text, level] : levels) {
    ASSERT_TRUE(read_one("HPS_LOG", text, &config).ok()) << text;
    EXPECT_EQ(config.log, level) << text;
  }
  const std::map<std::string, Role> roles = {{"worker", Role::worker}, {"cpu", Role::cpu_only}};
  for (const auto& [text, role] : roles) {
    ASSERT_TRUE(read_one("HPS_ROLE", text, &config).ok()) << text;
    EXPECT_EQ(config.role, role) << text;
  }
  const std::map<std::string, Algorithm> algorithms = {{"auto", Algorithm::automatic},
                                                       {"direct", Algorithm::direct},
                                                       {"recursive_doubling", Algorithm::recursive_doubling}};
  for (const auto& [text, algorithm] : algorithms) {
    ASSERT_TRUE(read_one("HPS_ALGORITHM", text, &config).ok()) << text;
    EXPECT_EQ(config.algorithm, algorithm) << text;
  }
}

// Never a silent default: the variable, the value and what would be right are named.
TEST(ConfigTest, RefusesUnknownValues) {
  const std::vector<std::array<std::string, 3>> wrong = {
      {"HPS_LOG", "loud", "error, warn, info or debug"},
      {"HPS_LOG", "Debug", "error, warn, info or debug"},
      {"HPS_LOG", "", "error, warn, info or debug"},
      {"HPS_ROLE", "server", "worker or cpu"},
      {"HPS_LINK_RATE", "100", "100mbit"},
      {"HPS_LINK_RATE", "0mbit", "100mbit"},
      {"HPS_MEASURE", "1", "yes or no"},
      {"HPS_CHUNK", "16KB", "16K"},
      {"HPS_CHUNK", "-1", "16K"},
      {"HPS_CHUNK", "63", "64 to 60K"},
      {"HPS_CHUNK", "61441", "64 to 60K"},
      {"HPS_THREADS", "0", "1 or more"},
      {"HPS_WINDOW", "many", "whole number"},
      {"HPS_WINDOW", "12x", "whole number"},
      {"HPS_WINDOW", "-1", "whole number"},
      {"HPS_WINDOW", "4294967296", "whole number"},
      {"HPS_ALGORITHM", "ring", "auto or direct or recursive_doubling"},
      {"HPS_SERVE_MEMORY", "lots", "64K"},
      {"HPS_SERVE_MEMORY", "0", "1 or more"},
  };
  for (const auto& [name, value, right] : wrong) {
    Config config;
    config.window = 77;
    config.node = "as it was";
    const Status status = read_one(name, value, &config);
    EXPECT_EQ(status.code(), Code::invalid_config) << name << "=" << value;
    EXPECT_EQ(status.text().rfind(std::string(name).append("=").append(value), 0), 0u) << status.text();
    EXPECT_NE(status.text().find(right), std::string::npos) << status.text();
    EXPECT_EQ(config.window, 77u) << "outputs are set on success alone";
    EXPECT_EQ(config.node, "as it was");
  }
}

TEST(ConfigTest, EarlierSourcesComeFirst) {
  Config config;
  ASSERT_TRUE(
      read_config({source_of({{"HPS_WINDOW", "1"}}), source_of({{"HPS_WINDOW", "2"}, {"HPS_NODE", "b"}})}, &config)
          .ok());
  EXPECT_EQ(config.window, 1u);
  EXPECT_EQ(config.node, "b");
  EXPECT_EQ(read_config({source_of({{"HPS_WINDOW", "x"}}), source_of({{"HPS_WINDOW", "2"}})}, &config).code(),
            Code::invalid_config)
      << "a wrong value is not passed over";
}

TEST(ConfigTest, ReadsTheEnvironment) {
  const Setting window("HPS_WINDOW", "48");
  const Setting node("HPS_NODE", "");
  EXPECT_EQ(from_environment(variable("HPS_WINDOW")), "48");
  EXPECT_EQ(from_environment(variable("HPS_NODE")), std::nullopt) << "empty counts as not set";
  Config config;
  ASSERT_TRUE(read_config({from_environment}, &config).ok());
  EXPECT_EQ(config.window, 48u);
  EXPECT_EQ(effective_value(variable("HPS_WINDOW")), "48");
}

TEST(ConfigTest, EffectiveValueFallsBackOnTheDefault) {
  const Setting unset("HPS_LOG", "");
  EXPECT_EQ(effective_value(variable("HPS_LOG")), "warn");
}

TEST(ConfigTest, InfoKeysAreSmallLetters) {
  EXPECT_EQ(info_key("HPS_LINK_RATE"), "hps_link_rate");
  EXPECT_EQ(info_key("HPS_X2"), "hps_x2");
}

TEST(ConfigTest, TableIsFitToPrint) {
  std::set<std::string> names;
  for (const ConfigVariable& row : config_variables()) {
    EXPECT_EQ(std::string(row.name).rfind("HPS_", 0), 0u) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " twice";
    EXPECT_NE(std::string(row.kind), "") << row.name;
    EXPECT_NE(std::string(row.description), "") << row.name;
  }
  EXPECT_FALSE(names.empty());
}

}  // namespace
}  // namespace hps
