// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/ucx_transport.h"

#include <ucs/debug/debug.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "transport/ucx/ucx_handles.h"

namespace hps {
namespace {

// The number of our active message. It is ours alone: the context is.
constexpr unsigned message_id = 1;
// Longer headers than this are not sent; wire::header_bytes is 32.
constexpr std::size_t max_header_bytes = 64;
// UCX receives up to TCP_RX_SEG_SIZE (64 KB) less its own headers in one piece; a longer message is put together by a
// copy.
constexpr std::size_t one_piece_bytes = 60 * 1024;
// Eager: see the head of ucx_transport.h. REPLY shows the receiver its endpoint to the sender, which names the sender
// where the receiver has opened that endpoint itself: UCX matches the two ends of a connection, over TCP and shared
// memory, also where both open it at once. It adds 8 bytes to a message, and some 140 instructions on both sides
// together, 1.6 % of those of an 8-byte call (bench/RESULTS.md). The number of the endpoint is the sender's word: it
// finds errors and strays, not attackers. UCX drops a message that names an endpoint which the receiver has closed; a
// receiver closes those that have failed, and all at its end.
constexpr std::uint32_t send_flags = UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY;

Status error(const char* what, ucs_status_t status) {
  return {Code::transport, std::string(what) + ": " + ucs_status_string(status)};
}

ucx::Config read_settings() {
  ucp_config_t* config = nullptr;
  if (ucp_config_read(nullptr, nullptr, &config) != UCS_OK) return nullptr;
    // Without it, opening an endpoint to a host that does not answer blocks for seconds. UCX 1.13 knows the key of its
    // TCP transport without the prefix, and warns of keys that it does not know; UCX_TCP_CONN_NB in the environment
    // does the same everywhere.
#if UCP_API_VERSION < UCP_VERSION(1, 14)
  static_cast<void>(ucp_config_modify(config, "CONN_NB", "y"));
  // Events of sockets are taken one by one. UCX takes 16 otherwise, and where the first has us send to a peer that has
  // just died, and whose end is among the others, it aborts the process: "conn_state != UCT_TCP_EP_CONN_STATE_CLOSED".
  static_cast<void>(ucp_config_modify(config, "MAX_POLL", "1"));
#endif
  return ucx::Config(config);
}

// UCX installs handlers for these as it is loaded. They are the host program's, unless the user asks for UCX's. Once a
// process: UCX warns of a signal that it has given back already.
void give_signals_back() {
  if (std::getenv("UCX_HANDLE_ERRORS") != nullptr) return;
  static std::once_flag given_back;
  std::call_once(given_back, [] {
    for (int signal : {SIGILL, SIGSEGV, SIGBUS, SIGFPE}) ucs_debug_disable_signal(signal);
  });
}

}  // namespace

struct UcxTransport::Impl {
  struct Peer {
    Impl* impl = nullptr;
    Rank rank = no_rank;
    std::vector<std::byte> address;
    ucp_ep_h endpoint = nullptr;
    bool failed = false;
  };
  // What UCX needs until a send is complete.
  struct Request {
    Impl* impl = nullptr;
    SendCompletion* completion = nullptr;
    std::array<std::byte, max_header_bytes> header;
  };

  Log log;
  TransportHandler* handler = nullptr;
  // The worker's last callbacks, when it is destroyed, use these.
  std::vector<std::unique_ptr<Peer>> peers;  // by rank
  std::vector<std::unique_ptr<Request>> requests;
  std::vector<Request*> free_requests;
  ucx::Context context;
  ucx::Worker worker;
  ucx::Address own_address;
  std::unordered_map<ucp_ep_h, Rank> ranks;  // of the endpoints that are open
  int descriptor = -1;
  std::vector<ucp_ep_h> broken;           // to be closed outside the callback that said so
  std::vector<ucs_status_ptr_t> closing;  // closes under way
  bool closed = false;

  Status create_context();
  Status create_worker();
  Status listen();
  Status open(Peer& peer);
  Request* take_request();
  void close_broken() noexcept;

  Rank source_of(const ucp_am_recv_param_t& parameters) const noexcept;

  static ucs_status_t on_message(void* self, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* parameters) noexcept;
  static void on_sent(void* ucx_request, ucs_status_t status, void* request) noexcept;
  static void on_error(void* peer, ucp_ep_h endpoint, ucs_status_t status) noexcept;
};

Status UcxTransport::Impl::create_context() {
  const ucx::Config config = read_settings();
  if (!config) return {Code::transport, "UCX cannot read its settings"};
  ucp_params_t parameters{};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME;
  parameters.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  parameters.name = "hps";
  ucp_context_h made = nullptr;
  if (const ucs_status_t status = ucp_init(&parameters, config.get(), &made); status != UCS_OK)
    return error("ucp_init", status);
  context.reset(made);
  give_signals_back();
  return {};
}

Status UcxTransport::Impl::create_worker() {
  ucp_worker_params_t parameters{};
  parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
  parameters.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  parameters.am_alignment = 64;
  ucp_worker_h made = nullptr;
  if (const ucs_status_t status = ucp_worker_create(context.get(), &parameters, &made); status != UCS_OK)
    return error("ucp_worker_create", status);
  worker.reset(made);
  if (const ucs_status_t status = ucp_worker_get_efd(made, &descriptor); status != UCS_OK)
    return error("ucp_worker_get_efd", status);
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  if (const ucs_status_t status = ucp_worker_get_address(made, &address, &bytes); status != UCS_OK)
    return error("ucp_worker_get_address", status);
  own_address = ucx::Address(made, address, bytes);
  return {};
}

Status UcxTransport::Impl::listen() {
  ucp_am_handler_param_t parameters{};
  parameters.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                          UCP_AM_HANDLER_PARAM_FIELD_ARG | UCP_AM_HANDLER_PARAM_FIELD_FLAGS;
  parameters.id = message_id;
  parameters.flags = UCP_AM_FLAG_WHOLE_MSG;
  parameters.cb = on_message;
  parameters.arg = this;
  const ucs_status_t status = ucp_worker_set_am_recv_handler(worker.get(), &parameters);
  return status == UCS_OK ? Status() : error("ucp_worker_set_am_recv_handler", status);
}

Status UcxTransport::Impl::open(Peer& peer) {
  ucp_ep_params_t parameters{};
  parameters.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  parameters.address = reinterpret_cast<const ucp_address_t*>(peer.address.data());
  parameters.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  parameters.err_handler.cb = on_error;
  parameters.err_handler.arg = &peer;
  const ucs_status_t status = ucp_ep_create(worker.get(), &parameters, &peer.endpoint);
  if (status == UCS_OK) {
    ranks[peer.endpoint] = peer.rank;
    return {};
  }
  peer.endpoint = nullptr;
  return {Code::peer_failed, std::string("cannot connect: ") + ucs_status_string(status), peer.rank};
}

UcxTransport::Impl::Request* UcxTransport::Impl::take_request() {
  if (free_requests.empty()) {
    requests.push_back(std::make_unique<Request>());
    requests.back()->impl = this;
    free_requests.reserve(requests.size());
    return requests.back().get();
  }
  Request* request = free_requests.back();
  free_requests.pop_back();
  return request;
}

// An endpoint that this process has not opened, or has closed, says nothing.
Rank UcxTransport::Impl::source_of(const ucp_am_recv_param_t& parameters) const noexcept {
  if (!(parameters.recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP)) return no_rank;
  const auto known = ranks.find(parameters.reply_ep);
  return known == ranks.end() ? no_rank : known->second;
}

ucs_status_t UcxTransport::Impl::on_message(void* self, const void* header, std::size_t header_bytes, void* data,
                                            std::size_t bytes, const ucp_am_recv_param_t* parameters) noexcept {
  // A rendezvous announces data without bringing it. We never send one; a message that says so is not ours.
  if (parameters->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) return UCS_OK;
  auto* impl = static_cast<Impl*>(self);
  impl->handler->on_message(impl->source_of(*parameters), {static_cast<const std::byte*>(header), header_bytes},
                            {static_cast<const std::byte*>(data), bytes});
  return UCS_OK;
}

void UcxTransport::Impl::on_sent(void* ucx_request, ucs_status_t status, void* user) noexcept {
  auto* request = static_cast<Request*>(user);
  ucp_request_free(ucx_request);
  SendCompletion* completion = std::exchange(request->completion, nullptr);
  request->impl->free_requests.push_back(request);
  if (completion != nullptr) completion->on_sent(status == UCS_OK ? Status() : error("send", status));
}

void UcxTransport::Impl::on_error(void* user, ucp_ep_h endpoint, ucs_status_t status) noexcept {
  auto* peer = static_cast<Peer*>(user);
  if (peer->failed) return;
  peer->failed = true;
  peer->endpoint = nullptr;
  peer->impl->ranks.erase(endpoint);  // its place may be another's next
  peer->impl->broken.push_back(endpoint);
  peer->impl->handler->on_peer_failed(peer->rank, error("UCX", status));
}

// Closes what has failed or is to be closed; whatever was being sent is cancelled.
void UcxTransport::Impl::close_broken() noexcept {
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  parameters.flags = UCP_EP_CLOSE_FLAG_FORCE;
  for (ucp_ep_h endpoint : std::exchange(broken, {})) {
    const ucs_status_ptr_t request = ucp_ep_close_nbx(endpoint, &parameters);
    if (UCS_PTR_IS_PTR(request)) closing.push_back(request);
  }
  std::erase_if(closing, [](ucs_status_ptr_t request) {
    if (ucp_request_check_status(request) == UCS_INPROGRESS) return false;
    ucp_request_free(request);
    return true;
  });
}

UcxTransport::UcxTransport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

UcxTransport::~UcxTransport() { close(); }

Status UcxTransport::create(const Log& log, std::unique_ptr<UcxTransport>* transport) {
  auto impl = std::make_unique<Impl>();
  impl->log = log;
  HPS_RETURN_IF_ERROR(impl->create_context());
  HPS_RETURN_IF_ERROR(impl->create_worker());
  HPS_RETURN_IF_ERROR(impl->listen());
  transport->reset(new UcxTransport(std::move(impl)));
  return {};
}

ConstBytes UcxTransport::address() const noexcept {
  return {static_cast<const std::byte*>(impl_->own_address.data()), impl_->own_address.bytes()};
}

void UcxTransport::add_peer(Rank rank, ConstBytes address) {
  const auto at = static_cast<std::size_t>(rank);
  if (at >= impl_->peers.size()) impl_->peers.resize(at + 1);
  if (impl_->peers[at]) return;
  auto peer = std::make_unique<Impl::Peer>();
  peer->impl = impl_.get();
  peer->rank = rank;
  peer->address.assign(address.begin(), address.end());
  impl_->peers[at] = std::move(peer);
}

void UcxTransport::set_handler(TransportHandler& handler) noexcept { impl_->handler = &handler; }

std::size_t UcxTransport::max_chunk_bytes() const noexcept { return one_piece_bytes; }

Status UcxTransport::send(Rank rank, ConstBytes header, ConstBytes payload, SendCompletion* completion) {
  const auto at = static_cast<std::size_t>(rank);
  if (at >= impl_->peers.size() || !impl_->peers[at]) return {Code::internal, "a rank without an address", rank};
  if (header.size() > max_header_bytes) return {Code::internal, "a header that is too long", rank};
  Impl::Peer& peer = *impl_->peers[at];
  if (peer.failed) return {Code::peer_failed, "the connection is broken", rank};
  if (peer.endpoint == nullptr) HPS_RETURN_IF_ERROR(impl_->open(peer));
  Impl::Request* request = impl_->take_request();
  std::memcpy(request->header.data(), header.data(), header.size());
  request->completion = completion;
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  parameters.flags = send_flags;
  parameters.cb.send = Impl::on_sent;
  parameters.user_data = request;
  const ucs_status_ptr_t sent = ucp_am_send_nbx(peer.endpoint, message_id, request->header.data(), header.size(),
                                                payload.data(), payload.size(), &parameters);
  if (UCS_PTR_IS_PTR(sent)) return {};
  impl_->free_requests.push_back(request);
  if (UCS_PTR_IS_ERR(sent))
    return {Code::peer_failed, std::string("cannot send: ") + ucs_status_string(UCS_PTR_STATUS(sent)), rank};
  if (completion != nullptr) completion->on_sent({});
  return {};
}

bool UcxTransport::progress() noexcept {
  const bool moved = ucp_worker_progress(impl_->worker.get()) != 0;
  if (!impl_->broken.empty() || !impl_->closing.empty()) impl_->close_broken();
  return moved;
}

bool UcxTransport::arm() noexcept { return ucp_worker_arm(impl_->worker.get()) == UCS_OK; }

int UcxTransport::event_descriptor() const noexcept { return impl_->descriptor; }

// Only once: after it the handler may be gone, and messages still come.
void UcxTransport::close() noexcept {
  if (std::exchange(impl_->closed, true)) return;
  for (auto& peer : impl_->peers) {
    if (!peer) continue;
    if (peer->endpoint != nullptr) impl_->broken.push_back(std::exchange(peer->endpoint, nullptr));
    peer->failed = true;
  }
  do {
    ucp_worker_progress(impl_->worker.get());
    impl_->close_broken();
  } while (!impl_->closing.empty());
}

}  // namespace hps
