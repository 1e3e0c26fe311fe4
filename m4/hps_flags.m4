# SPDX-License-Identifier: BSD-3-Clause
# Compiler flags that HPS is always built with, and switches for sanitizers, coverage and warnings as errors.

# HPS_REQUIRE_CXX_FLAGS(FLAGS) - append each flag to HPS_CXXFLAGS; an error when the compiler does not know one. Results depend on these.
AC_DEFUN([HPS_REQUIRE_CXX_FLAGS], [
  for hps_flag in $1; do
    _HPS_TRY_CXX_FLAG([$hps_flag],
      [AC_MSG_ERROR([$CXX does not know $hps_flag. HPS needs a C++20 compiler that does: g++ 12 or clang 14 and later])])
  done
])

# HPS_OPTIONAL_CXX_FLAGS(FLAGS) - append those flags to HPS_CXXFLAGS that the compiler knows.
AC_DEFUN([HPS_OPTIONAL_CXX_FLAGS], [
  for hps_flag in $1; do
    _HPS_TRY_CXX_FLAG([$hps_flag], [])
  done
])

# -Werror makes clang refuse the flags that it would only warn of.
AC_DEFUN([_HPS_TRY_CXX_FLAG], [
  AC_MSG_CHECKING([whether $CXX knows $1])
  hps_save_CXXFLAGS=$CXXFLAGS
  CXXFLAGS="$CXXFLAGS -Werror $1"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
    [AC_MSG_RESULT([yes]); HPS_CXXFLAGS="$HPS_CXXFLAGS $1"; CXXFLAGS=$hps_save_CXXFLAGS],
    [AC_MSG_RESULT([no]); CXXFLAGS=$hps_save_CXXFLAGS
     $2])
])

# HPS_REQUIRE_CXX20 - the standard library must follow, not only the compiler.
AC_DEFUN([HPS_REQUIRE_CXX20], [
  HPS_REQUIRE_CXX_FLAGS([-std=c++20])
  AC_MSG_CHECKING([whether the C++ library is a C++20 one])
  hps_save_CXXFLAGS=$CXXFLAGS
  CXXFLAGS="$CXXFLAGS -std=c++20"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <bit>
#include <concepts>
#include <span>]], [[int a[2] = {1, 2}; return static_cast<int>(std::bit_width(std::span<int>(a).size()));]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([no C++20 standard library. Debian 12 and Ubuntu 24.04 have one in g++])])
  CXXFLAGS=$hps_save_CXXFLAGS
])

# HPS_CHECK_FUZZ - --enable-fuzz: the fuzz targets of tests/fuzz with libFuzzer, which takes clang, and all under AddressSanitizer and
# UndefinedBehaviorSanitizer. To be called before HPS_CHECK_INSTRUMENTS. Sets the automake conditional BUILD_FUZZ.
AC_DEFUN([HPS_CHECK_FUZZ], [
  AC_ARG_ENABLE([fuzz], [AS_HELP_STRING([--enable-fuzz], [build the fuzz targets with libFuzzer (needs clang), and all with ASan and UBSan])],
    [], [enable_fuzz=no])
  AS_IF([test "x$enable_fuzz" = xyes], [
    hps_save_CXXFLAGS=$CXXFLAGS
    CXXFLAGS="$CXXFLAGS -fsanitize=fuzzer"
    AC_MSG_CHECKING([whether $CXX has libFuzzer])
    AC_LINK_IFELSE([AC_LANG_SOURCE([[extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, decltype(sizeof 0)) { return 0; }]])],
      [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no])
       AC_MSG_ERROR([--enable-fuzz: $CXX cannot link with -fsanitize=fuzzer. Use clang: CC=clang-14 CXX=clang++-14 with Debian's clang-14 and libclang-rt-14-dev])])
    CXXFLAGS=$hps_save_CXXFLAGS
    enable_asan=yes enable_ubsan=yes
    hps_fuzz_list='$(abs_top_srcdir)/tests/fuzz/uninstrumented'
    HPS_INSTRUMENT_FLAGS="-fsanitize=fuzzer-no-link -fno-sanitize-recover=undefined -fsanitize-ignorelist=$hps_fuzz_list -fsanitize-coverage-ignorelist=$hps_fuzz_list"])
  AM_CONDITIONAL([BUILD_FUZZ], [test "x$enable_fuzz" = xyes])
])

# HPS_CHECK_INSTRUMENTS - --enable-asan, -tsan, -ubsan and -coverage. Sets hps_sanitizers to the words chosen, "none" without.
AC_DEFUN([HPS_CHECK_INSTRUMENTS], [
  hps_sanitizers=
  _HPS_INSTRUMENT([asan], [AddressSanitizer], [-fsanitize=address -fno-omit-frame-pointer])
  _HPS_INSTRUMENT([tsan], [ThreadSanitizer (turns OpenMP off: libgomp reports false races)],
    [-fsanitize=thread -fno-omit-frame-pointer])
  _HPS_INSTRUMENT([ubsan], [UndefinedBehaviorSanitizer], [-fsanitize=undefined -fno-omit-frame-pointer])
  _HPS_INSTRUMENT([coverage], [coverage measurement with gcov], [--coverage])
  AS_CASE([$hps_sanitizers], [*asan*tsan*],
    [AC_MSG_ERROR([--enable-asan and --enable-tsan exclude each other: a program can be linked with one of them])])
  AS_IF([test -z "$hps_sanitizers"], [hps_sanitizers=none])
  AC_SUBST([HPS_SANITIZERS], [$hps_sanitizers])
])

AC_DEFUN([_HPS_INSTRUMENT], [
  AC_ARG_ENABLE([$1], [AS_HELP_STRING([--enable-$1], [build with $2])], [], [enable_$1=no])
  AS_IF([test "x$enable_$1" = xyes], [
    hps_save_LDFLAGS=$LDFLAGS hps_save_CXXFLAGS=$CXXFLAGS
    CXXFLAGS="$CXXFLAGS $3" LDFLAGS="$LDFLAGS $3"
    AC_MSG_CHECKING([whether $CXX links with $3])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no])
       AC_MSG_ERROR([--enable-$1: $CXX cannot link with $3. Debian and Ubuntu have the run-time libraries in g++ and in clang])])
    CXXFLAGS=$hps_save_CXXFLAGS LDFLAGS=$hps_save_LDFLAGS
    HPS_INSTRUMENT_FLAGS="$HPS_INSTRUMENT_FLAGS $3"
    hps_sanitizers="${hps_sanitizers:+$hps_sanitizers }$1"])
])
