# SPDX-License-Identifier: BSD-3-Clause
"""The charts of bench/compare: percent of bound against k, time against size for every library, and time against k."""

import os
import re
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tools"))
import compare_results as results  # noqa: E402
import svg_chart as svg  # noqa: E402

MAKER = "bench/compare"
UNITS = {"kbit": "kbit/s", "mbit": "Mbit/s", "gbit": "Gbit/s"}
COLORS = dict(zip(results.FAMILIES, ("#b3261e", "#2b6ca3", "#5a9fd4", "#3b7d3b", "#8a5fb0", "#b9770e")))
HPS_COLORS = ("#e2857d", "#c9493f", "#8c1610")  # k = 0, n/2, n
LINE_COLORS = ("#2b6ca3", "#b3261e", "#3b7d3b", "#b9770e", "#8a5fb0", "#3a8f8a", "#7a5230", "#5f6b76")
BYTEPS = svg.Band(90, 95, "BytePS as published: 90 to 95 % of its bound (Jiang et al., OSDI 2020)", "#f3e6c4")


def time_words(us):
    return f"{us / 1e6:g} s" if us >= 1e6 else f"{us / 1e3:g} ms" if us >= 1e3 else f"{us:g} µs"


def spaced(text):
    """100mbit and 30ms as people write them."""
    number, unit = re.fullmatch(r"([\d.]+)(\w+)", text).groups()
    return f"{number} {UNITS.get(unit, unit)}"


def setting_words(setting):
    rate, queue, n = setting
    return f"{n} workers, {spaced(rate)} links, port queues of {spaced(queue)}"


def file_words(setting):
    rate, queue, n = setting
    return f"n{n}-{rate}-{queue}"


# --- Percent of bound against k --------------------------------------------------------------------------------------


def draw_percent(table):
    """The largest size of each setting. None where nothing has a bound worth the name."""
    lines = {}
    for row in table:
        if row["percent_of_bound"] is not None:
            lines.setdefault((row["rate"], row["queue"], row["n"]), {}).setdefault(row["bytes"], []).append(
                (row["k"], row["percent_of_bound"])
            )
    if not lines:
        return None
    series = []
    for index, (setting, by_size) in enumerate(sorted(lines.items(), key=lambda entry: (entry[0][2], entry[0]))):
        rate, queue, n = setting
        largest = max(by_size)
        label = f"n = {n}, {results.size_words(largest)}, {spaced(rate)}, {spaced(queue)}"
        color = LINE_COLORS[index % len(LINE_COLORS)]
        series.append(svg.Series(sorted(by_size[largest]), color, label, has_dots=True))
    values = [percent for one in series for _, percent in one.points]
    most = max(1, max(k for one in series for k, _ in one.points))
    low = min(85, 5 * (min(values) // 5))
    step = 5 if low >= 50 else 10
    axes = (
        svg.Axis("k, CPU-only hosts", 0, most, [(k, str(k)) for k in range(most + 1)]),
        svg.Axis("% of the bound", low, max(100, max(values)), [(at, f"{at:g}") for at in range(int(low), 101, step)]),
    )
    title = "HPS: percent of the bound, the least time that the links allow"
    return svg.chart(
        MAKER,
        title,
        "Largest message of each setting, median over the rounds; label: workers, message, links, port queues.",
        axes,
        series,
        [BYTEPS],
    )


# --- Time against size -----------------------------------------------------------------------------------------------


def curves(at_setting):
    """{library: [(bytes, us)]} of medians over the rounds."""
    found = {}
    for size, by_library in sorted(at_setting.items()):
        for library, by_round in by_library.items():
            found.setdefault(library, []).append((size, statistics.median(by_round.values())))
    return found


def best_of(lines):
    """The lowest of several lines at each size."""
    lowest = {}
    for points in lines:
        for size, us in points:
            lowest[size] = min(us, lowest.get(size, us))
    return sorted(lowest.items())


def draw_sizes(setting, at_setting):
    """Each library is a line; of Open MPI's algorithms, and of a library's transports, thin lines and the best of them."""
    by_library = curves(at_setting)
    ours = sorted((name for name in by_library if name.startswith("hps-")), key=lambda name: int(name[5:]))
    series = []
    for family in results.FAMILIES[1:]:
        lines = [points for name, points in sorted(by_library.items()) if results.family(name) == family]
        if len(lines) > 1:
            series += [svg.Series(points, COLORS[family]) for points in lines]
        if lines:
            label = family + (f", best of {len(lines)}" if len(lines) > 1 else "")
            series.append(svg.Series(best_of(lines), COLORS[family], label))
    for index, name in enumerate(ours):
        color = HPS_COLORS[min(index, len(HPS_COLORS) - 1)]
        series.append(svg.Series(by_library[name], color, f"HPS, k = {name[5:]}", has_dots=True))
    times = [us for points in by_library.values() for _, us in points]
    sizes = sorted(at_setting)
    ticks = svg.decades(min(times), max(times), time_words)
    shown = sizes[:: 1 + (len(sizes) - 1) // 8]
    if len(sizes) < 2:
        return None
    axes = (
        svg.Axis("message", sizes[0], sizes[-1], [(size, results.size_words(size)) for size in shown], is_log=True),
        svg.Axis("time of a call", ticks[0][0], ticks[-1][0], ticks, is_log=True),
    )
    subtitle = "Time of a call, median over the rounds. Thin lines: an algorithm or transport forced. Lower is better."
    return svg.chart(MAKER, f"All-reduce: {setting_words(setting)}", subtitle, axes, series)


# --- Time against k --------------------------------------------------------------------------------------------------


def draw_k(setting, at_setting):
    """The largest size; peers cannot use CPU-only hosts, so each is a level."""
    largest = max(at_setting)
    medians = {name: statistics.median(by_round.values()) for name, by_round in at_setting[largest].items()}
    ours = sorted((int(name[5:]), us) for name, us in medians.items() if name.startswith("hps-"))
    if len(ours) < 2:
        return None
    most = ours[-1][0]
    series = []
    for family in results.FAMILIES[1:]:
        times = [us for name, us in medians.items() if results.family(name) == family]
        if times:
            series.append(svg.Series([(0, min(times)), (most, min(times))], COLORS[family], family, "5 4"))
    series.append(svg.Series(ours, COLORS["HPS"], "HPS", has_dots=True))
    highest = max(us for one in series for _, us in one.points)
    step = next(base * 10.0**power for power in range(9) for base in (1, 2, 5) if highest / (base * 10.0**power) <= 6)
    ticks = [(step * index, time_words(step * index) if index else "0") for index in range(int(highest / step) + 2)]
    axes = (
        svg.Axis("k, CPU-only hosts beside the workers", 0, most, [(k, str(k)) for k in range(most + 1)]),
        svg.Axis("time of a call", 0, ticks[-1][0], ticks),
    )
    title = f"All-reduce of {results.size_words(largest)}: {setting_words(setting)}"
    subtitle = "Peers have no use for CPU-only hosts: each library's best stands as a level. Lower is better."
    return svg.chart(MAKER, title, subtitle, axes, series)


def draw_all(table, rows):
    """{file name: SVG}."""
    by_setting = {}
    for (setting, size), by_library in results.times(rows).items():
        by_setting.setdefault(setting, {})[size] = by_library
    pictures = {"percent-of-bound.svg": draw_percent(table)}
    for setting, at_setting in sorted(by_setting.items()):
        pictures[f"time-size-{file_words(setting)}.svg"] = draw_sizes(setting, at_setting)
        pictures[f"time-k-{file_words(setting)}.svg"] = draw_k(setting, at_setting)
    return {name: picture for name, picture in pictures.items() if picture}
