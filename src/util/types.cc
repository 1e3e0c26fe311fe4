// SPDX-License-Identifier: BSD-3-Clause
#include "util/types.h"

namespace hps {

const char* algorithm_name(Algorithm algorithm) noexcept {
  switch (algorithm) {
    case Algorithm::automatic:
      return "auto";
#define HPS_ALGORITHM(collective, name, summed_by) \
  case Algorithm::name:                            \
    return #name;
#include "coll/algorithms.def"
  }
  return "unknown";
}

SummedBy summed_by(Algorithm algorithm) noexcept {
  switch (algorithm) {
    case Algorithm::automatic:
      break;
#define HPS_ALGORITHM(collective, name, summer) \
  case Algorithm::name:                         \
    return SummedBy::summer;
#include "coll/algorithms.def"
  }
  return SummedBy::members;
}

}  // namespace hps
