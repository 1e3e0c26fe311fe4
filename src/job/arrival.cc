// SPDX-License-Identifier: BSD-3-Clause
#include "job/arrival.h"

#include <chrono>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "job/mpi_calls.h"
#include "util/text.h"
#include "wire/abort.h"
#include "wire/codec.h"

namespace hps {
namespace {

constexpr int tag = 18512;  // "HP"; MPI promises 32767
constexpr int host = 0;

enum class Kind : std::uint8_t { up, noted, go, here, gave_up, verdict };

struct Letter {
  Kind kind = Kind::up;
  int source = 0;
  Status status;  // of up, gave_up and verdict
};

// The messages of one arrival on a communicator.
class Mail {
 public:
  Mail(MPI_Comm comm, std::uint32_t arrival) : comm_(comm), arrival_(arrival) {}

  Status send(int to, Kind kind, const Status& status = {}) { return send(to, to + 1, kind, status); }
  // To the ranks from `first` to `end`.
  Status send(int first, int end, Kind kind, const Status& status);
  // The next message that has come; *found tells whether there is one.
  Status receive(int source, Letter* letter, bool* found);
  // Waits until all has been sent.
  Status flush();

 private:
  bool read(const std::vector<std::byte>& bytes, Letter* letter) const;

  MPI_Comm comm_;
  std::uint32_t arrival_;
  std::deque<std::vector<std::byte>> sent_;
  std::vector<MPI_Request> requests_;
};

Status Mail::send(int first, int end, Kind kind, const Status& status) {
  wire::Writer out;
  out.put(kind);
  out.put(arrival_);
  std::vector<std::byte> bytes = out.take();
  const std::vector<std::byte> error = status.ok() ? std::vector<std::byte>() : wire::encode_abort(status);
  bytes.insert(bytes.end(), error.begin(), error.end());
  sent_.push_back(std::move(bytes));
  const std::vector<std::byte>& kept = sent_.back();
  for (int to = first; to < end; ++to) {
    requests_.push_back(MPI_REQUEST_NULL);
    HPS_RETURN_IF_ERROR(mpi_status("MPI_Isend", MPI_Isend(kept.data(), static_cast<int>(kept.size()), MPI_BYTE, to, tag,
                                                          comm_, &requests_.back())));
  }
  return {};
}

Status Mail::receive(int source, Letter* letter, bool* found) {
  while (true) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int length = 0;
    int matched = 0;
    *found = false;
    HPS_RETURN_IF_ERROR(mpi_status("MPI_Improbe", MPI_Improbe(source, tag, comm_, &matched, &message, &status)));
    if (!matched) return {};
    HPS_RETURN_IF_ERROR(mpi_status("MPI_Get_count", MPI_Get_count(&status, MPI_BYTE, &length)));
    std::vector<std::byte> bytes(static_cast<std::size_t>(length));
    HPS_RETURN_IF_ERROR(
        mpi_status("MPI_Mrecv", MPI_Mrecv(bytes.data(), length, MPI_BYTE, &message, MPI_STATUS_IGNORE)));
    letter->source = status.MPI_SOURCE;
    *found = read(bytes, letter);
    if (*found) return {};
  }
}

// False for one of an arrival that is over.
bool Mail::read(const std::vector<std::byte>& bytes, Letter* letter) const {
  wire::Reader in(bytes);
  letter->kind = in.get<Kind>();
  const auto arrival = in.get<std::uint32_t>();
  if (!in.ok() || arrival != arrival_) return false;
  letter->status = in.at_end() ? Status() : wire::decode_abort(in.rest());
  return true;
}

Status Mail::flush() {
  int complete = 0;
  for (Pause pause; true; pause.rest()) {
    HPS_RETURN_IF_ERROR(mpi_status("MPI_Testall", MPI_Testall(static_cast<int>(requests_.size()), requests_.data(),
                                                              &complete, MPI_STATUSES_IGNORE)));
    if (complete) return {};
  }
}

// The clock of a rank that waits.
class Vigil {
 public:
  explicit Vigil(const Patience& patience) : patience_(patience) {}

  bool is_warning_due() const { return !warned_ && is_past(patience_.warn_s); }
  void warn(const std::string& who_is_late) {
    warned_ = true;
    patience_.log.warn("HPS_Init has waited for " + std::to_string(patience_.warn_s) + " s; " + who_is_late +
                       "; it is collective: do all programs of the job call it?");
  }
  bool may_warn() const { return patience_.warn_s != 0; }
  // Leaves the warning to the host.
  void leave_warning() { warned_ = true; }
  bool gives_up() const { return is_past(patience_.give_up_s); }
  Status gave_up(Rank self) const {
    return {Code::peer_failed,
            "rank " + std::to_string(self) +
                " is CPU-only and gave up in HPS_Init: not all ranks had come to it after " +
                std::to_string(patience_.give_up_s) + " s (HPS_TIMEOUT)",
            self};
  }

 private:
  bool is_past(std::uint32_t seconds) const {
    return seconds != 0 && std::chrono::steady_clock::now() - begin_ >= std::chrono::seconds(seconds);
  }

  const Patience& patience_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool warned_ = false;
};

class Host {
 public:
  Host(Mail& mail, const Status& own, const Patience& patience, std::vector<Rank> names)
      : mail_(mail), vigil_(patience), names_(std::move(names)), has_come_(names_.size()), verdict_(own) {
    has_come_[host] = true;
    first_wrong_ = own.ok() ? size() : host;
  }

  Status meet() {
    HPS_RETURN_IF_ERROR(await(Kind::up));
    if (verdict_.ok()) {
      HPS_RETURN_IF_ERROR(mail_.send(1, size(), Kind::go, {}));
      HPS_RETURN_IF_ERROR(await(Kind::here));
    }
    HPS_RETURN_IF_ERROR(mail_.send(1, size(), Kind::verdict, verdict_));
    HPS_RETURN_IF_ERROR(mail_.flush());
    return verdict_;
  }

 private:
  int size() const { return static_cast<int>(names_.size()); }

  // Until every guest has sent a message of `kind`, or one has given up.
  Status await(Kind kind) {
    Letter letter;
    bool found = false;
    Pause pause;
    answers_ = 1;
    while (answers_ < size() && !is_decided_) {
      HPS_RETURN_IF_ERROR(mail_.receive(MPI_ANY_SOURCE, &letter, &found));
      if (found) {
        HPS_RETURN_IF_ERROR(take(letter));
        continue;
      }
      if (kind == Kind::up) look_at_the_clock();
      pause.rest();
    }
    return {};
  }

  Status take(const Letter& letter) {
    ++answers_;
    if (letter.kind == Kind::gave_up) decide(letter.status);
    if (letter.kind != Kind::up) return {};
    has_come_[static_cast<std::size_t>(letter.source)] = true;
    if (!letter.status.ok() && letter.source < first_wrong_) {
      first_wrong_ = letter.source;
      verdict_ = letter.status;
    }
    return vigil_.may_warn() ? mail_.send(letter.source, Kind::noted) : Status();
  }

  void look_at_the_clock() {
    if (vigil_.is_warning_due()) vigil_.warn("not there yet: " + list_ranks(late()));
    if (vigil_.gives_up()) decide(vigil_.gave_up(names_[host]));
  }

  void decide(const Status& verdict) {
    is_decided_ = true;
    verdict_ = verdict;
  }

  std::vector<Rank> late() const {
    std::vector<Rank> ranks;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!has_come_[i]) ranks.push_back(names_[i]);
    }
    return ranks;
  }

  Mail& mail_;
  Vigil vigil_;
  std::vector<Rank> names_;  // world ranks
  std::vector<bool> has_come_;
  Status verdict_;
  int first_wrong_ = 0;  // the rank whose error it is
  int answers_ = 0;      // to what the host waits for, with its own
  bool is_decided_ = false;
};

class Guest {
 public:
  Guest(Mail& mail, const Patience& patience, Rank self) : mail_(mail), vigil_(patience), self_(self) {}

  Status meet(const Status& own) {
    HPS_RETURN_IF_ERROR(mail_.send(host, Kind::up, own));
    while (state_ != State::ended) {
      Letter letter;
      bool found = false;
      HPS_RETURN_IF_ERROR(mail_.receive(host, &letter, &found));
      if (found)
        HPS_RETURN_IF_ERROR(take(letter));
      else
        HPS_RETURN_IF_ERROR(idle());
    }
    HPS_RETURN_IF_ERROR(mail_.flush());
    return verdict_;
  }

 private:
  enum class State { waiting, asked, ended };

  Status take(const Letter& letter) {
    if (letter.kind == Kind::noted) vigil_.leave_warning();
    if (letter.kind == Kind::verdict) end(letter.status);
    if (letter.kind != Kind::go) return {};
    state_ = State::asked;
    return mail_.send(host, Kind::here);
  }

  Status idle() {
    pause_.rest();
    if (state_ != State::waiting) return {};
    if (vigil_.is_warning_due()) vigil_.warn("other ranks are not there yet");
    if (!vigil_.gives_up()) return {};
    end(vigil_.gave_up(self_));
    return mail_.send(host, Kind::gave_up, verdict_);
  }

  void end(const Status& verdict) {
    state_ = State::ended;
    verdict_ = verdict;
  }

  Mail& mail_;
  Vigil vigil_;
  Rank self_;
  Pause pause_;
  State state_ = State::waiting;
  Status verdict_;
};

}  // namespace

Status Arrival::count(MPI_Comm comm, std::uint32_t* number) {
  if (key_ == MPI_KEYVAL_INVALID)
    HPS_RETURN_IF_ERROR(
        mpi_status("MPI_Comm_create_keyval",
                   MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key_, nullptr)));
  void* value = nullptr;
  int found = 0;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_get_attr", MPI_Comm_get_attr(comm, key_, &value, &found)));
  const std::uintptr_t next = found ? reinterpret_cast<std::uintptr_t>(value) + 1 : 1;
  *number = static_cast<std::uint32_t>(next);
  return mpi_status("MPI_Comm_set_attr", MPI_Comm_set_attr(comm, key_, reinterpret_cast<void*>(next)));
}

Status Arrival::meet(MPI_Comm comm, const Status& own, const Patience& patience) {
  int rank = 0;
  std::vector<int> names;
  std::uint32_t number = 0;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_rank", MPI_Comm_rank(comm, &rank)));
  HPS_RETURN_IF_ERROR(world_ranks(comm, &names));
  HPS_RETURN_IF_ERROR(count(comm, &number));
  Mail mail(comm, number);
  const Status named = with_own_rank(own);
  if (rank == host) return Host(mail, named, patience, std::move(names)).meet();
  return Guest(mail, patience, names[static_cast<std::size_t>(rank)]).meet(named);
}

}  // namespace hps
