// SPDX-License-Identifier: BSD-3-Clause
// One move-only owner for each UCX handle.
#ifndef HPS_SRC_TRANSPORT_UCX_UCX_HANDLES_H
#define HPS_SRC_TRANSPORT_UCX_UCX_HANDLES_H

#include <ucp/api/ucp.h>

#include <memory>

namespace hps::ucx {

template <auto destroy>
struct Destroy {
  template <class Handle>
  void operator()(Handle handle) const noexcept {
    destroy(handle);
  }
};

using Config = std::unique_ptr<ucp_config_t, Destroy<ucp_config_release>>;
using Context = std::unique_ptr<ucp_context, Destroy<ucp_cleanup>>;
using Worker = std::unique_ptr<ucp_worker, Destroy<ucp_worker_destroy>>;

// A worker's address, which only that worker can release.
class Address {
 public:
  Address() noexcept = default;
  Address(ucp_worker_h worker, ucp_address_t* address, std::size_t bytes) noexcept
      : worker_(worker), address_(address), bytes_(bytes) {}
  Address(Address&& other) noexcept { *this = std::move(other); }
  Address& operator=(Address&& other) noexcept {
    std::swap(worker_, other.worker_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Address() {
    if (address_ != nullptr) ucp_worker_release_address(worker_, address_);
  }
  const void* data() const noexcept { return address_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  ucp_worker_h worker_ = nullptr;
  ucp_address_t* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace hps::ucx

#endif
