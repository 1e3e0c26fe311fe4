#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What bench/compare concludes from measurements, how it goes on after a stop, and that its charts are well-formed."""

import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(TOP, "bench"))
import compare_charts as charts  # noqa: E402
import compare_results as results  # noqa: E402

LOADER = importlib.machinery.SourceFileLoader("compare", os.path.join(TOP, "bench", "compare"))
COMPARE = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", LOADER))
LOADER.exec_module(COMPARE)

SETTING = ("100mbit", "30ms", 4)
CORES = 2


def row(library, number, by_size, status="ok", wrong=0):
    """A line of results.jsonl."""
    rate, queue, n = SETTING
    measured = [{"bytes": size, "time_us": us, "mean_us": us, "iterations": 3, "wrong": wrong} for size, us in by_size.items()]
    k = int(library[5:]) if library.startswith("hps-") else None
    return {
        "rate": rate,
        "queue": queue,
        "n": n,
        "round": number,
        "library": library,
        "k": k,
        "status": status,
        "load": 1.0,
        "results": measured,
    }


def verdicts_of(rows):
    return results.verdicts(rows, CORES, COMPARE.bits_per_second)


def one_verdict(ours, theirs, size=1 << 20, peer="mpich-ofi"):
    """Of times by round."""
    rows = [row("hps-k0", number, {size: us}) for number, us in enumerate(ours)]
    return verdicts_of(rows + [row(peer, number, {size: us}) for number, us in enumerate(theirs)])[0]


class Interval(unittest.TestCase):
    def test_of_few_values_from_least_to_largest(self):
        self.assertEqual(results.median_interval([3]), (3, 3))
        self.assertEqual(results.median_interval([2, 1, 3]), (1, 3))
        self.assertEqual(results.median_interval([5, 1, 4, 2, 3]), (1, 5))

    def test_of_eight_values_without_the_outermost(self):
        # Both ends fail with probability 2 * (1 + 8) / 2**8 = 7 %; of seven values it would be 12.5 %.
        self.assertEqual(results.median_interval(range(8)), (1, 6))
        self.assertEqual(results.median_interval(range(7)), (0, 6))

    def test_of_many_values_narrow(self):
        low, high = results.median_interval(range(1001))
        self.assertLess(high - low, 60)
        self.assertEqual(low + high, 1000)


class Verdict(unittest.TestCase):
    def test_ratios_are_paired_by_round(self):
        self.assertEqual(results.paired_ratios({0: 2, 1: 30, 3: 1}, {0: 1, 1: 10, 2: 7}), [2, 3])

    def test_slow_rounds_that_both_meet_do_not_count(self):
        found = one_verdict([100, 200, 400], [100, 200, 400])
        self.assertEqual((found["verdict"], found["ratio"], found["interval"]), (results.PASSED, 1, (1, 1)))

    def test_slower_where_the_interval_lies_above(self):
        self.assertEqual(one_verdict([106, 107, 108], [100, 100, 100])["verdict"], results.SLOWER)
        self.assertEqual(one_verdict([104, 107, 108], [100, 100, 100])["verdict"], results.PASSED)

    def test_slower_than_any_peer_is_slower(self):
        rows = [row("hps-k2", number, {1 << 20: us}) for number, us in enumerate((110, 110, 110))]
        rows += [row("gloo-ring", number, {1 << 20: us}) for number, us in enumerate((90, 90, 120))]
        rows += [row("intel-ofi", number, {1 << 20: us}) for number, us in enumerate((100, 100, 100))]
        found = verdicts_of(rows)[0]
        self.assertEqual((found["verdict"], found["best"], found["k"]), (results.SLOWER, "intel-ofi", 2))
        self.assertTrue(results.has_failed([found]))

    def test_short_messages_are_not_judged_where_ranks_share_cores(self):
        self.assertEqual(one_verdict([200], [100], size=8)["verdict"], results.NOT_JUDGED)
        self.assertEqual(one_verdict([200], [100], size=4096)["verdict"], results.SLOWER)

    def test_short_messages_are_judged_where_each_rank_has_a_core(self):
        rows = [row("hps-k0", 0, {8: 200}), row("mpich-ofi", 0, {8: 100})]
        self.assertEqual(results.verdicts(rows, 4, COMPARE.bits_per_second)[0]["verdict"], results.SLOWER)

    def test_messages_that_fit_the_bucket_are_judged_by_the_mean(self):
        by_size = {256: 10, 16 << 10: 20, 1 << 20: 10}
        rows = [row("hps-k0", 0, dict.fromkeys(by_size, 10))]
        rows[0]["results"] = [result | {"mean_us": 20} for result in rows[0]["results"]]
        self.assertEqual({entry["bytes"]: entry["time_us"] for entry in verdicts_of(rows)}, by_size)

    def test_what_is_missing_is_told(self):
        self.assertEqual(one_verdict([100], [])["verdict"], results.NO_PEER)
        rows = [row("hps-k0", 0, {}, status="hung"), row("mpich-ofi", 0, {1 << 20: 100})]
        self.assertEqual(verdicts_of(rows)[0]["verdict"], results.HPS_FAILED)
        self.assertIn("hps-k0: hung (1 of 1 runs)", results.text_table(verdicts_of(rows), rows))
        self.assertTrue(results.has_failed([]))

    def test_wrong_results_do_not_count(self):
        rows = [
            row("hps-k0", 0, {1 << 20: 100}),
            row("gloo-ring", 0, {1 << 20: 50}, wrong=7),
            row("gloo-bcube", 0, {1 << 20: 100}),
        ]
        self.assertEqual(verdicts_of(rows)[0]["best"], "gloo-bcube")
        self.assertEqual(results.failures(rows), {"gloo-ring": {"7 wrong elements": 1}})

    def test_a_peer_given_up_after_the_first_round_is_no_rival(self):
        rows = [row("hps-k0", number, {1 << 20: 100}) for number in range(5)]
        rows += [row("gloo-ring", number, {1 << 20: 100}) for number in range(5)] + [row("intel-ofi", 0, {1 << 20: 50})]
        found = verdicts_of(rows)[0]
        self.assertEqual((found["verdict"], found["best"]), (results.PASSED, "gloo-ring"))

    def test_only_slow_peers_and_long_calls_are_given_up(self):
        measured = {"hps-k0": 1e6, "gloo-ring": 1e5, "mpich-ofi": 1.9e5, "intel-ofi": 2.1e5}
        self.assertEqual(results.too_slow(measured, 2), {"intel-ofi"})
        self.assertEqual(results.too_slow(measured, 0), set())
        self.assertEqual(results.too_slow({"gloo-ring": 10, "intel-ofi": 1000}, 2), set())


class Sizes(unittest.TestCase):
    def test_from_the_largest_down(self):
        self.assertEqual(results.sizes_between(8, 16 << 20, 4), [8] + [4**power for power in range(2, 13)])
        self.assertEqual(results.sizes_between(8, 8, 4), [8])

    def test_cpu_only_hosts(self):
        self.assertEqual([results.cpu_only_counts(n) for n in (2, 3, 4, 8)], [[0, 1, 2], [0, 1, 3], [0, 2, 4], [0, 4, 8]])

    def test_bound(self):
        for n, k, times in ((4, 0, 1.5), (4, 2, 1.2), (4, 4, 1.0), (4, 9, 1.0), (8, 4, 14 / 11), (2, 0, 1.0), (2, 2, 1.0)):
            self.assertAlmostEqual(results.bound_us(n, k, 1000, 8e6), times * 1000, msg=f"n={n} k={k}")


class Resume(unittest.TestCase):
    def options(self, *arguments):
        return COMPARE.parse_arguments(["-n", "4", "--queue", "30ms", "--rounds", "2", *arguments])

    def test_all_libraries_in_each_round(self):
        plan = COMPARE.plan_of(self.options(), SETTING)
        names = {"hps-k0", "hps-k2", "hps-k4"} | set(results.peers())
        self.assertEqual([{key[4] for key in plan if key[3] == number} for number in (0, 1)], [names, names])
        self.assertEqual(len(plan), 2 * len(names))

    def test_goes_on_after_what_is_there(self):
        plan = COMPARE.plan_of(self.options("--libraries", "gloo", "-k", "0"), SETTING)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.jsonl")
            self.assertEqual(results.remaining(plan, results.read(path)), plan)
            for *_, number, library in plan[:2]:
                results.append(path, row(library, number, {8: 1}))
            self.assertEqual(results.remaining(plan, results.read(path)), plan[2:])

    def test_a_torn_line_is_done_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.jsonl")
            results.append(path, row("gloo-ring", 0, {8: 1}))
            with open(path, "a", encoding="utf-8") as file:
                file.write('{"rate": "100mb')
            results.append(path, row("gloo-bcube", 0, {8: 1}))
            self.assertEqual([entry["library"] for entry in results.read(path)], ["gloo-ring", "gloo-bcube"])

    def test_failed_runs_are_retried_when_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.jsonl")
            results.append(path, row("gloo-ring", 0, {8: 1}))
            results.append(path, row("gloo-bcube", 0, {}, status="hung"))
            COMPARE.take_failed_out(path)
            self.assertEqual([entry["library"] for entry in results.read(path)], ["gloo-ring"])


class Charts(unittest.TestCase):
    def test_well_formed_and_complete(self):
        rows = []
        for number in range(3):
            for place, library in enumerate(["hps-k0", "hps-k2", "hps-k4", *results.peers()]):
                rows.append(row(library, number, {8: 20 + place, 16 << 10: 2000 + place, 1 << 20: 130000 - 10 * place}))
        pictures = charts.draw_all(verdicts_of(rows), rows)
        names = ["percent-of-bound.svg", "time-k-n4-100mbit-30ms.svg", "time-size-n4-100mbit-30ms.svg"]
        self.assertEqual(sorted(pictures), names)
        for picture in pictures.values():
            self.assertEqual(xml.etree.ElementTree.fromstring(picture).tag, "{http://www.w3.org/2000/svg}svg")
        self.assertIn("Jiang et al., OSDI 2020", pictures[names[0]])
        for family in results.FAMILIES:
            self.assertIn(f">{family}", pictures[names[2]])

    def test_one_size_and_no_peer_draw_what_they_can(self):
        rows = [row("hps-k0", 0, {1 << 20: 130000})]
        self.assertEqual(list(charts.draw_all(verdicts_of(rows), rows)), ["percent-of-bound.svg"])


class Words(unittest.TestCase):
    def test_hps_perf_means(self):
        table = "# hps_perf 1\n#  bytes median_us mean_us min_us\n   8   69.2   82.7  60\n  64  84.0  91.3  80\n"
        self.assertEqual(COMPARE.mean_times(table), {8: 82.7, 64: 91.3})

    def test_the_telling_line_of_a_failure(self):
        self.assertEqual(COMPARE.reason("-----\nw0: hello\nPML ucx cannot be selected\nbye\n"), "PML ucx cannot be selected")
        self.assertEqual(COMPARE.reason(""), "no message")


if __name__ == "__main__":
    unittest.main(verbosity=0)
