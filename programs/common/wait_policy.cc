// SPDX-License-Identifier: BSD-3-Clause
#include "common/wait_policy.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hps {

void use_passive_wait_policy(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  if (setenv("OMP_WAIT_POLICY", "passive", 1) == 0) execv("/proc/self/exe", argv);
  std::fprintf(stderr, "%s: cannot start again with OMP_WAIT_POLICY=passive: %s; idle threads will spin\n", argv[0],
               std::strerror(errno));
}

}  // namespace hps
