// SPDX-License-Identifier: BSD-3-Clause
#include "info/facts.h"

#include <mpi.h>

#include <algorithm>
#include <string_view>

#include "common/versions.h"
#include "summation/kernels.h"
#include "transport/ucx/version.h"
#include "util/config.h"
#include "util/counters.h"

// The build names the sanitizers as words, HPS_SANITIZERS; this makes a string of them.
#define HPS_TEXT_OF(words) #words
#define HPS_TEXT(words) HPS_TEXT_OF(words)

namespace hps::info {
namespace {

// MPI allows this call before MPI_Init, and the one for the library too.
std::string mpi_standard() {
  int version = 0, subversion = 0;
  if (MPI_Get_version(&version, &subversion) != MPI_SUCCESS) return "unknown";
  return std::to_string(version) + "." + std::to_string(subversion);
}

std::string openmp() {
#ifdef _OPENMP
  return std::to_string(_OPENMP);
#else
  return "no";
#endif
}

// The instruction sets of this CPU that the kernels are made for, the one in use last.
std::string kernels() {
  std::string names;
  for (const Isa isa : all_isas) {
    if (kernel_table(isa) == nullptr) continue;
    if (!names.empty()) names += " ";
    names += isa_name(isa);
  }
  return names;
}

std::vector<Feature> features() {
  return {
      {"mpi", mpi_library()},
      {"mpi_standard", mpi_standard()},
      {"ucx_compiled", ucx_version_compiled()},
      {"ucx_linked", ucx_version_linked()},
      {"openmp", openmp()},
      {"sanitizers", HPS_TEXT(HPS_SANITIZERS)},
      {"kernels", kernels()},
  };
}

// What the library would say of this variable if it were the only one.
std::string error_of(const ConfigVariable& variable) {
  Config config;
  const auto only_this = [&](const ConfigVariable& asked) {
    return asked.name == variable.name ? from_environment(asked) : std::nullopt;
  };
  const Status status = read_config({only_this}, &config);
  return status.ok() ? "" : status.to_string();
}

std::vector<Variable> variables() {
  std::vector<Variable> result;
  for (const ConfigVariable& variable : config_variables()) {
    result.push_back({variable.name, effective_value(variable), variable.default_value, variable.description,
                      from_environment(variable).has_value(), error_of(variable)});
  }
  return result;
}

std::vector<Counter> counters() {
  std::vector<Counter> result;
  for (const CounterInfo& counter : counter_list())
    result.push_back({counter.name, counter.meaning, counter.is_rejection});
  return result;
}

bool is_known(std::string_view name) {
  const auto& table = config_variables();
  return std::any_of(table.begin(), table.end(), [name](const ConfigVariable& known) { return name == known.name; });
}

std::vector<std::string> unknown_variables(const char* const* environment) {
  std::vector<std::string> names;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::string_view name = entry.substr(0, entry.find('='));
    if (name.starts_with("HPS_") && !is_known(name)) names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Facts gather_facts(const char* const* environment) {
  return {hps_version(), features(), variables(), counters(), unknown_variables(environment)};
}

}  // namespace hps::info
