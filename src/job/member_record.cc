// SPDX-License-Identifier: BSD-3-Clause
#include "job/member_record.h"

#include "job/mpi_calls.h"
#include "wire/group_spec.h"

namespace hps {

MemberRecord own_record(Runtime& runtime) {
  MemberRecord record;
  record.rank = runtime.self();
  record.role = runtime.config().role;
  record.wire_version = wire::version;
  record.token = runtime.token();
  record.address_bytes = static_cast<std::uint32_t>(runtime.transport().address().size());
  record.rate = runtime.config().link_rate;
  record.serve_memory = runtime.config().serve_memory;
  return record;
}

Status find_node(const Runtime& runtime, MPI_Comm comm, NodeId* node) {
  MPI_Comm shared = MPI_COMM_NULL;
  HPS_RETURN_IF_ERROR(
      mpi_status("MPI_Comm_split_type", MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared)));
  int lowest = runtime.self();
  const Status status = mpi_status("MPI_Allreduce", MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, shared));
  MPI_Comm_free(&shared);
  HPS_RETURN_IF_ERROR(status);
  const std::string& name = runtime.config().node;
  const auto bytes = std::as_bytes(std::span(name.data(), name.size()));
  *node = name.empty() ? static_cast<NodeId>(lowest) : wire::hash(bytes) | NodeId{1} << 63;
  return {};
}

Status gather_records(Runtime& runtime, MPI_Comm comm, const MemberRecord& own, std::vector<MemberRecord>* all) {
  int size = 0;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_size", MPI_Comm_size(comm, &size)));
  std::vector<MemberRecord> records(static_cast<std::size_t>(size));
  MPI_Request request = MPI_REQUEST_NULL;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Iallgather", MPI_Iallgather(&own, sizeof own, MPI_BYTE, records.data(),
                                                                  sizeof own, MPI_BYTE, comm, &request)));
  HPS_RETURN_IF_ERROR(runtime.wait_request(&request));
  *all = std::move(records);
  return {};
}

Status exchange_addresses(Runtime& runtime, MPI_Comm comm, const std::vector<MemberRecord>& records) {
  std::vector<int> lengths;
  std::vector<int> places;
  int total = 0;
  for (const MemberRecord& record : records) {
    lengths.push_back(static_cast<int>(record.address_bytes));
    places.push_back(total);
    total += lengths.back();
  }
  std::vector<std::byte> all(static_cast<std::size_t>(total));
  const ConstBytes own = runtime.transport().address();
  MPI_Request request = MPI_REQUEST_NULL;
  HPS_RETURN_IF_ERROR(
      mpi_status("MPI_Iallgatherv", MPI_Iallgatherv(own.data(), static_cast<int>(own.size()), MPI_BYTE, all.data(),
                                                    lengths.data(), places.data(), MPI_BYTE, comm, &request)));
  HPS_RETURN_IF_ERROR(runtime.wait_request(&request));
  const Driver::Lock lock = runtime.driver().lock();
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].rank == runtime.self()) continue;
    const std::span<const std::byte> address(all.data() + places[i], records[i].address_bytes);
    runtime.transport().add_peer(records[i].rank, address);
    runtime.engine().add_peer(records[i].rank, records[i].token);
  }
  return {};
}

}  // namespace hps
