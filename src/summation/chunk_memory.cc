// SPDX-License-Identifier: BSD-3-Clause
#include "summation/chunk_memory.h"

#include <new>
#include <utility>

namespace hps {
namespace {

std::size_t round_up(std::size_t bytes) { return (bytes + ChunkBuffer::alignment - 1) & ~(ChunkBuffer::alignment - 1); }

}  // namespace

void ChunkBuffer::drop_reference() noexcept {
  // The list has room for every buffer (take() sees to it), so this allocates nothing.
  if (--references_ != 0) return;
  if (trace_ != nullptr) note_end();
  pool_.free_.push_back(this);
}

void ChunkBuffer::note_end() noexcept {
  span_.end_ns = trace_->now();
  std::exchange(trace_, nullptr)->add(span_);
}

BufferPool::BufferPool(std::size_t bytes) noexcept : bytes_(round_up(bytes)) {}

ChunkBuffer* BufferPool::take() noexcept try {
  if (free_.empty()) {
    ChunkBuffer::Memory memory(static_cast<std::byte*>(std::aligned_alloc(ChunkBuffer::alignment, bytes_)));
    if (memory == nullptr) return nullptr;
    std::unique_ptr<ChunkBuffer> buffer(new ChunkBuffer(*this, std::move(memory)));
    free_.reserve(all_.size() + 1);
    all_.push_back(std::move(buffer));
    free_.push_back(all_.back().get());
  }
  ChunkBuffer* buffer = free_.back();
  free_.pop_back();
  buffer->references_ = 1;
  return buffer;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void BufferPool::trim() noexcept {
  std::erase_if(all_, [](const auto& buffer) { return buffer->references_ == 0; });
  free_.clear();
}

}  // namespace hps
