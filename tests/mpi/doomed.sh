# SPDX-License-Identifier: BSD-3-Clause
# What killed_test and cut_test share: a job of doomed_job.cc, the files that its ranks write, and its end. They source it.
build=${HPS_TEST_BUILDDIR:-$PWD}
server=$build/programs/hps_server
folder=$(mktemp -d)
status=0
limit_s=60
small=10
large=1000003

# Open MPI ends the job with its first rank unless it is told that others can do without.
export OMPI_MCA_orte_enable_recovery=1 HPS_TIMEOUT=3 HPS_NODE=server

job= # what was started: mpirun, or what runs it
pids() { cat "$folder"/pid.* 2>/dev/null || true; }

fail() {
  echo "$(basename "$0"): $what: $*"
  status=1
}

# until_true COMMAND...: tries until it succeeds; fails after limit_s. The pause only spares the core between looks: nothing tells a shell that another
# program's files are there, or that its processes are gone.
until_true() {
  local end=$((SECONDS + limit_s))
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.05
  done
}

# all_told RANK...
all_told() {
  local rank
  for rank in "$@"; do [ -e "$folder/verdict.$rank" ] || return 1; done
}

gone() { ! kill -0 "$1" 2>/dev/null; }

# expect_ok RANK...
expect_ok() {
  local rank
  for rank in "$@"; do
    [ "$(cat "$folder/verdict.$rank" 2>/dev/null)" = ok ] || fail "rank $rank: $(cat "$folder/verdict.$rank" 2>/dev/null || echo 'no verdict')"
  done
}

# The job and all its ranks have ended; what it said is shown where something was wrong.
expect_end() {
  local pid
  until_true gone "$job" || { fail "the job did not end" && kill "$job"; }
  job=
  for pid in $(pids); do until_true gone "$pid" || fail "process $pid is left"; done
  [ $status = 0 ] || cat "$folder/output"
}
