// SPDX-License-Identifier: BSD-3-Clause
// Gives a fuzz target the inputs in the files and folders named, once each: what libFuzzer's main does with files, for
// builds without it. A path that is not there is looked for below HPS_TEST_SRCDIR.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/target.h"

namespace {

namespace fs = std::filesystem;

fs::path located(const std::string& name) {
  const char* top = std::getenv("HPS_TEST_SRCDIR");
  if (fs::exists(name) || top == nullptr) return name;
  return fs::path(top) / name;
}

std::vector<fs::path> files_in(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  return files;
}

// The name is printed first, so that it stands before what the target says when it ends the process.
void replay(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  hps::fuzz::require(file.is_open(), "cannot read " + path.string());
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  static_cast<void>(std::printf("%s\n", path.c_str()));
  static_cast<void>(std::fflush(stdout));
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t replayed = 0;
  for (int i = 1; i < argc; ++i) {
    for (const fs::path& path : files_in(located(argv[i]))) {
      replay(path);
      ++replayed;
    }
  }
  hps::fuzz::require(replayed > 0, "no inputs; name files or folders of them");
  static_cast<void>(std::printf("%zu inputs\n", replayed));
  return 0;
}
