// SPDX-License-Identifier: BSD-3-Clause
#include "util/types.h"

namespace hps {

const char* algorithm_name(Algorithm algorithm) noexcept {
  switch (algorithm) {
    case Algorithm::automatic:
      return "auto";
#define HPS_ALGORITHM(collective, name) \
  case Algorithm::name:                 \
    return #name;
#include "coll/algorithms.def"
  }
  return "unknown";
}

}  // namespace hps
