// SPDX-License-Identifier: BSD-3-Clause
// What the program is called where it speaks of itself. argv[0] would not do: it may be a path, or a name that libtool
// made up.
#ifndef HPS_PROGRAMS_COMMON_PROGRAM_NAME_H
#define HPS_PROGRAMS_COMMON_PROGRAM_NAME_H

namespace hps {

// "hps_perf". The file that holds a program's main defines it.
extern const char program_name[];

}  // namespace hps

#endif
