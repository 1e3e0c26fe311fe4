// SPDX-License-Identifier: BSD-3-Clause
// HandleTable: small numbers that stand for objects in messages. A freed number is not given out again until its place
// has been used 4,095 times more, so that a message that comes late finds nothing rather than a stranger.
#ifndef HPS_SRC_UTIL_HANDLE_TABLE_H
#define HPS_SRC_UTIL_HANDLE_TABLE_H

#include <cstdint>
#include <utility>
#include <vector>

namespace hps {

// Holds copies of T. Handles are never 0. Place in the low 20 bits, use count in the high 12.
template <class T>
class HandleTable {
 public:
  static constexpr std::uint32_t max_entries = 1u << 20;

  // 0 where the table is full.
  std::uint32_t add(T value) {
    std::uint32_t place;
    if (!free_.empty()) {
      place = free_.back();
      free_.pop_back();
    } else {
      if (entries_.size() == max_entries) return 0;
      place = static_cast<std::uint32_t>(entries_.size());
      entries_.emplace_back();
    }
    entries_[place].used = true;
    entries_[place].value = std::move(value);
    return entries_[place].use << 20 | place;
  }

  // nullptr where the handle stands for nothing (any more). Valid until the next add or remove.
  T* find(std::uint32_t handle) noexcept {
    const std::uint32_t place = handle & (max_entries - 1);
    if (place >= entries_.size()) return nullptr;
    Entry& entry = entries_[place];
    return entry.used && entry.use == handle >> 20 ? &entry.value : nullptr;
  }

  // Whether it stands for something, or has: of its place's earlier uses, as far as numbers have not come again.
  bool was_given_out(std::uint32_t handle) const noexcept {
    const std::uint32_t place = handle & (max_entries - 1);
    if (place >= entries_.size()) return false;
    const Entry& entry = entries_[place];
    const std::uint32_t use = handle >> 20;
    return use != 0 && (use < entry.use || (use == entry.use && entry.used));
  }

  void remove(std::uint32_t handle) noexcept {
    if (find(handle) == nullptr) return;
    const std::uint32_t place = handle & (max_entries - 1);
    Entry& entry = entries_[place];
    entry.used = false;
    entry.value = T{};
    entry.use = entry.use == 4095 ? 1 : entry.use + 1;
    free_.push_back(place);
  }

 private:
  struct Entry {
    T value{};
    std::uint32_t use = 1;
    bool used = false;
  };
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
};

}  // namespace hps

#endif
