// SPDX-License-Identifier: BSD-3-Clause
// IntrusiveFifo: a queue of objects that carry the link themselves (T::next), so that queueing a message costs no
// allocation. An object stands in at most one queue at a time; the queue owns nothing.
#ifndef HPS_SRC_TRANSPORT_FAKE_INTRUSIVE_FIFO_H
#define HPS_SRC_TRANSPORT_FAKE_INTRUSIVE_FIFO_H

namespace hps::fake {

template <class T>
class IntrusiveFifo {
 public:
  bool empty() const noexcept { return head_ == nullptr; }
  T* front() const noexcept { return head_; }

  void push(T& item) noexcept {
    item.next = nullptr;
    if (head_ == nullptr) {
      head_ = &item;
    } else {
      tail_->next = &item;
    }
    tail_ = &item;
  }

  // The oldest item, taken off; nullptr where there is none.
  T* pop() noexcept {
    T* const item = head_;
    if (item != nullptr) head_ = item->next;
    return item;
  }

 private:
  T* head_ = nullptr;
  T* tail_ = nullptr;  // meaningful only while head_ is set
};

}  // namespace hps::fake

#endif
