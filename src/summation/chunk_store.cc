// SPDX-License-Identifier: BSD-3-Clause
#include "summation/chunk_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hps {

ChunkStore::ChunkStore(std::uint32_t members, std::size_t chunk_bytes) : pool_(chunk_bytes), waiting_(members) {}

ChunkStore::Chunk& ChunkStore::at(std::uint32_t sequence, std::uint64_t chunk) {
  if (Chunk* known = find(sequence, chunk)) return *known;
  auto made = std::make_unique<Chunk>();
  made->inputs.resize(waiting_.size());
  return *chunks_.emplace(key(sequence, chunk), std::move(made)).first->second;
}

ChunkStore::Chunk* ChunkStore::find(std::uint32_t sequence, std::uint64_t chunk) noexcept {
  const auto found = chunks_.find(key(sequence, chunk));
  return found == chunks_.end() ? nullptr : found->second.get();
}

bool ChunkStore::put(Chunk& chunk, std::uint32_t member, ConstBytes payload) noexcept {
  ChunkBuffer* slot = pool_.take();
  if (slot == nullptr) return false;
  std::memcpy(slot->data(), payload.data(), payload.size());
  chunk.inputs[member] = slot;
  ++chunk.arrived;
  ++waiting_[member];
  ++stored_;
  return true;
}

std::vector<std::uint64_t> ChunkStore::chunks_with(std::uint32_t sequence, std::uint32_t arrived) const {
  std::vector<std::uint64_t> found;
  for (const auto& [id, chunk] : chunks_) {
    if (id >> 32 == sequence && chunk->arrived == arrived) found.push_back(id & UINT32_MAX);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void ChunkStore::clear(Chunk& chunk) noexcept {
  for (std::size_t member = 0; member < chunk.inputs.size(); ++member) {
    if (chunk.inputs[member] == nullptr) continue;
    chunk.inputs[member]->drop_reference();
    chunk.inputs[member] = nullptr;
    --waiting_[member];
    --stored_;
  }
}

void ChunkStore::drop(std::uint32_t sequence, std::uint64_t chunk) noexcept {
  const auto found = chunks_.find(key(sequence, chunk));
  if (found == chunks_.end()) return;
  clear(*found->second);
  chunks_.erase(found);
}

void ChunkStore::drop_call(std::uint32_t sequence) noexcept {
  std::erase_if(chunks_, [&](auto& entry) {
    if (entry.first >> 32 != sequence) return false;
    clear(*entry.second);
    return true;
  });
}

void ChunkStore::drop_all() noexcept {
  for (auto& [id, chunk] : chunks_) clear(*chunk);
  chunks_.clear();
}

}  // namespace hps
