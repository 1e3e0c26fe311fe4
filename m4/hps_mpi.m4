# SPDX-License-Identifier: BSD-3-Clause
# HPS_CHECK_MPI - find an MPI of at least 3.1 and what the C++ compiler must be told to use it.
#
# MPI's own compiler wrapper is asked for its flags ("mpicc -show" works with Open MPI, MPICH and Intel MPI) and is not used to compile, so that the
# C++ compiler stays the user's choice. HPS needs MPI's C interface only, hence mpicc, also for C++ sources.
#
# Sets and substitutes MPICC, MPIRUN, MPI_CPPFLAGS (for our own sources: MPI's headers count as system headers, so our warnings do not apply to
# them), MPI_PUBLIC_CPPFLAGS (for hps.pc) and MPI_LIBS; sets hps_mpi_name.
AC_DEFUN([HPS_CHECK_MPI], [
  AC_ARG_VAR([MPICC], [MPI's C compiler wrapper, asked for MPI's flags])
  AC_ARG_VAR([MPIRUN], [MPI's launcher, for the tests])
  AC_PATH_PROGS([MPICC], [mpicc mpiicc mpicc.openmpi mpicc.mpich])
  AS_IF([test -z "$MPICC"],
    [AC_MSG_ERROR([no MPI: there is no mpicc in PATH. Debian and Ubuntu have it in libopenmpi-dev and openmpi-bin])])
  # The launcher that belongs to this wrapper: mpicc.mpich goes with mpirun.mpich.
  hps_mpi_suffix=`basename "$MPICC" | sed 's/^mpii*cc//'`
  AC_PATH_PROGS([MPIRUN], [mpirun$hps_mpi_suffix mpiexec$hps_mpi_suffix mpirun mpiexec], [],
    [`dirname "$MPICC"`$PATH_SEPARATOR$PATH])

  _HPS_MPI_FLAGS
  AC_SUBST([MPI_CPPFLAGS])
  AC_SUBST([MPI_PUBLIC_CPPFLAGS])
  AC_SUBST([MPI_LIBS])
  _HPS_MPI_VERSION
])

# Sorts the words of "mpicc -show" into preprocessor flags and link flags; its optimisation and warning flags are dropped.
AC_DEFUN([_HPS_MPI_FLAGS], [
  AC_MSG_CHECKING([for the flags of $MPICC])
  hps_mpi_show=`"$MPICC" -show 2>/dev/null` ||
    AC_MSG_ERROR(['$MPICC -show' fails: is it an MPI compiler wrapper?])
  MPI_CPPFLAGS= MPI_PUBLIC_CPPFLAGS= MPI_LIBS= hps_mpi_first=yes hps_mpi_xlinker=no
  for hps_word in $hps_mpi_show; do
    AS_IF([test $hps_mpi_first = yes], [hps_mpi_first=no; continue])
    AS_IF([test $hps_mpi_xlinker = yes], [MPI_LIBS="$MPI_LIBS $hps_word"; hps_mpi_xlinker=no; continue])
    AS_CASE([$hps_word],
      [-I/usr/include], [],
      [-I*], [MPI_CPPFLAGS="$MPI_CPPFLAGS -isystem `echo "$hps_word" | sed 's/^-I//'`"
              MPI_PUBLIC_CPPFLAGS="$MPI_PUBLIC_CPPFLAGS $hps_word"],
      [-D*], [MPI_CPPFLAGS="$MPI_CPPFLAGS $hps_word"; MPI_PUBLIC_CPPFLAGS="$MPI_PUBLIC_CPPFLAGS $hps_word"],
      [-Xlinker], [MPI_LIBS="$MPI_LIBS $hps_word"; hps_mpi_xlinker=yes],
      [-L*|-l*|-Wl,*|-pthread|*.a|*.so], [MPI_LIBS="$MPI_LIBS $hps_word"])
  done
  # The C++ bindings that MPI gave up in 2012 would need another library, and give warnings. Users of hps.pc link no more than we do.
  MPI_CPPFLAGS="$MPI_CPPFLAGS -DOMPI_SKIP_MPICXX=1 -DMPICH_SKIP_MPICXX=1"
  MPI_PUBLIC_CPPFLAGS="$MPI_PUBLIC_CPPFLAGS -DOMPI_SKIP_MPICXX=1 -DMPICH_SKIP_MPICXX=1"
  AC_MSG_RESULT([$MPI_CPPFLAGS $MPI_LIBS])
])

AC_DEFUN([_HPS_MPI_VERSION], [
  hps_save_CPPFLAGS=$CPPFLAGS hps_save_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $MPI_CPPFLAGS"
  LIBS="$MPI_LIBS $LIBS"
  AC_MSG_CHECKING([whether MPI is version 3.1 or later])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#if MPI_VERSION < 3 || (MPI_VERSION == 3 && MPI_SUBVERSION < 1)
#error "an older MPI"
#endif]], [[MPI_Init(nullptr, nullptr);]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([no program can be built against an MPI of version 3.1 or later with the flags of $MPICC; config.log has
the compiler's words. Debian and Ubuntu have one in libopenmpi-dev and openmpi-bin])])
  hps_mpi_name=
  _HPS_MPI_NAME([OMPI_MAJOR_VERSION], [Open MPI])
  _HPS_MPI_NAME([I_MPI_VERSION], [Intel MPI])
  _HPS_MPI_NAME([MPICH_VERSION], [MPICH])
  AS_IF([test -z "$hps_mpi_name"], [hps_mpi_name="unknown MPI"])
  CPPFLAGS=$hps_save_CPPFLAGS LIBS=$hps_save_LIBS
])

# _HPS_MPI_NAME(MACRO, NAME): the MPI whose mpi.h defines MACRO is called NAME; the first match wins.
AC_DEFUN([_HPS_MPI_NAME], [
  AS_IF([test -z "$hps_mpi_name"], [
    AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#include <mpi.h>
#ifndef $1
#error "not this one"
#endif]])], [hps_mpi_name="$2"])])
])
