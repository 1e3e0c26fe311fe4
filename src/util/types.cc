// SPDX-License-Identifier: BSD-3-Clause
#include "util/types.h"

namespace hps {

const char* algorithm_name(Algorithm algorithm) noexcept {
  switch (algorithm) {
    case Algorithm::automatic:
      return "auto";
#define HPS_SPECIAL_CASE(collective, name)
#define HPS_ALGORITHM(collective, name) \
  case Algorithm::name:                 \
    return #name;
#include "coll/algorithms.def"
#undef HPS_ALGORITHM
#undef HPS_SPECIAL_CASE
  }
  return "unknown";
}

}  // namespace hps
