#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes ./configure out of configure.ac. For those who build from a checkout; a release tarball has it already.
set -eu
cd "$(dirname "$0")"

missing=
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need autoreconf autoconf
need automake automake
need libtoolize libtool
need pkg-config pkg-config
if [ -n "$missing" ]; then
  echo "autogen.sh: these packages are missing (Debian's names):$missing" >&2
  exit 1
fi
autoreconf --force --install
