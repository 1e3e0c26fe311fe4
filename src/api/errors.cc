// SPDX-License-Identifier: BSD-3-Clause
#include "api/errors.h"

#include <algorithm>
#include <mutex>
#include <string>

#include "util/log.h"

namespace hps::api {
namespace {

int mpi_class(Code code) noexcept {
  switch (code) {
#define HPS_STATUS(name, mpi_class, text) \
  case Code::name:                        \
    return mpi_class;
#include "util/status.def"
#undef HPS_STATUS
  }
  return MPI_ERR_INTERN;
}

// MPI_Error_string is to give the whole sentence, so each of our codes has an MPI error code of its own, in the class
// that users know, whose text is that of its latest error. MPI offers no way to free error codes: that is why there is
// one a code and not one an error.
int code_with_text(const Status& status) {
  static std::mutex mutex;
  static int codes[code_count] = {};
  const std::lock_guard<std::mutex> guard(mutex);
  int& code = codes[static_cast<std::size_t>(status.code())];
  const int error_class = mpi_class(status.code());
  if (code == 0 && MPI_Add_error_code(error_class, &code) != MPI_SUCCESS) return error_class;
  std::string text = "HPS: " + status.to_string();
  text.resize(std::min<std::size_t>(text.size(), MPI_MAX_ERROR_STRING - 1));
  return MPI_Add_error_string(code, text.c_str()) == MPI_SUCCESS ? code : error_class;
}

}  // namespace

bool mpi_is_usable() noexcept {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized && !finalized;
}

int report(const Status& status, MPI_Comm comm) noexcept {
  if (!mpi_is_usable()) {
    Log().error(status.to_string());
    return mpi_class(status.code());
  }
  const int code = code_with_text(status);
  MPI_Comm_call_errhandler(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm, code);
  return code;
}

}  // namespace hps::api
