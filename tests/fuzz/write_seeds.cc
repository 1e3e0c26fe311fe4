// SPDX-License-Identifier: BSD-3-Clause
// write_seeds DIR: writes the seeds of every target to DIR/parser, DIR/service and DIR/engine.
#include <filesystem>
#include <fstream>

#include "fuzz/seeds.h"
#include "fuzz/target.h"

namespace {

void write(const std::filesystem::path& folder, const std::vector<hps::fuzz::Seed>& seeds) {
  std::filesystem::create_directories(folder);
  for (const hps::fuzz::Seed& seed : seeds) {
    std::ofstream file(folder / seed.name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(seed.bytes.data()), static_cast<std::streamsize>(seed.bytes.size()));
    hps::fuzz::require(file.good(), "cannot write " + (folder / seed.name).string());
  }
}

}  // namespace

int main(int argc, char** argv) {
  hps::fuzz::require(argc == 2, "usage: write_seeds DIR");
  const std::filesystem::path top = argv[1];
  write(top / "parser", hps::fuzz::parser_seeds());
  write(top / "service", hps::fuzz::service_seeds());
  write(top / "engine", hps::fuzz::engine_seeds());
  return 0;
}
