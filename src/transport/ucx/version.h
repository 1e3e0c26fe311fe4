// SPDX-License-Identifier: BSD-3-Clause
// The UCX that HPS was compiled with and the one that it runs with, for hps_info: settings and wire formats of UCX
// differ between versions, so it is the first thing to ask when two hosts do not understand each other.
#ifndef HPS_SRC_TRANSPORT_UCX_VERSION_H
#define HPS_SRC_TRANSPORT_UCX_VERSION_H

#include <string>

namespace hps {

std::string ucx_version_compiled();  // "1.13": UCX's headers tell no more
std::string ucx_version_linked();    // "1.13.1"

}  // namespace hps

#endif
