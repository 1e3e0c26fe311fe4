// SPDX-License-Identifier: BSD-3-Clause
// What HPS_Allreduce_hetero and the other functions on a communicator do with bad input: the error's class and text,
// the error handler that is called, that nothing is written, that no other rank hangs, and that the next right call
// works.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness.h"
#include "hps.h"
#include "jobs.h"
#include "oracle.h"

namespace hps::test {
namespace {

// What the error handler of the tests was last called with.
MPI_Comm handled_comm = MPI_COMM_NULL;
int handled_code = MPI_SUCCESS;
int handled = 0;

void note_error(MPI_Comm* comm, int* code, ...) {
  handled_comm = *comm;
  handled_code = *code;
  ++handled;
}

// Has MPI call note_error for a communicator, while this lives.
class Handler {
 public:
  explicit Handler(MPI_Comm comm) : comm_(comm) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(comm, &before_);
    MPI_Comm_create_errhandler(note_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    handled = 0;
  }
  ~Handler() {
    MPI_Comm_set_errhandler(comm_, before_);
    MPI_Errhandler_free(&before_);
  }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

// The call must fail with this class, say `words`, and have called the handler of `comm` once.
void expect_error(MPI_Comm comm, int error, const std::string& words, const std::function<int()>& call) {
  const Handler handler(comm);
  const int code = call();
  HPS_EXPECT(error_class(code) == error, "class " + std::to_string(error_class(code)) + " instead of " +
                                             std::to_string(error) + ": " + error_text(code));
  HPS_EXPECT(error_text(code).find(words) != std::string::npos, "'" + error_text(code) + "' lacks '" + words + "'");
  HPS_EXPECT(handled == 1, "the error handler was called " + std::to_string(handled) + " times");
  HPS_EXPECT(handled == 0 || (handled_comm == comm && handled_code == code),
             "the error handler was called with another communicator or code");
}

// What a rank passes. Buffers are those of the test unless replaced.
struct Call {
  const void* send;
  void* receive;
  int count;
  MPI_Datatype datatype;
  MPI_Op op;

  int make(MPI_Comm comm) const { return HPS_Allreduce_hetero(send, receive, count, datatype, op, comm); }
};

struct BadCall {
  const char* name;
  int error;
  const char* words;
  std::function<void(Call&)> spoil;
};

MPI_Datatype derived_type() {
  static MPI_Datatype type = MPI_DATATYPE_NULL;
  if (type == MPI_DATATYPE_NULL) {
    MPI_Type_contiguous(2, MPI_FLOAT, &type);
    MPI_Type_commit(&type);
  }
  return type;
}

MPI_Op user_op() {
  static MPI_Op op = MPI_OP_NULL;
  if (op == MPI_OP_NULL) MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &op);
  return op;
}

std::vector<BadCall> bad_calls() {
  constexpr int unsupported = MPI_ERR_UNSUPPORTED_OPERATION;
  return {
      {"no sendbuf", MPI_ERR_BUFFER, "sendbuf is NULL", [](Call& call) { call.send = nullptr; }},
      {"no recvbuf", MPI_ERR_BUFFER, "recvbuf is NULL", [](Call& call) { call.receive = nullptr; }},
      {"recvbuf in place", MPI_ERR_BUFFER, "MPI_IN_PLACE", [](Call& call) { call.receive = MPI_IN_PLACE; }},
      {"one buffer", MPI_ERR_BUFFER, "overlap", [](Call& call) { call.send = call.receive; }},
      {"overlap", MPI_ERR_BUFFER, "overlap",
       [](Call& call) { call.send = static_cast<const char*>(call.receive) + sizeof(int); }},
      {"negative count", MPI_ERR_COUNT, "-3", [](Call& call) { call.count = -3; }},
      {"no datatype", MPI_ERR_TYPE, "MPI_DATATYPE_NULL", [](Call& call) { call.datatype = MPI_DATATYPE_NULL; }},
      {"no op", MPI_ERR_OP, "MPI_OP_NULL", [](Call& call) { call.op = MPI_OP_NULL; }},
      {"MPI_BYTE", MPI_ERR_OP, "MPI_SUM is not defined on MPI_BYTE", [](Call& call) { call.datatype = MPI_BYTE; }},
      {"MPI_WCHAR", MPI_ERR_OP, "MPI_WCHAR", [](Call& call) { call.datatype = MPI_WCHAR; }},
      {"MPI_FLOAT_INT", MPI_ERR_OP, "FLOAT_INT", [](Call& call) { call.datatype = MPI_FLOAT_INT; }},
      {"derived type", unsupported, "supported", [](Call& call) { call.datatype = derived_type(); }},
      {"Fortran type", unsupported, "supported", [](Call& call) { call.datatype = MPI_INTEGER; }},
      {"MPI_MAXLOC", MPI_ERR_OP, "MPI_MAXLOC is not defined on MPI_INT", [](Call& call) { call.op = MPI_MAXLOC; }},
      {"MPI_REPLACE", MPI_ERR_OP, "MPI_REPLACE", [](Call& call) { call.op = MPI_REPLACE; }},
      {"own op", unsupported, "MPI_Op_create", [](Call& call) { call.op = user_op(); }},
  };
}

std::uint64_t seed = 0;  // of the next right call; every worker of a job makes the same calls

void check_right_call(MPI_Comm comm, int count) {
  check_allreduce<int>(comm, MPI_INT, "MPI_INT", {Op::sum, count, false, 0, ++seed});
}

// The ranks for which `is_bad` make the bad call, the others the right one, which must fail then, or be right. Nothing
// may be written anywhere.
void test_bad_call(MPI_Comm workers, const BadCall& bad, int count, const std::function<bool(int)>& is_bad) {
  int rank = 0;
  MPI_Comm_rank(workers, &rank);
  const Where where(std::string(bad.name) + (is_bad(rank) ? " here" : " elsewhere") + ", count " +
                    std::to_string(count));
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(int);
  GuardedBuffer send(bytes);
  GuardedBuffer receive(bytes + sizeof(int));
  Call call{send.data(), receive.data(), count, MPI_INT, MPI_SUM};
  if (is_bad(rank)) {
    bad.spoil(call);
    expect_error(workers, bad.error, bad.words, [&] { return call.make(workers); });
  } else {
    expect_error(workers, bad.error, "could not take part", [&] { return call.make(workers); });
  }
  HPS_EXPECT(receive.untouched() && receive.guards_intact(), "recvbuf was written to");
  HPS_EXPECT(send.untouched() && send.guards_intact(), "sendbuf was written to");
}

void test_bad_calls(MPI_Comm workers) {
  int size = 0;
  MPI_Comm_size(workers, &size);
  int number = 0;
  for (const BadCall& bad : bad_calls()) {
    const int count = ++number % 2 == 0 ? 30 : 70001;
    test_bad_call(workers, bad, count, [](int) { return true; });
    test_bad_call(workers, bad, count, [&](int rank) { return rank == number % size; });
    check_right_call(workers, count);
  }
}

// Every pair that MPI does not define is refused, and no other.
void test_undefined_operations(MPI_Comm workers) {
  for_each_type([&]<class T>(const NamedType& type) {
    for (Op op : reference::all_ops) {
      const Where where(std::string(op_name(op)) + " on " + type.name);
      T send = {};
      GuardedBuffer receive(sizeof(T));
      const auto call = [&] { return HPS_Allreduce_hetero(&send, receive.data(), 1, type.mpi, mpi_op(op), workers); };
      if (type.supports(op)) {
        HPS_EXPECT_OK(call());
      } else {
        expect_error(workers, MPI_ERR_OP, "is not defined on", call);
        HPS_EXPECT(receive.untouched(), "recvbuf was written to");
      }
    }
  });
}

// A communicator whose first call fails is set up all the same.
void test_first_call(MPI_Comm workers) {
  int size = 0;
  MPI_Comm_size(workers, &size);
  for (int count : {30, 70001}) {
    MPI_Comm copy = MPI_COMM_NULL;
    HPS_EXPECT_OK(MPI_Comm_dup(workers, &copy));
    test_bad_call(copy, bad_calls().front(), count, [&](int rank) { return rank == size - 1; });
    test_bad_call(copy, bad_calls().front(), 100031 - count, [&](int rank) { return rank == 0; });
    check_right_call(copy, count);
    HPS_EXPECT_OK(MPI_Comm_free(&copy));
  }
}

// NULL is right where there is nothing to read or write.
void test_nothing(MPI_Comm workers) {
  HPS_EXPECT_OK(HPS_Allreduce_hetero(nullptr, nullptr, 0, MPI_INT, MPI_SUM, workers));
  HPS_EXPECT_OK(HPS_Allreduce_hetero(MPI_IN_PLACE, nullptr, 0, MPI_INT, MPI_SUM, workers));
}

// Calls that differ between ranks and whose messages meet: an error on every rank, which names what differs.
void test_mismatches(MPI_Comm workers) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(workers, &rank);
  MPI_Comm_size(workers, &size);
  if (size == 1) return;
  for (int odd : {0, size - 1}) {
    for (int count : {40, 90001}) {
      const Where where("rank " + std::to_string(odd) + " differs from count " + std::to_string(count));
      std::vector<int> send(static_cast<std::size_t>(count) + 1, 1);
      for (const char* what : {"count", "datatype", "operation"}) {
        GuardedBuffer receive(send.size() * sizeof(int));
        Call call{send.data(), receive.data(), count, MPI_INT, MPI_SUM};
        if (rank == odd && what == std::string("count")) ++call.count;
        if (rank == odd && what == std::string("datatype")) call.datatype = MPI_FLOAT;
        if (rank == odd && what == std::string("operation")) call.op = MPI_MAX;
        expect_error(workers, MPI_ERR_OTHER, what, [&] { return call.make(workers); });
        HPS_EXPECT(receive.untouched() && receive.guards_intact(), "recvbuf was written to");
        check_right_call(workers, count);
      }
    }
  }
}

void test_plan(MPI_Comm workers) {
  const Where where("HPS_Comm_get_plan");
  HPS_Plan plan = {};
  double share = -1;
  const auto get = [&](MPI_Count bytes, HPS_Plan* told, int max_shares, double* shares) {
    return [=] { return HPS_Comm_get_plan(workers, bytes, told, max_shares, shares); };
  };
  expect_error(workers, MPI_ERR_ARG, "plan is NULL", get(0, nullptr, 0, nullptr));
  expect_error(workers, MPI_ERR_ARG, "-1", get(-1, &plan, 0, nullptr));
  expect_error(workers, MPI_ERR_ARG, "-2", get(0, &plan, -2, &share));
  expect_error(workers, MPI_ERR_ARG, "shares is NULL", get(0, &plan, 1, nullptr));
  HPS_EXPECT(plan.n == 0 && share == -1, "an error wrote to an output");
}

// These errors are local: no other rank need call.
void test_comms(MPI_Comm workers, int serving) {
  const Where where("communicators");
  int in = 1;
  int out = -1;
  HPS_Plan plan = {};
  const auto call = [&](MPI_Comm comm) { return Call{&in, &out, 1, MPI_INT, MPI_SUM}.make(comm); };
  expect_error(MPI_COMM_WORLD, MPI_ERR_COMM, "MPI_COMM_NULL", [&] { return call(MPI_COMM_NULL); });
  expect_error(MPI_COMM_WORLD, MPI_ERR_COMM, "MPI_COMM_NULL", [&] { return HPS_Comm_prepare(MPI_COMM_NULL); });
  expect_error(MPI_COMM_WORLD, MPI_ERR_COMM, "MPI_COMM_NULL",
               [&] { return HPS_Comm_get_plan(MPI_COMM_NULL, 0, &plan, 0, nullptr); });
  if (serving > 0) {
    expect_error(MPI_COMM_WORLD, MPI_ERR_COMM, "CPU-only", [&] { return call(MPI_COMM_WORLD); });
    expect_error(MPI_COMM_WORLD, MPI_ERR_COMM, "CPU-only", [&] { return HPS_Comm_prepare(MPI_COMM_WORLD); });
  }
  HPS_EXPECT(out == -1, "recvbuf was written to");
  check_right_call(workers, 20);
}

void test_intercomm(MPI_Comm workers) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(workers, &rank);
  MPI_Comm_size(workers, &size);
  if (size < 2) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Comm_split(workers, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, workers, 1 - rank % 2, 0, &both);
  int in = 1;
  int out = -1;
  expect_error(both, MPI_ERR_COMM, "intercommunicator",
               [&] { return HPS_Allreduce_hetero(&in, &out, 1, MPI_INT, MPI_SUM, both); });
  HPS_EXPECT(out == -1, "recvbuf was written to");
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

void test_workers(MPI_Comm workers, int serving) {
  seed = 0;
  test_nothing(workers);
  test_first_call(workers);
  test_bad_calls(workers);
  test_undefined_operations(workers);
  test_mismatches(workers);
  test_plan(workers);
  test_comms(workers, serving);
  test_intercomm(workers);
  expect_error(MPI_COMM_WORLD, MPI_ERR_OTHER, "worker rank", [] { return HPS_Serve(); });
}

void test_all() {
  for (int workers = 1; workers <= world_size(); ++workers) {
    const std::vector<Placement> all = placements(world_size(), workers);
    const int serving = world_size() - workers;
    run_job(all[static_cast<std::size_t>(workers) % all.size()], {},
            [&](MPI_Comm comm) { test_workers(comm, serving); });
  }
}

}  // namespace
}  // namespace hps::test

int main(int argc, char** argv) { return hps::test::run(&argc, &argv, MPI_THREAD_SINGLE, hps::test::test_all); }
