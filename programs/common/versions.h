// SPDX-License-Identifier: BSD-3-Clause
// The versions of the libraries that the program runs with, asked of the libraries themselves. Without MPI_Init.
#ifndef HPS_PROGRAMS_COMMON_VERSIONS_H
#define HPS_PROGRAMS_COMMON_VERSIONS_H

#include <string>

namespace hps {

std::string hps_version();  // "0.1.0"
std::string mpi_library();  // the first line of what MPI_Get_library_version says, or "unknown"

}  // namespace hps

#endif
