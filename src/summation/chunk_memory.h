// SPDX-License-Identifier: BSD-3-Clause
// The memory of the Summation Service: one budget over all groups, and a pool of equal chunk buffers a group.
#ifndef HPS_SRC_SUMMATION_CHUNK_MEMORY_H
#define HPS_SRC_SUMMATION_CHUNK_MEMORY_H

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "transport/transport.h"
#include "util/trace.h"
#include "util/types.h"

namespace hps {

// What HPS_SERVE_MEMORY allows. Groups reserve before they grant credits, so that what is held never exceeds the limit.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t limit_bytes) noexcept : limit_(limit_bytes) {}
  std::uint64_t limit() const noexcept { return limit_; }
  std::uint64_t reserved() const noexcept { return reserved_; }
  std::uint64_t available() const noexcept { return limit_ - reserved_; }
  bool reserve(std::uint64_t bytes) noexcept {
    if (bytes > available()) return false;
    reserved_ += bytes;
    return true;
  }
  void release(std::uint64_t bytes) noexcept { reserved_ -= bytes; }

 private:
  std::uint64_t limit_;
  std::uint64_t reserved_ = 0;
};

class BufferPool;

// Holds one chunk: a contribution that waits for the others, or a result while it is being sent. It goes back to its
// pool when the last reference is dropped; a send holds one.
class ChunkBuffer final : public SendCompletion {
 public:
  static constexpr std::size_t alignment = 64;

  std::byte* data() noexcept { return memory_.get(); }
  void add_reference() noexcept { ++references_; }
  void drop_reference() noexcept;
  void on_sent(const Status&) noexcept override { drop_reference(); }
  // `span` ends, and is noted, when the last reference is dropped.
  void note_end_of(const TraceSpan& span, Trace& trace) noexcept {
    span_ = span;
    trace_ = &trace;
  }

 private:
  friend class BufferPool;
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  using Memory = std::unique_ptr<std::byte, Free>;
  ChunkBuffer(BufferPool& pool, Memory memory) noexcept : pool_(pool), memory_(std::move(memory)) {}
  void note_end() noexcept;

  BufferPool& pool_;
  Memory memory_;
  std::uint32_t references_ = 0;
  Trace* trace_ = nullptr;
  TraceSpan span_;
};

// Buffers of `bytes` bytes each, allocated as they are first needed and kept for reuse until the pool ends.
class BufferPool {
 public:
  explicit BufferPool(std::size_t bytes) noexcept;
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  std::size_t bytes() const noexcept { return bytes_; }
  // One buffer with one reference; nullptr where the system has no memory.
  ChunkBuffer* take() noexcept;
  // Frees the buffers that nobody holds.
  void trim() noexcept;
  // Buffers that somebody holds. The pool must outlive them.
  std::size_t in_use() const noexcept { return all_.size() - free_.size(); }

 private:
  friend class ChunkBuffer;
  std::size_t bytes_;
  std::vector<std::unique_ptr<ChunkBuffer>> all_;
  std::vector<ChunkBuffer*> free_;
};

}  // namespace hps

#endif
