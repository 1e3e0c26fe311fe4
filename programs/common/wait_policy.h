// SPDX-License-Identifier: BSD-3-Clause
// How OpenMP's idle threads wait in the programs: asleep, because a process that serves shares its cores with others
// and spends most of its time waiting for the network. libgomp reads OMP_WAIT_POLICY when it is loaded, before main, so
// a process that finds the variable unset has to start itself once more with it set.
#ifndef HPS_PROGRAMS_COMMON_WAIT_POLICY_H
#define HPS_PROGRAMS_COMMON_WAIT_POLICY_H

namespace hps {

// Sets OMP_WAIT_POLICY=passive and executes the program anew with the same arguments, unless the variable is set
// already, by the user or by this function. To be called first in main, before threads and MPI. Returns where the
// program runs under the policy it should, or (with a warning on standard error; idle threads then spin) cannot be
// started again.
void use_passive_wait_policy(char** argv);

}  // namespace hps

#endif
