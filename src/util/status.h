// SPDX-License-Identifier: BSD-3-Clause
// Status: the result of anything that can fail inside HPS. Nothing in the library throws on purpose; src/api turns a
// Status into an MPI error code. A Status that is not ok carries a code, a sentence for the user, and the world rank it
// speaks of (or no_rank).
#ifndef HPS_SRC_UTIL_STATUS_H
#define HPS_SRC_UTIL_STATUS_H

#include <memory>
#include <string>
#include <utility>

#include "util/types.h"

namespace hps {

enum class Code {
#define HPS_STATUS(name, mpi_class, text) name,
#include "util/status.def"
#undef HPS_STATUS
};

inline constexpr int code_count = 0
#define HPS_STATUS(name, mpi_class, text) +1
#include "util/status.def"
#undef HPS_STATUS
    ;

// The short text of a code, as listed in status.def.
const char* code_text(Code code) noexcept;

class [[nodiscard]] Status {
 public:
  Status() noexcept = default;  // ok; costs one null pointer
  Status(Code code, std::string text, Rank who = no_rank)
      : error_(std::make_shared<Error>(Error{code, std::move(text), who})) {}

  bool ok() const noexcept { return error_ == nullptr; }
  Code code() const noexcept { return error_ ? error_->code : Code::ok; }
  Rank who() const noexcept { return error_ ? error_->who : no_rank; }
  // The sentence for the user; empty where there is none.
  const std::string& text() const noexcept;
  // "<short text>: <sentence>", or "success".
  std::string to_string() const;

 private:
  struct Error {
    Code code;
    std::string text;
    Rank who;
  };
  std::shared_ptr<const Error> error_;
};

// Returns from the enclosing function when `expression` is not ok.
#define HPS_RETURN_IF_ERROR(expression)        \
  do {                                         \
    ::hps::Status hps_status_ = (expression);  \
    if (!hps_status_.ok()) return hps_status_; \
  } while (0)

}  // namespace hps

#endif
