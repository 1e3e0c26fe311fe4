// SPDX-License-Identifier: BSD-3-Clause
#include "util/status.h"

namespace hps {

const char* code_text(Code code) noexcept {
  switch (code) {
#define HPS_STATUS(name, mpi_class, text) \
  case Code::name:                        \
    return text;
#include "util/status.def"
#undef HPS_STATUS
  }
  return "unknown error";
}

const std::string& Status::text() const noexcept {
  static const std::string none;
  return error_ ? error_->text : none;
}

std::string Status::to_string() const {
  if (!error_) return code_text(Code::ok);
  if (error_->text.empty()) return code_text(error_->code);
  return std::string(code_text(error_->code)) + ": " + error_->text;
}

}  // namespace hps
