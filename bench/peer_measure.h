// SPDX-License-Identifier: BSD-3-Clause
// How bench/compare measures the all-reduce of a library that is not HPS: as hps_perf measures HPS's, so that both meet
// the same network. Calls run back to back, for a pause would fill the token buckets of shaped links; an all-reduce of
// 1 MB empties them first. Results are kept, up to 64 MB of them, and checked after a batch. The time of a call is the
// longest of all ranks'; the mean is that of all calls together on the rank where it is largest. For C and C++.
#ifndef HPS_BENCH_PEER_MEASURE_H
#define HPS_BENCH_PEER_MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { peer_batch_bytes = 64 << 20, peer_run_in_bytes = 1 << 20, peer_values = 61 };

// A library's all-reduce. `sum` adds `count` floats over all ranks; `longest` replaces each of `count` times by the
// largest of all ranks'. Both end the program where they fail.
struct Peer {
  int rank;
  int ranks;
  void (*sum)(const float* send, float* receive, size_t count);
  void (*longest)(double* times, size_t count);
};

// The sizes to measure: an argument BYTES:CALLS:WARMUP each, after the seconds that one size may take.
struct PeerSize {
  size_t bytes;
  size_t calls;
  size_t warmup;
};

static void* peer_allocate(size_t bytes) {
  void* memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (memory == NULL) {
    fprintf(stderr, "no memory for %zu bytes\n", bytes);
    exit(1);
  }
  return memory;
}

static double peer_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Small whole numbers, so that every sum is exact. An element's value is that of its place, times a rank's number.
static float peer_value(size_t element) { return (float)(element % peer_values + 1); }

static size_t peer_count_wrong(const struct Peer* peer, const float* result, size_t count) {
  const float factor = (float)(peer->ranks * (peer->ranks + 1) / 2);
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i) wrong += result[i] != factor * peer_value(i);
  return wrong;
}

static double peer_timed_call(const struct Peer* peer, const float* send, float* receive, size_t count) {
  const double start = peer_now();
  peer->sum(send, receive, count);
  return peer_now() - start;
}

static void peer_run_in(const struct Peer* peer) {
  float* zeros = (float*)peer_allocate(2 * (size_t)peer_run_in_bytes);
  const size_t count = peer_run_in_bytes / sizeof(float);
  for (size_t i = 0; i < 2 * count; ++i) zeros[i] = 0;
  peer->sum(zeros, zeros + count, count);
  free(zeros);
}

static int peer_ascending(const void* left, const void* right) {
  const double a = *(const double*)left;
  const double b = *(const double*)right;
  return (a > b) - (a < b);
}

static size_t peer_least(size_t a, size_t b) { return a < b ? a : b; }
static size_t peer_most(size_t a, size_t b) { return a > b ? a : b; }

// Measures one size; rank 0 prints a line of JSON. Slow calls are made less often, so that `limit` seconds are enough.
static void peer_measure(const struct Peer* peer, struct PeerSize size, double limit) {
  const size_t count = size.bytes / sizeof(float);
  const size_t slots = peer_least(size.calls, peer_most(1, peer_batch_bytes / size.bytes));
  float* send = (float*)peer_allocate(size.bytes);
  float* results = (float*)peer_allocate(slots * size.bytes);
  for (size_t i = 0; i < count; ++i) send[i] = (float)(peer->rank + 1) * peer_value(i);
  for (size_t i = 0; i < slots * count; ++i) results[i] = -1;

  peer_run_in(peer);
  double first = peer_timed_call(peer, send, results, count);
  peer->longest(&first, 1);
  const size_t fit = (size_t)(limit / (first + 1e-9));
  const size_t calls = peer_most(1, peer_least(size.calls, fit));
  for (size_t i = 1; i < peer_least(size.warmup, fit / 4); ++i) peer->sum(send, results, count);

  double* times = (double*)peer_allocate(calls * sizeof(double));
  size_t wrong = 0;
  for (size_t done = 0; done < calls; done += slots) {
    const size_t batch = peer_least(slots, calls - done);
    for (size_t i = 0; i < batch * count; ++i) results[i] = -1;
    peer_run_in(peer);
    for (size_t i = 0; i < batch; ++i) times[done + i] = peer_timed_call(peer, send, results + i * count, count);
    for (size_t i = 0; i < batch; ++i) wrong += peer_count_wrong(peer, results + i * count, count);
  }
  double mean = 0;
  for (size_t i = 0; i < calls; ++i) mean += times[i] / (double)calls;
  double most_wrong = (double)wrong;
  peer->longest(times, calls);
  peer->longest(&mean, 1);
  peer->longest(&most_wrong, 1);
  qsort(times, calls, sizeof(double), peer_ascending);
  const double median = (times[(calls - 1) / 2] + times[calls / 2]) / 2;
  if (peer->rank == 0) {
    printf("{\"bytes\": %zu, \"time_us\": %.3f, \"mean_us\": %.3f, \"iterations\": %zu, \"wrong\": %.0f}\n", size.bytes,
           median * 1e6, mean * 1e6, calls, most_wrong);
    fflush(stdout);
  }
  free(times);
  free(results);
  free(send);
}

// LIMIT BYTES:CALLS:WARMUP ... as from the command line. Returns the program's exit status.
static int peer_measure_all(const struct Peer* peer, int number, char** arguments) {
  const double limit = number > 0 ? atof(arguments[0]) : 0;
  if (limit <= 0 || number < 2) {
    fprintf(stderr, "expected SECONDS BYTES:CALLS:WARMUP ...\n");
    return 1;
  }
  for (int i = 1; i < number; ++i) {
    struct PeerSize size;
    if (sscanf(arguments[i], "%zu:%zu:%zu", &size.bytes, &size.calls, &size.warmup) != 3 ||
        size.bytes < sizeof(float) || size.calls < 1) {
      fprintf(stderr, "'%s' is not BYTES:CALLS:WARMUP\n", arguments[i]);
      return 1;
    }
    peer_measure(peer, size, limit);
  }
  return 0;
}

#endif
