// SPDX-License-Identifier: BSD-3-Clause
// gloo::allreduce over TCP, measured for bench/compare:
//
//     peer_allreduce_gloo ring|bcube RANK RANKS FOLDER SECONDS BYTES:CALLS:WARMUP ...
//
// Ranks find each other through files in FOLDER, which is empty at first and the same for all. An error of Gloo is an
// exception that ends the program.
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "peer_measure.h"

namespace {

std::shared_ptr<gloo::rendezvous::Context> context;
gloo::AllreduceOptions::Algorithm algorithm;

template <typename T>
void allreduce(T* send, T* receive, std::size_t count, void (*reduce)(void*, const void*, const void*, std::size_t)) {
  gloo::AllreduceOptions options(context);
  options.setAlgorithm(algorithm);
  if (send != receive) options.setInput(send, count);
  options.setOutput(receive, count);
  options.setReduceFunction(reduce);
  gloo::allreduce(options);
}

void sum(const float* send, float* receive, std::size_t count) {
  allreduce(const_cast<float*>(send), receive, count, gloo::sum<float>);  // Gloo takes no const input.
}

void longest(double* times, std::size_t count) { allreduce(times, times, count, gloo::max<double>); }

std::shared_ptr<gloo::rendezvous::Context> connect(int rank, int ranks, const char* folder) {
  gloo::transport::tcp::attr attributes;
  attributes.iface = "eth0";
  auto made = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  made->setTimeout(std::chrono::minutes(5));
  gloo::rendezvous::FileStore store(folder);
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  made->connectFullMesh(store, device);
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "expected ring|bcube RANK RANKS FOLDER SECONDS BYTES:CALLS:WARMUP ...\n");
    return 1;
  }
  using Options = gloo::AllreduceOptions;
  algorithm = argv[1] == std::string("ring") ? Options::Algorithm::RING : Options::Algorithm::BCUBE;
  const int rank = std::atoi(argv[2]);
  const int ranks = std::atoi(argv[3]);
  context = connect(rank, ranks, argv[4]);
  const Peer peer{rank, ranks, sum, longest};
  const int status = peer_measure_all(&peer, argc - 5, argv + 5);
  // A rank that closes its connections early would fail the others' last call.
  double done = 0;
  longest(&done, 1);
  return status;
}
