#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tools/quickstart's job, as the README promises it: over the emulated cluster, and where namespaces are not allowed on this host alone. At
# 1 Gbit/s, so that it takes a minute: times are not judged here.
set -euo pipefail
source_dir=${HPS_TEST_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
build_dir=${HPS_TEST_BUILDDIR:-$PWD}
job=$source_dir/tools/quickstart-job
[ -e "$build_dir/examples/train" ] || { echo "skipped: the example was not built" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$build_dir/examples" "$build_dir/programs" "$work"
failed=0

fail() {
  echo "quickstart_test: $*"
  cat "$work/out"
  failed=1
}

# expect_lines PATTERN...: each is in the output.
expect_lines() {
  local pattern
  for pattern in "$@"; do grep -q "$pattern" "$work/out" || fail "no '$pattern'"; done
}

rows='s/.*"k": ([0-9]+),.*/\1/p'

status=0
"$job" --build "$work" --rate 1000 >"$work/out" 2>&1 || status=$?
[ "$status" -eq 0 ] || fail "exit status $status"
expect_lines "bit for bit, for every k of 0, 2, 4" "^MPI_Allreduce, " "^HPS, k = 0 " "^HPS, k = 2 " "^HPS, k = 4 "
[ "$(sed -nE "$rows" "$work/quickstart.json" | tr '\n' ' ')" = "0 0 2 4 " ] || fail "rows of quickstart.json"
if ! grep -q "skipped: no emulated hosts" "$work/out"; then
  [ "$(head -c 4 "$work/quickstart.png" | tail -c 3)" = PNG ] || fail "quickstart.png is no picture"
fi

# One step is too few to learn, and that is all that may be wrong.
status=0
setpriv --bounding-set -sys_admin,-net_admin --inh-caps -all "$job" --build "$work" --steps 1 >"$work/out" 2>&1 || status=$?
[ "$status" -eq 1 ] || fail "exit status $status of one step on this host"
expect_lines "on this host alone" "bit for bit, for every k of 0, 2, 4" "It cannot show what they gain" "FAILED: test accuracy"
[ "$(grep -c FAILED "$work/out")" -eq 1 ] || fail "more than one failure"
exit "$failed"
