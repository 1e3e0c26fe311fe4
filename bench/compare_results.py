# SPDX-License-Identifier: BSD-3-Clause
"""What bench/compare measured, and what follows from it: no network, no processes.

results.jsonl has a line for each run of a library: {"rate", "queue", "n", "round", "library", "k", "status", "load",
"results": [{"bytes", "time_us", "mean_us", "iterations", "wrong"}, ...]}. A line is written at once when its run has ended; one that
is torn, the last where the machine went down, does not count.

HPS is compared with each peer by the ratios of their times in the same round. For the median of these ratios there is an
interval that needs no more than that rounds are alike (the sign test's). HPS is slower where that interval lies above
LIMIT for any peer, so that no choice of the best among many noisy peers decides.

A time is the median of a run's calls. Not so for messages that fit the bucket of a shaped link: whenever a rank has stood
still, the bucket is full and several calls are free, so that a median may lie far below the bound. There it is the mean,
which cannot.
"""

import json
import math
import os
import statistics

LIMIT = 1.05
COVERAGE = 0.9
SHORT = 4096  # bytes. Below, the time of a call is that of the scheduler where ranks share cores.
BUCKET = 128 << 10  # bytes: tools/cluster's BURST.
OPEN_MPI_ALGORITHMS = ("default", "linear", "nonoverlapping", "recursive-doubling", "ring", "segmented-ring", "rabenseifner")
FAMILIES = ("HPS", "Open MPI, TCP", "Open MPI, UCX", "MPICH", "Intel MPI", "Gloo")
PREFIXES = dict(zip(("hps-", "openmpi-tcp-", "openmpi-ucx-", "mpich-", "intel-", "gloo-"), FAMILIES))
PASSED, SLOWER, NOT_JUDGED, NO_PEER, HPS_FAILED = "passed", "SLOWER", "not judged: oversubscribed", "NO PEER", "HPS FAILED"


# --- What is to be measured ------------------------------------------------------------------------------------------


def peers():
    """The names of all peers."""
    over = [f"openmpi-{wire}-{algorithm}" for wire in ("tcp", "ucx") for algorithm in OPEN_MPI_ALGORITHMS]
    return over + ["mpich-ofi", "mpich-ucx", "intel-ofi", "gloo-ring", "gloo-bcube"]


def cpu_only_counts(n):
    """The k that are compared: none, half as many as workers, as many."""
    return sorted({0, n // 2, n})


def family(library):
    return next(name for prefix, name in PREFIXES.items() if library.startswith(prefix))


def sizes_between(least, most, factor):
    """From the largest down by the factor; the smallest is `least`."""
    sizes = {least, most}
    size = most
    while size > least:
        sizes.add(size)
        size //= factor
    return sorted(sizes)


def bound_us(n, k, size, bits_per_second):
    """The least time that the links allow. With two workers CPU-only hosts bring nothing."""
    k = 0 if n < 3 else min(k, n)
    return 2 * n * (n - 1) / (n * n + k * n - 2 * k) * size * 8 / bits_per_second * 1e6


def effort(bound):
    """Calls and warm-up for a size whose bound is so many microseconds. HPS measures its links once, when calls have taken
    0.1 s, which is what a program pays once and not what a call costs; so 0.3 s are warm-up, for all alike. Before shorter
    messages the all-reduces of 1 MB that empty the buckets do."""
    if bound < 3e3:
        return 40, 8
    return (10, max(3, math.ceil(0.3e6 / bound))) if bound < 200e3 else (3, 2)


def too_slow(measured, factor):
    """Of {library: us} of one size in the first round, those that need not be measured there again: `factor` times as slow
    as the best peer, and long enough to matter to the comparison's time."""
    best = min((us for library, us in measured.items() if not library.startswith("hps-")), default=math.inf)
    return {
        library
        for library, us in measured.items()
        if factor and not library.startswith("hps-") and us > 2e4 and us > factor * best
    }


# --- The file --------------------------------------------------------------------------------------------------------


def setting_of(row):
    return row["rate"], row["queue"], row["n"]


def key_of(row):
    return setting_of(row) + (row["round"], row["library"])


def read(path):
    """The rows of a file that may not exist."""
    if not os.path.exists(path):
        return []
    rows = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                rows.append(json.loads(line))
            except ValueError:
                continue
    return rows


def append(path, row):
    with open(path, "a+b") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
        torn = file.read(1) not in (b"", b"\n")
        file.write((b"\n" if torn else b"") + json.dumps(row).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def remaining(plan, rows):
    """What of `plan`, a list of keys, has no row yet."""
    there = {key_of(row) for row in rows}
    return [key for key in plan if key not in there]


# --- What follows ----------------------------------------------------------------------------------------------------


def median_interval(values, coverage=COVERAGE):
    """(low, high) that holds the median with probability `coverage` at least, or, of few values, the least and the largest."""
    ordered = sorted(values)
    number = len(ordered)
    cut, outside = 0, 0.0
    while cut + 1 <= (number - 1) // 2:
        outside += 2 * math.comb(number, cut) / 2**number
        if outside + 2 * math.comb(number, cut + 1) / 2**number > 1 - coverage:
            break
        cut += 1
    return ordered[cut], ordered[number - 1 - cut]


def time_of(result):
    return result["mean_us" if SHORT <= result["bytes"] <= BUCKET else "time_us"]


def times(rows):
    """{(setting, bytes): {library: {round: us}}} of right results."""
    found = {}
    for row in rows:
        for result in row["results"]:
            if result["wrong"] == 0:
                at = found.setdefault((setting_of(row), result["bytes"]), {}).setdefault(row["library"], {})
                at[row["round"]] = time_of(result)
    return found


def paired_ratios(ours, theirs):
    """Of two {round: us}: the ratios in the rounds that have both."""
    return [ours[number] / theirs[number] for number in sorted(ours.keys() & theirs.keys())]


def rank_peers(by_library):
    """Names of the peers, that with the lowest median time first."""
    medians = {
        name: statistics.median(by_round.values()) for name, by_round in by_library.items() if not name.startswith("hps-")
    }
    return sorted(medians, key=medians.get)


def verdict(library, by_library, is_judged):
    """One row of the table, less what it is about. `ratio` is to the best peer, and to the worst for HPS where HPS is slower."""
    ours = by_library.get(library)
    if not ours:
        best = next(iter(rank_peers(by_library)), None)
        best_us = statistics.median(by_library[best].values()) if best else None
        return {
            "verdict": HPS_FAILED,
            "time_us": None,
            "rounds": 0,
            "best": best,
            "best_us": best_us,
            "ratio": None,
            "interval": None,
        }
    row = {"time_us": statistics.median(ours.values()), "rounds": len(ours)}
    against = []
    for peer in rank_peers(by_library):
        if ratios := paired_ratios(ours, by_library[peer]):
            against.append((peer, statistics.median(ratios), median_interval(ratios), len(ratios)))
    # One that was given up after the first round, being slow, is no rival to those measured in all.
    most = max((number for *_, number in against), default=0)
    against = [rival for rival in against if 2 * rival[3] > most]
    if not against:
        return row | {"verdict": NO_PEER, "best": None, "best_us": None, "ratio": None, "interval": None}
    slower = [rival for rival in against if rival[2][0] > LIMIT]
    peer, ratio, interval, _ = max(slower, key=lambda rival: rival[2][0]) if slower and is_judged else against[0]
    word = NOT_JUDGED if not is_judged else SLOWER if slower else PASSED
    best_us = statistics.median(by_library[peer].values())
    return row | {"verdict": word, "best": peer, "best_us": best_us, "ratio": ratio, "interval": interval}


def verdicts(rows, cores, rate_of):
    """The table: a row for each setting, size and k that HPS was to be measured with. `rate_of` gives bits a second."""
    asked = {(setting_of(row), row["k"]) for row in rows if row["k"] is not None}
    table = []
    for (setting, size), by_library in sorted(times(rows).items(), key=lambda entry: (entry[0][0][::-1], entry[0][1])):
        rate, queue, n = setting
        for k in sorted(k for at, k in asked if at == setting):
            row = verdict(f"hps-k{k}", by_library, size >= SHORT or n <= cores)
            bound = bound_us(n, k, size, rate_of(rate))
            percent = 100 * bound / row["time_us"] if row["time_us"] else None
            table.append(
                {"rate": rate, "queue": queue, "n": n, "k": k, "bytes": size, "bound_us": bound, "percent_of_bound": percent}
                | row
            )
    return table


def failures(rows):
    """{library: {status: how often}} of what was not measured as it should."""
    found = {}
    for row in rows:
        wrong = sum(result["wrong"] for result in row["results"])
        status = row["status"] if row["status"] != "ok" else f"{wrong:.0f} wrong elements" if wrong else None
        if status:
            counts = found.setdefault(row["library"], {})
            counts[status] = counts.get(status, 0) + 1
    return found


# --- Words -----------------------------------------------------------------------------------------------------------


def size_words(size):
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1024 or size % 1024 != 0:
            break
        size //= 1024
    return f"{size} {unit}"


def time_words(us):
    if us is None:
        return "-"
    if us >= 1e6:
        return f"{us / 1e6:.3f} s"
    return f"{us / 1e3:.2f} ms" if us >= 1e3 else f"{us:.0f} us"


HEAD = ("n", "k", "rate", "queue", "size", "HPS", "% of bound", "best peer", "its time", "HPS / peer", "interval", "rounds", "")


def cells(row):
    ratio = "-" if row["ratio"] is None else f"{row['ratio']:.3f}"
    interval = "-" if row["interval"] is None else "{:.2f}-{:.2f}".format(*row["interval"])
    percent = "-" if row["percent_of_bound"] is None or row["percent_of_bound"] < 1 else f"{row['percent_of_bound']:.1f}"
    return (
        str(row["n"]),
        str(row["k"]),
        row["rate"],
        row["queue"],
        size_words(row["bytes"]),
        time_words(row["time_us"]),
        percent,
        row["best"] or "-",
        time_words(row["best_us"]),
        ratio,
        interval,
        str(row["rounds"]),
        row["verdict"],
    )


def text_table(table, rows):
    """The table as text, the failures below it."""
    lines = [HEAD] + [cells(row) for row in table]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    loads = [row["load"] for row in rows if row.get("load") is not None]
    if loads:
        text += [
            "",
            f"Load of the machine during the runs: {min(loads):.1f} to {max(loads):.1f}, median {statistics.median(loads):.1f}",
        ]
    for library, counts in sorted(failures(rows).items()):
        text += [
            f"{library}: {status} ({number} of {sum(row['library'] == library for row in rows)} runs)"
            for status, number in counts.items()
        ]
    return "\n".join(text) + "\n"


def has_failed(table):
    return not table or any(row["verdict"] in (SLOWER, NO_PEER, HPS_FAILED) for row in table)
