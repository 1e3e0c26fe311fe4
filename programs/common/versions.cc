// SPDX-License-Identifier: BSD-3-Clause
#include "common/versions.h"

#include <mpi.h>

#include <cstring>

#include "hps.h"

namespace hps {

std::string hps_version() {
  int major = 0, minor = 0, patch = 0;
  HPS_Get_version(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "unknown";
  return std::string(text, std::strcspn(text, "\n"));
}

}  // namespace hps
