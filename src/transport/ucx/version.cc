// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/version.h"

#include <ucp/api/ucp.h>
#include <ucp/api/ucp_version.h>

namespace hps {

std::string ucx_version_compiled() { return std::to_string(UCP_API_MAJOR) + "." + std::to_string(UCP_API_MINOR); }

std::string ucx_version_linked() { return ucp_get_version_string(); }

}  // namespace hps
