# SPDX-License-Identifier: BSD-3-Clause
"""The libraries that bench/compare runs: how each is installed into a throw-away folder, and how its job is started.

Open MPI is the host's. MPICH and Intel MPI are PyPI's, each in a virtual environment of its own, for both call their
library libmpi.so.12; they have one ABI, so the program compiled against MPICH's header runs with both. Their mpiexec reaches
other hosts through a script in ssh's place. Gloo is Debian's, unpacked where it is not installed; its ranks are started one
by one, and find each other through files.

Ranks outnumber cores, so all are asked to yield where they can be.
"""

import glob
import json
import os
import shutil
import subprocess
import sys

from compare_results import OPEN_MPI_ALGORITHMS

FOLDER = os.path.dirname(os.path.abspath(__file__))
UCX = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}
OFI = {"FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth0"}
SSH = """#!/bin/sh
# OPTIONS HOST COMMAND..., as ssh has it, on the hosts of tools/cluster.
while :; do
  case $1 in
    -*) shift ;;
    *) break ;;
  esac
done
exec "$CLUSTER_AGENT" "$@"
"""


class NotInstalled(Exception):
    """Why a peer cannot be had."""


def output_of(*command, **options):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900, **options)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(str(error)) from error
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise NotInstalled(
            f"{os.path.basename(command[0])} {command[1]}: {said[-1] if said else f'exit status {done.returncode}'}"
        )
    return done.stdout


# --- Installing ------------------------------------------------------------------------------------------------------


def installed_in(folder):
    """What `install` has put there: {"openmpi": {...}, ...}; an entry has "version", or "absent": why."""
    path = os.path.join(folder, "installed.json")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def is_current(entry):
    """Whether it is there and compiled from the present sources."""
    program = entry.get("program", "")
    sources = glob.glob(os.path.join(FOLDER, "peer_*"))
    return os.path.exists(program) and all(os.path.getmtime(source) <= os.path.getmtime(program) for source in sources)


def install(folder, say):
    """Installs what is missing or old, or was not to be had the last time. Returns what there is."""
    os.makedirs(folder, exist_ok=True)
    ssh = os.path.join(folder, "ssh")
    with open(ssh, "w", encoding="ascii") as file:
        file.write(SSH)
    os.chmod(ssh, 0o755)
    installed = installed_in(folder)
    installers = {"openmpi": install_open_mpi, "mpich": install_mpich, "intel": install_intel, "gloo": install_gloo}
    for name, installer in installers.items():
        if is_current(installed.get(name, {})):
            continue
        say(f"installing {name}")
        try:
            installed[name] = installer(folder, installed)
        except NotInstalled as reason:
            installed[name] = {"absent": str(reason)}
        say(f"{name}: {installed[name].get('version') or installed[name]['absent']}")
    with open(os.path.join(folder, "installed.json"), "w", encoding="utf-8") as file:
        json.dump(installed, file, indent=1)
    return installed


def compile_mpi(compiler, program):
    output_of(compiler, "-O2", "-o", program, os.path.join(FOLDER, "peer_allreduce.c"))
    return program


def virtual_environment(folder, package):
    root = os.path.join(folder, package)
    output_of(sys.executable, "-m", "venv", "--clear", root)
    pip = os.path.join(root, "bin", "pip")
    output_of(pip, "install", "--disable-pip-version-check", package)
    shown = output_of(pip, "show", "--disable-pip-version-check", package)
    return root, next(line.split()[1] for line in shown.splitlines() if line.startswith("Version:"))


def install_open_mpi(folder, _):
    version = output_of("mpirun", "--version").splitlines()[0]
    if "Open MPI" not in version:
        raise NotInstalled(f"the host's mpirun is another: {version}")
    return {"version": version.split()[-1], "program": compile_mpi("mpicc", os.path.join(folder, "peer_openmpi"))}


def install_mpich(folder, _):
    root, version = virtual_environment(folder, "mpich")
    program = compile_mpi(os.path.join(root, "bin", "mpicc"), os.path.join(folder, "peer_mpich"))
    return {"version": version, "root": root, "program": program}


def install_intel(folder, installed):
    if "program" not in installed["mpich"]:
        raise NotInstalled("its program is that compiled against MPICH, which is not there")
    root, version = virtual_environment(folder, "impi-rt")
    return {"version": version, "root": root, "program": installed["mpich"]["program"]}


def install_gloo(folder, _):
    """Debian's own packages; unpacked into the folder where they are not installed."""
    root = os.path.join(folder, "gloo")
    if os.path.exists("/usr/include/gloo/allreduce.h"):
        root = "/"
        version = output_of("dpkg-query", "-W", "-f", "${Version}", "libgloo0")
    else:
        shutil.rmtree(root, ignore_errors=True)
        os.makedirs(root)
        output_of("apt-get", "download", "libgloo-dev", "libgloo0", cwd=root)
        for package in glob.glob(os.path.join(root, "*.deb")):
            output_of("dpkg-deb", "-x", package, root)
            version = output_of("dpkg-deb", "-f", package, "Version").strip()
    library = sorted(glob.glob(os.path.join(root, "usr/lib/**/libgloo.so.0"), recursive=True))
    if not library:
        raise NotInstalled("libgloo0 has no libgloo.so.0")
    program = os.path.join(folder, "peer_gloo")
    source = os.path.join(FOLDER, "peer_allreduce_gloo.cc")
    where = f"-Wl,-rpath,{os.path.dirname(library[0])}"
    output_of(
        "g++",
        "-std=c++17",
        "-O2",
        "-isystem",
        os.path.join(root, "usr/include"),
        "-o",
        program,
        source,
        library[0],
        where,
        "-pthread",
    )
    return {"version": version, "program": program}


# --- Starting --------------------------------------------------------------------------------------------------------


class Job:
    """How a run is started: `processes` is [(host, command)], all at once, the first of which prints the results."""

    def __init__(self, processes, environment):
        self.processes = processes
        self.environment = environment


def hosts(kind, number):
    return [f"{kind}{index}" for index in range(number)]


def mpirun(n, variables):
    forwarded = [word for name in sorted(variables) for word in ("-x", name)]
    return ["mpirun", "-n", str(n), "--host", ",".join(hosts("w", n)), *forwarded]


def open_mpi_job(entry, wire, algorithm, n, arguments):
    environment = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_mpi_yield_when_idle": "1"}
    if wire == "ucx":
        # By default Open MPI leaves UCX aside where there is no InfiniBand.
        environment |= {"OMPI_MCA_pml": "ucx", "OMPI_MCA_opal_common_ucx_tls": "any", "OMPI_MCA_opal_common_ucx_devices": "any"}
    number = OPEN_MPI_ALGORITHMS.index(algorithm)
    if number:
        environment |= {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_allreduce_algorithm": str(number)}
    return Job([("w0", mpirun(n, UCX) + [entry["program"], *arguments])], environment | UCX)


def mpich_job(entry, wire, n, arguments, ssh):
    mpiexec = [os.path.join(entry["root"], "bin", "mpiexec.hydra"), "-launcher", "ssh", "-launcher-exec", ssh]
    where = ["-hosts", ",".join(hosts("w", n)), "-n", str(n), "-ppn", "1", "-iface", "eth0"]
    environment = {"MPIR_CVAR_CH4_NETMOD": wire, "MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}
    return Job([("w0", mpiexec + where + [entry["program"], *arguments])], environment | (UCX if wire == "ucx" else OFI))


def intel_job(entry, n, arguments, ssh):
    root = entry["root"]
    mpiexec = [os.path.join(root, "bin", "mpiexec.hydra"), "-bootstrap", "ssh", "-bootstrap-exec", ssh]
    where = ["-hosts", ",".join(hosts("w", n)), "-n", str(n), "-ppn", "1", "-iface", "eth0"]
    library = os.path.join(root, "lib")
    environment = {
        "I_MPI_ROOT": root,
        "LD_LIBRARY_PATH": library,
        "FI_PROVIDER_PATH": library,
        "I_MPI_FABRICS": "ofi",
        "I_MPI_PIN": "0",
    }
    return Job([("w0", mpiexec + where + [entry["program"], *arguments])], environment | OFI | {"I_MPI_THREAD_YIELD": "2"})


def gloo_job(entry, algorithm, n, arguments, meeting):
    ranks = enumerate(hosts("w", n))
    return Job([(host, [entry["program"], algorithm, str(rank), str(n), meeting, *arguments]) for rank, host in ranks], {})


def peer_job(library, installed, n, arguments, ssh, meeting):
    """The Job of a peer. `meeting` is a folder that is empty."""
    family, _, variant = library.partition("-")
    entry = installed[family]
    if family == "openmpi":
        return open_mpi_job(entry, *variant.split("-", 1), n, arguments)
    if family == "mpich":
        return mpich_job(entry, variant, n, arguments, ssh)
    if family == "intel":
        return intel_job(entry, n, arguments, ssh)
    return gloo_job(entry, variant, n, arguments, meeting)


def hps_job(build, n, k, arguments):
    command = mpirun(n, UCX) + [os.path.join(build, "programs", "hps_perf"), "allreduce_hetero", *arguments]
    if k:
        server = os.path.join(build, "programs", "hps_server")
        exports = [word for name in sorted(UCX) for word in ("-x", name)]
        command += [":", "-n", str(k), "--host", ",".join(hosts("c", k)), *exports, "-x", "HPS_ROLE=cpu", server]
    return Job([("w0", command)], UCX)
