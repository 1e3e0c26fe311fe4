# SPDX-License-Identifier: BSD-3-Clause
# Parts of the tree that not everybody builds: tests, benchmarks, the example. A part whose libraries are missing is left out with a note in
# the summary, or is an error where it was asked for by name.

# HPS_PART(NAME, WHAT) - --enable-NAME / --disable-NAME; opens the part. HPS_NEED then names what it lacks, HPS_PART_END decides.
AC_DEFUN([HPS_PART], [
  AC_ARG_ENABLE([$1], [AS_HELP_STRING([--enable-$1], [build $2 (default: where their libraries are found)])],
    [], [enable_$1=auto])
  hps_missing=
])

# HPS_NEED(FOUND, PACKAGE) - note that Debian's PACKAGE is missing unless the shell variable FOUND is yes.
AC_DEFUN([HPS_NEED], [
  AS_IF([test "x$$1" != xyes], [hps_missing="${hps_missing:+$hps_missing }$2"])
])

# HPS_PART_END(NAME, CONDITIONAL) - sets the automake conditional, and hps_NAME_note for the summary.
AC_DEFUN([HPS_PART_END], [
  AS_CASE([$enable_$1:$hps_missing],
    [no:*], [hps_build_$1=no; hps_$1_note="no (--disable-$1)"],
    [*:], [hps_build_$1=yes; hps_$1_note=yes],
    [auto:*], [hps_build_$1=no; hps_$1_note="no, missing: $hps_missing (Debian's names)"],
    [AC_MSG_ERROR([--enable-$1: missing $hps_missing (the names of Debian's packages)])])
  AM_CONDITIONAL([$2], [test $hps_build_$1 = yes])
])
