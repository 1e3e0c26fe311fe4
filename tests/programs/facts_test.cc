// SPDX-License-Identifier: BSD-3-Clause
#include "info/facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "util/config.h"
#include "util/counters.h"

namespace hps::info {
namespace {

constexpr const char* no_environment[] = {nullptr};

// Variables are set for one test only.
class FactsTest : public testing::Test {
 protected:
  void set(const char* name, const char* value) {
    setenv(name, value, 1);
    names_.push_back(name);
  }
  void TearDown() override {
    for (const char* name : names_) unsetenv(name);
  }
  static Variable variable(const Facts& facts, const std::string& name) {
    const auto found = std::find_if(facts.variables.begin(), facts.variables.end(),
                                    [&](const Variable& each) { return each.name == name; });
    EXPECT_NE(found, facts.variables.end()) << name;
    return found == facts.variables.end() ? Variable() : *found;
  }

 private:
  std::vector<const char*> names_;
};

TEST_F(FactsTest, AllVariablesOfTheTableInItsOrder) {
  const Facts facts = gather_facts(no_environment);
  ASSERT_EQ(facts.variables.size(), config_variables().size());
  for (std::size_t i = 0; i < facts.variables.size(); ++i)
    EXPECT_EQ(facts.variables[i].name, config_variables()[i].name);
}

TEST_F(FactsTest, AllCountersOfTheListInItsOrder) {
  const Facts facts = gather_facts(no_environment);
  ASSERT_EQ(facts.counters.size(), counter_list().size());
  for (std::size_t i = 0; i < facts.counters.size(); ++i) {
    EXPECT_EQ(facts.counters[i].name, counter_list()[i].name);
    EXPECT_EQ(facts.counters[i].meaning, counter_list()[i].meaning);
    EXPECT_EQ(facts.counters[i].is_rejection, counter_list()[i].is_rejection);
  }
}

TEST_F(FactsTest, AVariableThatIsNotSetHasItsDefault) {
  const Variable log = variable(gather_facts(no_environment), "HPS_LOG");
  EXPECT_EQ(log.value, "warn");
  EXPECT_EQ(log.default_value, "warn");
  EXPECT_FALSE(log.is_set);
  EXPECT_EQ(log.error, "");
}

TEST_F(FactsTest, AVariableThatIsSetShowsItsValue) {
  set("HPS_LINK_RATE", "10gbit");
  const Variable rate = variable(gather_facts(no_environment), "HPS_LINK_RATE");
  EXPECT_EQ(rate.value, "10gbit");
  EXPECT_TRUE(rate.is_set);
  EXPECT_EQ(rate.error, "");
}

TEST_F(FactsTest, EveryWrongValueHasItsOwnError) {
  set("HPS_ROLE", "boss");
  set("HPS_CHUNK", "12x");
  const Facts facts = gather_facts(no_environment);
  EXPECT_NE(variable(facts, "HPS_ROLE").error.find("HPS_ROLE=boss: expected worker or cpu"), std::string::npos);
  EXPECT_NE(variable(facts, "HPS_CHUNK").error.find("HPS_CHUNK=12x: expected a size"), std::string::npos);
  EXPECT_EQ(variable(facts, "HPS_LOG").error, "");
}

TEST_F(FactsTest, NamesThatHpsDoesNotReadAreFound) {
  const char* const environment[] = {"HPS_LOG=info", "HPS_ZZ=1", "HPS_LNK_RATE=1gbit", "OHPS_X=1", "HPSX=1", nullptr};
  EXPECT_EQ(gather_facts(environment).unknown, (std::vector<std::string>{"HPS_LNK_RATE", "HPS_ZZ"}));
}

TEST_F(FactsTest, FeaturesAreKnownWithoutMpiInit) {
  const Facts facts = gather_facts(no_environment);
  EXPECT_FALSE(facts.version.empty());
  std::vector<std::string> names;
  for (const Feature& feature : facts.features) {
    names.push_back(feature.name);
    EXPECT_FALSE(feature.text.empty()) << feature.name;
    EXPECT_EQ(feature.text.find('\n'), std::string::npos) << feature.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"mpi", "mpi_standard", "ucx_compiled", "ucx_linked", "openmp",
                                             "sanitizers", "kernels"}));
}

}  // namespace
}  // namespace hps::info
