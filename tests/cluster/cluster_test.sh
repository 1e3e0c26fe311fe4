#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tools/cluster: the job sees the hosts, links and variables that were asked for; its exit status is passed on; two clusters
# run at once; links lose frames, are cut and change their rate as asked; and nothing is left when it ends, however it ends.
# Needs root; skipped where namespaces cannot be made.
set -euo pipefail
source_dir=${HPS_TEST_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
build_dir=${HPS_TEST_BUILDDIR:-$PWD}
cluster=$source_dir/tools/cluster
probe=$build_dir/tests/cluster/probe
work=$(mktemp -d)
cluster_pid=
trap '[ -z "$cluster_pid" ] || kill "$cluster_pid" 2>/dev/null || true; rm -rf "$work"' EXIT
unset HPS_ROLE HPS_LINK_RATE
failed=0

fail() {
  echo "cluster_test: $*" >&2
  failed=1
}

# expect WHAT WANTED GOT
expect() { [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"; }

# Runs a command, its output in $work/out, its exit status in $status.
try() {
  status=0
  "$@" >"$work/out" 2>&1 </dev/null || status=$?
}

skip_without_namespaces() {
  try "$cluster" --workers 1 -- true
  [ "$status" -ne 77 ] || { cat "$work/out" && exit 77; }
  expect "a job of one host" 0 "$status"
}

# A wrong command line says what is wrong with it, and no host is made.
refuses() {
  local pattern=$1
  shift
  try "$cluster" "$@"
  expect "status of cluster $*" 2 "$status"
  grep -q -- "$pattern" "$work/out" || fail "cluster $*: no '$pattern' in: $(cat "$work/out")"
}

test_wrong_options() {
  refuses "required: --workers" -- true
  refuses "no program" --workers 2
  refuses "no program" --workers 2 --
  refuses "'0' is not a whole number of at least 1" --workers 0 -- true
  refuses "'two' is not a whole number" --workers two -- true
  refuses "'-1' is not a whole number\|expected one argument" --workers 2 --cpu-only -1 -- true
  refuses "'100' is not a rate" --workers 2 --rate 100 -- true
  refuses "'0mbit' is not a rate" --workers 2 --rate 0mbit -- true
  refuses "'50mbit' is not HOST=RATE" --workers 2 --worker-rate 50mbit -- true
  refuses "no host 2 among 2" --workers 2 --worker-rate 2=50mbit -- true
  refuses "no host 0 among 0" --workers 2 --cpu-rate 0=50mbit -- true
  refuses "'30' is not a time" --workers 2 --queue 30 -- true
  refuses "'NAME' is not NAME=VALUE" --workers 2 --env NAME -- true
  refuses "more than 250" --workers 200 --cpu-only 100 -- true
  refuses "'0.1' is not a loss" --workers 2 --loss 0.1 -- true
  refuses "'0%' is not a loss" --workers 2 --loss 0% -- true
  refuses "'100%' is not a loss" --workers 2 --loss 100% -- true
  refuses "'0s' is not a time" --workers 2 --delay 0s -- true
  refuses "'/none' is not a FIFO" --workers 2 --control /none -- true
  refuses "expected 2 arguments" --workers 2 --at 1s -- true
  refuses "'1' is not a time" --workers 2 --at 1 cut=w0 -- true
  refuses "'cut=w0:up' is no event" --workers 2 --at 1s cut=w0:up -- true
  refuses "there is no host w2" --workers 2 --at 1s cut=w2 -- true
  refuses "there is no host c0" --workers 2 --at 1s heal=w1 --at 1s cpu0=1mbit -- true
  refuses "'fast' is not a rate" --workers 2 --at 1s worker0=fast -- true
}

test_status_is_passed_on() {
  try "$cluster" --workers 2 -- sh -c 'exit 5'
  expect "status of a job that exits 5" 5 "$status"
  try env HPS_SERVER=/none/hps_server "$cluster" --workers 1 --cpu-only 1 -- true
  [ "$status" -ne 0 ] || fail "a missing hps_server is no error"
}

test_hosts() {
  try env HPS_SETTING=passed "$cluster" --workers 2 --ranks-per-node 2 --cpu-only 1 --rate 100mbit --worker-rate 1=50mbit \
    --tell-rates --env PROBE='a b' --cpu-program "$probe" -- "$probe"
  expect "status of probe" 0 "$status"
  expect "what ranks see" "w0 2 - 100mbit a b
w0 2 - 100mbit a b
w1 2 - 50mbit a b
w1 2 - 50mbit a b
c0 1 cpu 100mbit a b" "$(cat "$work/out")"
  try env HPS_SETTING=passed "$cluster" --workers 1 -- printenv HPS_SETTING UCX_TLS UCX_NET_DEVICES
  expect "variables passed on" "passed tcp,self eth0" "$(tr '\n' ' ' <"$work/out" | sed 's/ $//')"
}

test_run() {
  try "$cluster" --workers 2 --cpu-only 1 --run -- sh -c 'hostname; "$CLUSTER_AGENT" c0 hostname; exit 3'
  expect "status of a script on the hosts" 3 "$status"
  expect "what it sees" "w0 c0" "$(tr '\n' ' ' <"$work/out" | sed 's/ $//')"
}

# link FROM TO LEAST MOST: Mbit/s of a message. The lower limit is loose, for the machine may be busy.
link() {
  try "$cluster" --workers 2 --rate 40mbit --worker-rate 1=20mbit --cpu-only 1 --cpu-rate 0=10mbit \
    --cpu-program "$probe $1 $2" -- "$probe" "$1" "$2"
  expect "status of probe $1 $2" 0 "$status"
  awk -v least="$3" -v most="$4" 'NF != 1 || $1 < least || $1 > most { exit 1 }' "$work/out" ||
    fail "Mbit/s from rank $1 to $2: expected $3 to $4, got: $(cat "$work/out")"
}

test_rates() { # The buckets start full: 128 KB of 1 MB, an eighth, pass at once.
  link 0 1 10 24
  link 1 0 10 24
  link 0 2 5 12
  link 2 0 5 12
}

# A message takes longer once its receiver's link is slower; probe sends them until one does.
test_rate_changes() {
  try "$cluster" --workers 1 --cpu-only 1 --rate 40mbit --at 1s cpu0=8mbit --cpu-program "$probe 0 1 12" -- "$probe" 0 1 12
  expect "status of a probe that waits for a slower link" 0 "$status"
  awk 'NF != 1 || $1 > 12 { exit 1 }' "$work/out" || fail "Mbit/s of a slower link: $(cat "$work/out")"
}

# What TCP has sent again, of 240 frames that cross two links; all arrive.
test_loss() {
  try "$cluster" --workers 2 --rate 1gbit --loss 10% -- \
    sh -c "'$probe' 0 1 && awk '\$1 == \"Tcp:\" { again = \$13 } END { print \"again\", again }' /proc/net/snmp"
  expect "status of a probe over links that lose frames" 0 "$status"
  awk '$1 == "again" && $2 > most { most = $2 } END { exit most < 5 }' "$work/out" ||
    fail "no frames are lost: $(cat "$work/out")"
}

test_delay() {
  try "$cluster" --workers 1 --delay 1ms -- true
  [ "$status" -ne 77 ] || ! grep -q -- "--delay needs a kernel with netem" "$work/out" || return 0
  expect "status with --delay" 0 "$status"
}

# Until a command succeeds; no event tells a shell what became of a frame.
until_true() {
  local end=$((SECONDS + 30))
  until "$@"; do [ $SECONDS -lt $end ] || return 1; done
}

# passes FROM TO: whether a datagram gets from worker host FROM to TO. A second is long for one frame on an idle link.
passes() {
  ip netns exec "$network-w$2" python3 -c "
import socket, subprocess, sys
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to.bind(('', 9))
to.settimeout(1)
subprocess.run(['ip', 'netns', 'exec', '$network-w$1', 'bash', '-c', 'echo >/dev/udp/10.77.0.$(($2 + 1))/9'], check=True)
try:
    to.recv(1)
except TimeoutError:
    sys.exit(1)"
}

# knows FROM TO: host FROM need not ask for the hardware address of TO, whose answer may be cut off.
knows() {
  local address
  address=$(ip netns exec "$network-w$2" cat /sys/class/net/eth0/address)
  ip -n "$network-w$1" neighbour replace "10.77.0.$(($2 + 1))" lladdr "$address" dev eth0 nud permanent
}

stopped() { ! passes "$@"; }

# expect_ways WHAT passes|stopped passes|stopped: from host w0 to w1, and back.
expect_ways() {
  until_true "$2" 0 1 || fail "$1: w0 to w1 is not $2"
  until_true "$3" 1 0 || fail "$1: w1 to w0 is not $3"
}

test_cuts() {
  mkfifo "$work/control"
  start_endless_job --control "$work/control"
  network=${spaces%%-*}
  knows 0 1
  knows 1 0
  expect_ways "no cut" passes passes
  echo cut=w1:in >"$work/control"
  expect_ways "cut=w1:in" stopped passes
  printf 'heal=w1:in\ncut=w1:out\n' >"$work/control"
  expect_ways "cut=w1:out" passes stopped
  echo cut=w0 >"$work/control"
  expect_ways "cut=w0" stopped stopped
  echo heal=w0 >"$work/control"
  expect_ways "heal=w0" passes stopped
  echo heal=w1 >"$work/control"
  expect_ways "heal=w1" passes passes
  echo cut=w7 >"$work/control" # An event that cannot happen ends the job.
  expect_all_gone "a wrong event" "there is no host w7"
  expect "status after a wrong event" 1 "$status"
}

test_event_fails() {
  start_endless_job --at 1s worker1=0.0001kbit
  expect_all_gone "an event that fails" "event worker1=0.0001kbit: tc"
  expect "status after an event that fails" 1 "$status"
  try "$cluster" --workers 1 --at 1000s cut=w0 -- true
  expect "status of a job that ends before its event" 0 "$status"
  expect "what is said then" "cluster: the job ended before cut=w0" "$(cat "$work/out")"
}

# Each job waits until it has heard from the other.
test_two_at_once() {
  mkfifo "$work/there" "$work/back"
  "$cluster" --workers 1 -- sh -c "echo hello >'$work/there'; cat '$work/back'" >"$work/first" &
  local first=$!
  try "$cluster" --workers 1 -- sh -c "cat '$work/there'; echo hello >'$work/back'"
  expect "status of the second of two clusters" 0 "$status"
  expect "what the second hears" hello "$(cat "$work/out")"
  status=0
  wait "$first" || status=$?
  expect "status of the first of two clusters" 0 "$status"
  expect "what the first hears" hello "$(cat "$work/first")"
}

# start_endless_job [OPTIONS]: the job tells the namespace and process that it is, then waits for ever, on both hosts.
start_endless_job() {
  rm -f "$work/ready" "$work/output"
  mkfifo "$work/ready" "$work/output"
  "$cluster" --workers 2 "$@" -- sh -c "
    echo \$(ip netns identify \$\$) \$\$ >'$work/ready'
    exec sleep 1000" >"$work/output" 2>&1 &
  cluster_pid=$!
  exec 3<"$work/output"
  local one two
  exec 4<>"$work/ready" # Open for writing too, or the end of the first writer would be the end of the file.
  read -r one <&4
  read -r two <&4
  exec 4<&-
  spaces="${one% *} ${two% *}"
  pids="${one#* } ${two#* }"
}

# expect_all_gone WHAT [TEXT]: cluster ends, and TEXT is in what it has said.
# The end of the output is the end of all that cluster started, its janitor included.
expect_all_gone() {
  status=0
  {
    cat <&3 >"$work/said"
    wait "$cluster_pid" || status=$?
  } 2>/dev/null # The shell tells of a killed job.
  exec 3<&-
  cluster_pid=
  grep -q "${2:-}" "$work/said" || [ -z "${2:-}" ] || fail "$1: no '$2' in: $(cat "$work/said")"
  local space pid
  for space in $spaces; do
    ! ip netns list | grep -q "^${space%-*}-" || fail "$1: namespaces ${space%-*}-* are left"
    ! compgen -G "${TMPDIR:-/tmp}/${space%-*}-*" >/dev/null || fail "$1: files of ${space%-*} are left"
  done
  for pid in $pids; do
    ! grep -qs '^State:[[:space:]]*[^[:space:]ZX]' "/proc/$pid/status" || fail "$1: process $pid is left"
  done
}

test_killed() {
  local signal
  for signal in TERM INT HUP KILL; do
    start_endless_job
    kill -"$signal" "$cluster_pid"
    expect_all_gone "SIG$signal to cluster"
    expect "status after SIG$signal" $((128 + $(kill -l "$signal"))) "$status"
  done
  start_endless_job
  local host=${spaces%% *} pid
  for pid in $(ip netns pids "${host%-*}-w0"); do
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != mpirun ] || kill -KILL "$pid"
  done
  expect_all_gone "SIGKILL to mpirun"
  expect "status after SIGKILL to mpirun" 137 "$status"
}

test_wrong_options
skip_without_namespaces
test_status_is_passed_on
test_hosts
test_run
test_rates
test_rate_changes
test_loss
test_delay
test_two_at_once
test_cuts
test_event_fails
test_killed
exit "$failed"
