// SPDX-License-Identifier: BSD-3-Clause
// Facts: what hps_info tells. Gathered without MPI_Init, so that it can be asked on any host, outside a job.
#ifndef HPS_PROGRAMS_INFO_FACTS_H
#define HPS_PROGRAMS_INFO_FACTS_H

#include <string>
#include <vector>

namespace hps::info {

// One thing that this build has, or this machine.
struct Feature {
  std::string name;  // "ucx_linked"
  std::string text;  // "1.13.1"
};

// One variable of the configuration table.
struct Variable {
  std::string name;
  std::string value;  // what is in effect
  std::string default_value;
  std::string description;
  bool is_set = false;  // in the environment
  std::string error;    // why the value is wrong; empty where it is right
};

// One row of what a rank counts.
struct Counter {
  std::string name;
  std::string meaning;
  bool is_rejection = false;  // why messages are dropped
};

struct Facts {
  std::string version;  // of the library
  std::vector<Feature> features;
  std::vector<Variable> variables;  // in the table's order
  std::vector<Counter> counters;    // likewise
  std::vector<std::string>
      unknown;  // variables of the environment that begin with HPS_ and are not in the table, sorted
};

// `environment` is a list as environ(7) describes it, searched for unknown names; values are asked of getenv.
Facts gather_facts(const char* const* environment);

}  // namespace hps::info

#endif
