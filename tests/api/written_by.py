#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels as Triton, Numba and NVRTC wrote them (tests/data/written_by) run and give what plain Python computes."""
import array
import math
import pathlib
import random
import sys
import unittest

import warplens

FOLDER = pathlib.Path(sys.argv.pop(1))


def floats(count, seed):
    numbers = random.Random(seed)
    return array.array("f", [numbers.uniform(-2, 2) for _ in range(count)])


def numba_array(a):
    """A one-dimensional Numba array as its kernel takes it."""
    return [None, None, len(a), a.itemsize, a, len(a), a.itemsize]


class WrittenBy(unittest.TestCase):
    def close(self, got, want, tolerance=1e-6):
        self.assertEqual(len(got), len(want))
        for i, (g, w) in enumerate(zip(got, want)):
            self.assertAlmostEqual(g, w, delta=tolerance * max(1, abs(w)), msg=f"element {i}")

    def test_triton_scale_add(self):
        x, y, out = floats(1000, 1), floats(1000, 2), array.array("f", bytes(4000))
        kernel = warplens.load(FOLDER / "triton_scale_add.ptx")["scale_add"]
        result = kernel(8, 128, x, y, out, 1000, 2.0, None, None)
        self.close(out, [2.0 * a + b for a, b in zip(x, y)])
        # Each lane moves 4 bytes of neighbouring addresses: 125 sectors of 32 bytes an array.
        self.assertEqual((result.global_read.sectors, result.global_write.sectors), (250, 125))

    def test_triton_row_softmax(self):
        rows, columns = 16, 300
        x, out = floats(rows * columns, 3), array.array("f", bytes(4 * rows * columns))
        kernel = warplens.load(FOLDER / "triton_row_softmax.ptx")["row_softmax"]
        kernel(rows, 128, x, out, columns, None, None, shared=16)
        for r in range(rows):
            e = [math.exp(v) for v in x[r * columns:(r + 1) * columns]]
            self.close(out[r * columns:(r + 1) * columns], [v / sum(e) for v in e], 1e-5)

    def test_numba_axpy(self):
        for name in ("numba_axpy.ptx", "numba_axpy_debug.ptx"):
            x, y = floats(500, 4), floats(500, 5)
            want = [3.0 * a + b for a, b in zip(x, y)]
            kernel = warplens.load(FOLDER / name).kernels[0]
            kernel(4, 128, *numba_array(x), *numba_array(y), 3.0)
            self.close(y, want)

    def test_numba_block_sum(self):
        x, out = floats(512, 6), array.array("f", [0.0])
        kernel = warplens.load(FOLDER / "numba_block_sum.ptx").kernels[0]
        kernel(4, 128, *numba_array(x), *numba_array(out))
        self.close(out, [sum(x)], 1e-4)

    def test_nvrtc(self):
        module = warplens.load(FOLDER / "nvrtc_twice.ptx")
        x = floats(100, 7)
        want = [2 * v for v in x]
        module["nvrtc_twice"](1, 128, x, 100)
        self.close(x, want)
        a, b = array.array("i", range(64)), array.array("i", [0] * 64)
        module["shifted"](1, 64, a, b, 64)
        self.assertEqual(list(b), list(range(3, 64)) + [0, 0, 0])


if __name__ == "__main__":
    unittest.main()
