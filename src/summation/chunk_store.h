// SPDX-License-Identifier: BSD-3-Clause
// ChunkStore: the contributions to a group's chunks that wait at an owner for the others, and the memory for them and
// for results. Contributions lie in slots of a pool of the group's own; each member has a limit of how many may wait
// (its credits), so that what the store takes is known beforehand.
#ifndef HPS_SRC_SUMMATION_CHUNK_STORE_H
#define HPS_SRC_SUMMATION_CHUNK_STORE_H

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "summation/chunk_memory.h"

namespace hps {

class ChunkStore {
 public:
  struct Chunk {
    std::vector<ChunkBuffer*> inputs;  // by member; nullptr where none waits
    std::uint32_t arrived = 0;
  };

  ChunkStore(std::uint32_t members, std::size_t chunk_bytes);

  std::size_t chunk_bytes() const noexcept { return pool_.bytes(); }

  // What waits for a chunk; made where nothing does yet. Valid until it is dropped.
  Chunk& at(std::uint32_t sequence, std::uint64_t chunk);
  // nullptr where nothing waits.
  Chunk* find(std::uint32_t sequence, std::uint64_t chunk) noexcept;
  // Copies a contribution of at most chunk_bytes() in. False where the system has no memory.
  bool put(Chunk& chunk, std::uint32_t member, ConstBytes payload) noexcept;
  // The call's chunks with so many contributions, ascending.
  std::vector<std::uint64_t> chunks_with(std::uint32_t sequence, std::uint32_t arrived) const;
  // Contributions of a member that wait.
  std::uint32_t waiting(std::uint32_t member) const noexcept { return waiting_[member]; }

  void drop(std::uint32_t sequence, std::uint64_t chunk) noexcept;
  void drop_call(std::uint32_t sequence) noexcept;
  void drop_all() noexcept;

  // A buffer for a result, with one reference; nullptr where the system has no memory.
  ChunkBuffer* take_result() noexcept { return pool_.take(); }
  // Whether results are still being sent.
  bool sending() const noexcept { return pool_.in_use() != stored_; }
  bool empty() const noexcept { return pool_.in_use() == 0; }
  // Gives the memory that nobody uses back to the system.
  void trim() noexcept { pool_.trim(); }

 private:
  static std::uint64_t key(std::uint32_t sequence, std::uint64_t chunk) noexcept {
    return static_cast<std::uint64_t>(sequence) << 32 | chunk;
  }
  void clear(Chunk& chunk) noexcept;

  BufferPool pool_;
  std::vector<std::uint32_t> waiting_;  // by member
  std::size_t stored_ = 0;              // buffers that hold contributions, not results
  std::unordered_map<std::uint64_t, std::unique_ptr<Chunk>> chunks_;
};

}  // namespace hps

#endif
