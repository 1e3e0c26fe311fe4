// SPDX-License-Identifier: BSD-3-Clause
// The life of a job: what HPS_Init refuses, with the error on every rank; HPS_Init again; what may be called before and
// after; and that MPI_Finalize ends a job that the program has not ended.
//
//     lifetime_test [forgotten | forgotten-serving | forgotten-by-some]
//
// With an argument HPS_Finalize is left to MPI_Finalize; CPU-only ranks call HPS_Serve or not even that. With the last
// one every second rank calls HPS_Finalize.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness.h"
#include "hps.h"
#include "jobs.h"
#include "oracle.h"

namespace hps::test {
namespace {

bool is_initialized() {
  int flag = -1;
  HPS_EXPECT_OK(HPS_Initialized(&flag));
  return flag == 1;
}

void expect_error(int code, int error, const std::string& words) {
  HPS_EXPECT(error_class(code) == error, "class " + std::to_string(error_class(code)) + " instead of " +
                                             std::to_string(error) + ": " + error_text(code));
  HPS_EXPECT(error_text(code).find(words) != std::string::npos, "'" + error_text(code) + "' lacks '" + words + "'");
}

// What `call` writes to standard error.
std::string logged(const std::function<void()>& call) {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) return {};
  const int saved = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  call();
  dup2(saved, STDERR_FILENO);
  close(saved);
  std::rewind(file);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

// Without MPI there is no error handler: the class is returned and the sentence is logged.
void expect_logged_error(const char* what, const std::function<int()>& call) {
  int code = MPI_SUCCESS;
  const std::string text = logged([&] { code = call(); });
  HPS_EXPECT(code == MPI_ERR_OTHER, std::string(what) + " gave " + std::to_string(code));
  HPS_EXPECT(text.find("before MPI_Init or after MPI_Finalize") != std::string::npos,
             std::string(what) + " logged '" + text + "'");
}

void test_without_mpi() {
  int major = -1;
  int minor = -1;
  int patch = -1;
  int role = -1;
  float in = 1;
  float out = -1;
  HPS_Plan plan = {};
  MPI_Comm workers = MPI_COMM_NULL;
  HPS_EXPECT(HPS_Get_version(&major, &minor, &patch) == MPI_SUCCESS && major == HPS_VERSION_MAJOR &&
                 minor == HPS_VERSION_MINOR && patch == HPS_VERSION_PATCH,
             "the library's version is not the header's");
  HPS_EXPECT(HPS_Get_version(nullptr, nullptr, nullptr) == MPI_SUCCESS, "HPS_Get_version wants pointers");
  HPS_EXPECT(!is_initialized(), "HPS is said to be initialised");
  HPS_EXPECT(HPS_Get_role(&role) == MPI_SUCCESS && role == HPS_WORKER, "the role is " + std::to_string(role));
  expect_logged_error("HPS_Init", [&] { return HPS_Init(MPI_COMM_WORLD, MPI_INFO_NULL, &workers); });
  expect_logged_error("HPS_Serve", [] { return HPS_Serve(); });
  expect_logged_error("HPS_Finalize", [] { return HPS_Finalize(); });
  expect_logged_error("HPS_Comm_prepare", [] { return HPS_Comm_prepare(MPI_COMM_WORLD); });
  expect_logged_error("HPS_Comm_get_plan", [&] { return HPS_Comm_get_plan(MPI_COMM_WORLD, 0, &plan, 0, nullptr); });
  expect_logged_error("HPS_Allreduce_hetero",
                      [&] { return HPS_Allreduce_hetero(&in, &out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
  expect_logged_error("HPS_Type_float16",
                      [] { return HPS_FLOAT16 == MPI_DATATYPE_NULL ? MPI_ERR_OTHER : MPI_SUCCESS; });
  expect_logged_error("HPS_Type_bfloat16",
                      [] { return HPS_BFLOAT16 == MPI_DATATYPE_NULL ? MPI_ERR_OTHER : MPI_SUCCESS; });
  HPS_EXPECT(out == -1, "recvbuf was written to");
}

void test_without_job() {
  const Where where("without a job");
  MPI_Comm workers = MPI_COMM_NULL;
  expect_error(HPS_Serve(), MPI_ERR_OTHER, "HPS_Init");
  expect_error(HPS_Finalize(), MPI_ERR_OTHER, "HPS_Init");
  expect_error(HPS_Initialized(nullptr), MPI_ERR_ARG, "flag is NULL");
  expect_error(HPS_Get_role(nullptr), MPI_ERR_ARG, "role is NULL");
  expect_error(HPS_Init(MPI_COMM_NULL, MPI_INFO_NULL, &workers), MPI_ERR_COMM, "MPI_COMM_NULL");
}

void test_intercomm() {
  if (world_size() < 2) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Comm workers = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world_rank() % 2, 0, &both);
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  expect_error(HPS_Init(both, MPI_INFO_NULL, &workers), MPI_ERR_COMM, "intercommunicator");
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

// HPS_Init with info keys that `bad` says are wrong on the last rank only, or on all: it fails on all.
struct BadInit {
  Settings bad;
  int error;
  const char* words;
  bool everywhere = false;
};

void test_bad_init(const BadInit& init) {
  const Where where("info key " + init.bad.front().first + "=" + init.bad.front().second);
  const bool here = init.everywhere || world_rank() == world_size() - 1;
  const Info info(here ? init.bad : Settings{});
  MPI_Comm workers = MPI_COMM_SELF;
  expect_error(HPS_Init(MPI_COMM_WORLD, info.get(), &workers), init.error, init.words);
  HPS_EXPECT(workers == MPI_COMM_SELF, "workers was written to");
  HPS_EXPECT(!is_initialized(), "HPS is said to be initialised after an error");
}

void test_info() {
  constexpr int wrong = MPI_ERR_INFO_VALUE;
  const BadInit all[] = {
      {{{"hps_no_such_thing", "1"}}, wrong, "hps_no_such_thing"},
      {{{"hps_role", "boss"}}, wrong, "boss"},
      {{{"hps_log", "loud"}}, wrong, "loud"},
      {{{"hps_link_rate", "fast"}}, wrong, "fast"},
      {{{"hps_chunk", "-1"}}, wrong, "HPS_CHUNK"},
      {{{"hps_chunk", "7"}}, wrong, "64 to 60K"},
      {{{"hps_threads", "0"}}, wrong, "1 or more"},
      {{{"hps_window", "many"}}, wrong, "many"},
      {{{"hps_algorithm", "ring"}}, wrong, "ring"},
      {{{"hps_serve_memory", "much"}}, wrong, "much"},
      {{{"hps_role", "cpu"}}, MPI_ERR_OTHER, "no worker", true},
  };
  for (const BadInit& init : all) test_bad_init(init);
}

// The same by environment variable, of one rank.
void test_variables() {
  const std::vector<std::pair<const char*, const char*>> all = {
      {"HPS_ROLE", "boss"}, {"HPS_LOG", "loud"},       {"HPS_LINK_RATE", "fast"},    {"HPS_CHUNK", "64Q"},
      {"HPS_WINDOW", "-1"}, {"HPS_ALGORITHM", "ring"}, {"HPS_SERVE_MEMORY", "much"},
  };
  for (const auto& [name, value] : all) {
    const Where where(std::string(name) + "=" + value);
    MPI_Comm workers = MPI_COMM_SELF;
    const bool here = world_rank() == 0;
    if (here) setenv(name, value, 1);
    const int code = HPS_Init(MPI_COMM_WORLD, MPI_INFO_NULL, &workers);
    expect_error(code, MPI_ERR_OTHER, std::string(name) + "=" + value);
    HPS_EXPECT(error_text(code).find("rank 0") != std::string::npos, error_text(code) + " names no rank");
    int role = -1;
    if (here) expect_error(HPS_Get_role(&role), MPI_ERR_OTHER, name);
    HPS_EXPECT(workers == MPI_COMM_SELF && role == -1 && !is_initialized(), "an error wrote to an output");
    if (here) unsetenv(name);
  }
}

void check_job(MPI_Comm workers) {
  check_allreduce<int>(workers, MPI_INT, "MPI_INT", {Op::sum, 10007, false, 0, 1});
  check_allreduce<int>(workers, MPI_INT, "MPI_INT", {Op::max, 3, false, 0, 2});
}

// Values that are found wrong only when a communicator is known. One rank has the wrong one, all get the error.
void test_bad_sizes() {
  if (world_size() == 1) return;  // nothing is shared out
  const struct {
    const char* key;
    const char* value;
    const char* words;
    int rank;
  } all[] = {{"hps_window", "4000000000", "HPS_WINDOW", 0},
             {"hps_serve_memory", "1K", "HPS_SERVE_MEMORY", world_size() - 1}};
  for (const auto& bad : all) {
    const Where where(std::string(bad.key) + "=" + bad.value);
    const Settings settings = world_rank() == bad.rank ? Settings{{bad.key, bad.value}} : Settings{};
    run_job(own_nodes(world_size(), world_size()), settings, [&](MPI_Comm workers) {
      MPI_Comm_set_errhandler(workers, MPI_ERRORS_RETURN);
      const std::vector<float> send(80021, 1);
      GuardedBuffer receive(send.size() * sizeof(float));
      const auto count = static_cast<int>(send.size());
      for (int call = 0; call < 2; ++call)
        expect_error(HPS_Allreduce_hetero(send.data(), receive.data(), count, MPI_FLOAT, MPI_SUM, workers),
                     MPI_ERR_OTHER, bad.words);
      expect_error(HPS_Comm_prepare(workers), MPI_ERR_OTHER, bad.words);
      HPS_EXPECT(receive.guards_intact(), "recvbuf's guards were written to");
      HPS_EXPECT(receive.untouched() || bad.rank != 0,
                 "recvbuf was written to");  // a plan is made before anything else
    });
  }
}

// A second HPS_Init is an error and leaves the job as it is; a job after a job is not.
void test_jobs() {
  for (int round = 0; round < 3; ++round) {
    const Where where("job " + std::to_string(round));
    HPS_EXPECT(!is_initialized(), "HPS is said to be initialised");
    run_job(own_nodes(world_size(), (world_size() + 1) / 2), {{"unknown", "is not ours"}}, [](MPI_Comm workers) {
      int role = -1;
      MPI_Comm second = MPI_COMM_SELF;
      HPS_EXPECT(is_initialized(), "HPS is said not to be initialised");
      HPS_EXPECT(HPS_Get_role(&role) == MPI_SUCCESS && role == HPS_WORKER, "the role is " + std::to_string(role));
      check_job(workers);
      expect_error(HPS_Init(workers, MPI_INFO_NULL, &second), MPI_ERR_OTHER, "second time");
      HPS_EXPECT(second == MPI_COMM_SELF, "workers was written to");
      check_job(workers);
    });
  }
}

// A communicator that was used in one job is used in the next.
void test_communicator_outlives_job() {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int round = 0; round < 2; ++round)
    run_job(own_nodes(world_size(), world_size()), {}, [&](MPI_Comm) { check_job(copy); });
  HPS_EXPECT_OK(MPI_Comm_free(&copy));
}

// HPS's datatypes need no HPS_Init: MPI can send them, and they are the same handles every time.
void test_half_types() {
  const MPI_Datatype types[] = {HPS_FLOAT16, HPS_BFLOAT16};
  const char* const names[] = {"HPS_FLOAT16", "HPS_BFLOAT16"};
  HPS_EXPECT(types[0] == HPS_FLOAT16 && types[1] == HPS_BFLOAT16, "a second handle for one datatype");
  for (int i = 0; i < 2; ++i) {
    const Where where(names[i]);
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    HPS_EXPECT_OK(MPI_Type_get_name(types[i], name, &length));
    HPS_EXPECT(std::string_view(name) == names[i], std::string("it is called ") + name);
    const std::uint16_t sent[] = {0x3c00, 0xffff};
    std::uint16_t received[] = {0, 0};
    HPS_EXPECT_OK(MPI_Sendrecv(sent, 2, types[i], world_rank(), 0, received, 2, types[i], world_rank(), 0,
                               MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    HPS_EXPECT(received[0] == sent[0] && received[1] == sent[1], "MPI sent something else");
  }
}

void test_all() {
  test_half_types();
  test_without_job();
  test_intercomm();
  test_info();
  test_variables();
  test_bad_sizes();
  test_jobs();
  test_communicator_outlives_job();
}

// HPS_Finalize is left to MPI_Finalize. A rank in HPS_Serve comes back only when the workers are there: they agree on
// the verdict among themselves.
void test_forgotten(bool serving) {
  const int workers = (world_size() + 1) / 2;
  const Info info(seat_settings({world_rank() >= workers, world_rank()}));
  MPI_Comm comm = MPI_COMM_NULL;
  HPS_EXPECT_OK(HPS_Init(MPI_COMM_WORLD, info.get(), &comm));
  if (serving) set_verdict_comm(comm == MPI_COMM_NULL ? MPI_COMM_SELF : comm);
  if (comm != MPI_COMM_NULL)
    check_job(comm);
  else if (serving)
    HPS_EXPECT_OK(HPS_Serve());
}

// Who calls HPS_Finalize waits for the others, which are in MPI_Finalize: no verdict can be agreed on in between.
void test_forgotten_by_some() {
  test_forgotten(true);
  set_verdict_comm(MPI_COMM_SELF);
  if (world_rank() % 2 == 0) HPS_EXPECT_OK(HPS_Finalize());
}

}  // namespace
}  // namespace hps::test

int main(int argc, char** argv) {
  using namespace hps::test;
  const std::string_view part = argc > 1 ? argv[1] : "";
  if (part == "forgotten-by-some") return run(&argc, &argv, MPI_THREAD_SINGLE, test_forgotten_by_some);
  if (part.starts_with("forgotten"))
    return run(&argc, &argv, MPI_THREAD_SINGLE, [&] { test_forgotten(part == "forgotten-serving"); });
  test_without_mpi();
  const int verdict = run(&argc, &argv, MPI_THREAD_SINGLE, test_all);
  const int before = failures();
  test_without_mpi();
  return failures() == before ? verdict : 1;
}
