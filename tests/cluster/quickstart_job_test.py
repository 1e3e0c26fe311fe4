#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What tools/quickstart-job concludes: the bound, and which results are a failure."""

import importlib.machinery
import importlib.util
import os
import sys
import unittest

sys.dont_write_bytecode = True
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "quickstart-job")
LOADER = importlib.machinery.SourceFileLoader("quickstart_job", PATH)
JOB = importlib.util.module_from_spec(importlib.util.spec_from_loader("quickstart_job", LOADER))
LOADER.exec_module(JOB)


def row(k, weights="a", accuracy=0.98, allreduce="hps"):
    return {"k": k, "weights_fnv1a": weights, "test_accuracy": accuracy, "allreduce": allreduce}


class Bound(unittest.TestCase):
    def test_design_figures(self):
        megabyte_s = 0.08  # 1 MB over 100 Mbit/s.
        for n, k, times in ((4, 0, 1.5), (4, 2, 1.2), (4, 4, 1.0), (4, 9, 1.0), (8, 0, 1.75), (8, 4, 14 / 11), (2, 0, 1.0), (1, 0, 0)):
            self.assertAlmostEqual(JOB.bound_s(n, k, 1e6, 100), times * megabyte_s, msg=f"n={n} k={k}")


class Verdict(unittest.TestCase):
    def test_same_weights_pass_whatever_mpi_gives(self):
        self.assertEqual(JOB.judge([row(0, "m", allreduce="mpi"), row(0), row(2), row(4)]), 0)

    def test_other_weights_fail(self):
        self.assertEqual(JOB.judge([row(0, allreduce="mpi"), row(0), row(2, "b"), row(4)]), 1)

    def test_low_accuracy_fails(self):
        self.assertEqual(JOB.judge([row(0, allreduce="mpi"), row(0), row(2), row(4, accuracy=0.949)]), 1)


if __name__ == "__main__":
    unittest.main(verbosity=0)
