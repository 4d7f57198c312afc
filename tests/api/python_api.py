#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python module with nothing but Python's own arrays; with NumPy too where it is installed."""
import array
import ctypes
import pathlib
import struct
import sys
import unittest

import warplens

PTX = pathlib.Path(sys.argv.pop(1))


class Axpy(unittest.TestCase):
    def setUp(self):
        self.module = warplens.load(PTX)
        self.axpy = self.module["axpy"]
        self.x = array.array("f", range(200))
        self.y = array.array("f", [1000 - 3 * i for i in range(200)])

    def test_computes_and_counts(self):
        result = self.axpy(4, 64, 200, 2.0, self.x, self.y)
        self.assertTrue(result.complete)
        self.assertEqual(list(self.y), [1000 - i for i in range(200)])
        self.assertEqual(list(self.x), list(range(200)))
        # 6 full warps of 4 sectors and one of 8 lanes, 1 sector; two loads, one store.
        self.assertEqual((result.global_read.requests, result.global_read.sectors), (14, 50))
        self.assertEqual((result.global_write.requests, result.global_write.sectors), (7, 25))
        self.assertEqual((result.requests, result.sectors), (21, 75))
        self.assertEqual(result.shared_read, warplens.Counters())
        self.assertEqual(result.instructions, 8 * 10 + 7 * 7 + 8)
        self.assertEqual((result.lines[0].file, result.lines[0].line), ("axpy.cu", 4))
        self.assertEqual(result.lines[0].global_memory.sectors, 75)
        self.assertIn("axpy  grid 4, block 64, 1 launch", str(result))
        self.assertEqual(result.json()["kernels"][0]["short_name"], "axpy")

    def test_a_sample_of_the_blocks(self):
        x, y = array.array("f", range(8192)), array.array("f", [0] * 8192)
        exact = self.axpy(64, 128, 8192, 2.0, x, y)
        self.assertIsNone(exact.sample)
        self.assertEqual(exact.global_read.errors["sectors"], 0)
        some = self.axpy(64, 128, 8192, 2.0, x, y, sample=0.25, sample_seed=4)
        self.assertEqual(list(y), [4.0 * i for i in range(8192)])  # both launches ran whole
        self.assertEqual(some.sample, warplens.Sample(0.25, 4, 18, 64, True))
        # All blocks do the same, so nothing is lost.
        self.assertEqual(some.global_read, exact.global_read)
        self.assertEqual(some.global_read.errors["sectors"], 0)
        # Now the first half of the blocks only: what is amiss is within the stratum of 8 blocks, of 8 sectors, that the
        # end falls in.
        exact = self.axpy(512, 32, 8192, 2.0, x, y)
        some = self.axpy(512, 32, 8192, 2.0, x, y, sample=0.25, sample_seed=1)
        error = some.global_read.errors["sectors"]
        self.assertEqual(exact.global_read.sectors, 256 * 8)
        self.assertLessEqual(abs(some.global_read.sectors - exact.global_read.sectors), 4 * 8)
        self.assertLessEqual(error, 8 * 8)
        total = some.global_read + some.global_write
        self.assertEqual(total.errors["sectors"], error + some.global_write.errors["sectors"])
        self.assertEqual(sum(line.global_memory.errors["sectors"] for line in some.lines), total.errors["sectors"])
        for share in (0, -1, 1.5, float("nan")):
            with self.assertRaisesRegex(warplens.Error, "above 0 and up to 1"):
                self.axpy(64, 128, 8192, 2.0, x, y, sample=share)

    def test_has_every_counter_of_the_report(self):
        place = bytearray(4)
        for arguments, kernel in (((4, 64, 200, 2.0, self.x, self.y), self.axpy),
                                  ((66, 64, place), self.module["one_place"]),
                                  ((66, 64, place), self.module["one_place"])):
            result = kernel(*arguments, sample=0.5 if kernel is self.axpy else 1.0)
            group = result.json()["kernels"][0]["launch_groups"][0]
            for traffic in group["totals"]["memory"]:
                self.compare(getattr(result, f"{traffic['memory']}_{traffic['kind']}"), traffic)
            self.compare(result, {k: v for k, v in group["totals"].items() if k != "memory"})
            for line, row in zip(result.lines, group["lines"]):
                self.assertEqual((line.line, line.instructions, line.lanes, line.text),
                                 (row["line"], row["ptx_instructions"], row["active_lanes"], row["text"]))
            self.compare_occupancy(result.occupancy, group["occupancy"])
        self.assertEqual(struct.unpack("f", place)[0], 2 * 66 * 64)
        self.assertEqual(result.global_atomic.repeated_sectors, 132 * 31)
        self.assertIn("repeated_sectors=4092", repr(result.global_atomic + result.global_read))
        self.assertEqual(result.occupancy.waves, 66 / (132 * 32))

    OTHER_NAMES = {"active_lanes": "lanes", "ptx_instructions": "instructions"}
    # Ratios and multiples of others, and words.
    DERIVED = {"memory", "kind", "sectors_per_request", "wavefronts_per_request", "bytes_moved"}

    def compare(self, ours, report):
        """Every member of an object of the report must be an attribute, or derived from such."""
        for key, value in report.items():
            name = self.OTHER_NAMES.get(key, key)
            if key == "standard_error":
                for of, error in value.items():
                    if of not in self.DERIVED:
                        self.assertEqual(ours.errors[self.OTHER_NAMES.get(of, of)], error, of)
            elif key == "exactness":
                self.assertEqual(ours.estimate, value == "estimate")
            elif key not in self.DERIVED:
                self.assertEqual(getattr(ours, name), value, key)

    def compare_occupancy(self, ours, report):
        for key, value in report.items():
            if key == "block_limits":
                for resource, limit in value.items():
                    self.assertEqual(getattr(ours, f"limit_{resource}"), limit, resource)
            elif key.endswith("_exactness"):
                self.assertEqual(getattr(ours, key.replace("exactness", "estimated")), value == "estimate")
            else:
                self.assertEqual(getattr(ours, key), value, key)

    def test_the_oracle_counts_the_same(self):
        oracle = warplens.Session(counting="oracle").load(PTX)["axpy"]
        slow = oracle(4, 64, 200, 2.0, self.x, self.y)
        fast = self.axpy(4, 64, 200, 2.0, self.x, self.y)
        self.assertEqual(slow.global_read, fast.global_read)
        self.assertEqual(slow.global_write, fast.global_write)
        with self.assertRaisesRegex(warplens.Error, "takes no sample"):
            oracle(4, 64, 200, 2.0, self.x, self.y, sample=0.5)
        with self.assertRaisesRegex(warplens.Error, "fast or oracle"):
            warplens.Session(counting="roughly")

    def test_arrays_of_all_kinds(self):
        for x, y in ((memoryview(self.x), memoryview(self.y)), (bytes(self.x), bytearray(self.y)),
                     ((ctypes.c_float * 200)(*self.x), (ctypes.c_float * 200)(*self.y))):
            self.axpy((4, 1, 1), (64,), 200, 2, x, y)
            self.assertEqual(struct.unpack("200f", bytes(y)), tuple(1000.0 - i for i in range(200)))

    def test_an_array_given_twice_is_one(self):
        self.axpy(4, 64, 200, 1.0, self.x, self.x)
        self.assertEqual(list(self.x), [2 * i for i in range(200)])

    def test_tensors_by_their_methods(self):
        class Device:
            type = "cpu"

        class Tensor:
            device = Device

            def __init__(self, values):
                self.values = (ctypes.c_float * len(values))(*values)

            def data_ptr(self):
                return ctypes.addressof(self.values)

            def numel(self):
                return len(self.values)

            def element_size(self):
                return 4

            def is_contiguous(self):
                return True

        y = Tensor(self.y)
        self.axpy(4, 64, 200, 2.0, Tensor(self.x), y)
        self.assertEqual(list(y.values), [1000 - i for i in range(200)])

    def test_array_interface(self):
        class Interface:
            def __init__(self, values, strides=None):
                self.values = values
                self.__array_interface__ = {"data": (ctypes.addressof(values), False), "shape": (100, 2),
                                            "typestr": "<f4", "strides": strides, "version": 3}

        y = (ctypes.c_float * 200)(*self.y)

        class Hidden(Interface):  # without the buffer protocol
            pass

        self.axpy(4, 64, 200, 2.0, self.x, Hidden(y, (8, 4)))
        self.assertEqual(list(y), [1000 - i for i in range(200)])
        with self.assertRaisesRegex(warplens.Error, "contiguous"):
            self.axpy(4, 64, 200, 2.0, self.x, Hidden(y, (4, 400)))

    def test_faults_are_findings(self):
        result = self.axpy(4, 64, 256, 2.0, self.x, self.y)
        self.assertFalse(result.complete)
        finding = result.findings[0]
        self.assertEqual(finding.kind, "out of bounds")
        self.assertEqual((finding.file, finding.line, finding.block, finding.thread),
                         ("axpy.cu", 4, (3, 0, 0), (8, 0, 0)))
        null = self.axpy(4, 64, 200, 2.0, None, self.y)
        self.assertEqual(null.findings[0].kind, "null pointer")

    def test_uncounted_and_time_limit(self):
        self.assertEqual(self.axpy(4, 64, 200, 2.0, self.x, self.y, count=False).requests, 0)
        self.assertIn("time limit", self.module["endless"](1, 32, timeout=0.2).findings[0].message)

    def test_names(self):
        self.assertEqual(len(self.module.kernels), 7)
        self.assertEqual(self.axpy.demangled, "axpy(int, float, float const*, float*)")
        self.assertEqual([p.type for p in self.axpy.parameters], ["u32", "f32", "u64", "u64"])
        with self.assertRaisesRegex(warplens.Error, "could be 2 kernels"):
            self.module["sum"]
        with self.assertRaisesRegex(warplens.Error, "no kernel 'gemm'"):
            self.module["gemm"]

    def test_structures_and_untyped_bits(self):
        out = array.array("i", [0])
        self.module["pair"](1, 1, struct.pack("ii", 10, 3), out)
        self.assertEqual(out[0], 7)
        out = bytearray(16)
        self.module["halves"](1, 1, 1.5, out, -2.0)  # .b16 and .b64 take what is given
        self.assertEqual((out[:2], out[8:]), (struct.pack("e", 1.5), struct.pack("d", -2.0)))
        self.module["halves"](1, 1, 0x1234, out, -1)
        self.assertEqual((out[:2], out[8:]), (b"\x34\x12", b"\xff" * 8))
        self.module["halves"](1, 1, warplens.scalar("bf16", 1.00390625), out, warplens.scalar("i64", 3))
        self.assertEqual(out[:2], b"\x80\x3f")  # a tie: to the even 1.0
        self.module["halves"](1, 1, warplens.scalar("bf16", 1.01171875), out, 0)
        self.assertEqual(out[:2], b"\x82\x3f")  # a tie: up to the even 1.015625

    def test_wrong_arguments(self):
        for arguments, text in (((200, 2.0, self.x), "has 4 parameters .* and 3 arguments"),
                                ((2.5, 2.0, self.x, self.y), "no whole number"),
                                ((2**32, 2.0, self.x, self.y), "does not fit"),
                                ((200, "2", self.x, self.y), "neither an array nor a number"),
                                ((self.x, 2.0, self.x, self.y), "array of 800 bytes"),
                                ((200, warplens.scalar("f64", 2), self.x, self.y), "has 4 bytes"),
                                ((200, 2.0, self.x, memoryview(self.y)[::2]), "contiguous")):
            with self.assertRaisesRegex(warplens.Error, text):
                self.axpy(4, 64, *arguments)
        with self.assertRaisesRegex(warplens.Error, "over the limits"):
            self.axpy(4, 2048, 200, 2.0, self.x, self.y)
        with self.assertRaisesRegex(warplens.Error, "grid is one to three"):
            self.axpy((1, 2, 3, 4), 64, 200, 2.0, self.x, self.y)
        with self.assertRaisesRegex(warplens.Error, "does not fit in u8"):
            warplens.scalar("u8", 256)
        with self.assertRaisesRegex(warplens.Error, "unknown type 'float'"):
            warplens.scalar("float", 1)
        with self.assertRaisesRegex(warplens.Error, "<ptx>:1:"):
            warplens.loads("garbage")
        with self.assertRaisesRegex(warplens.Error, "no GPU 'abacus'"):
            warplens.Session(gpu="abacus")

    def test_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        x, y = numpy.arange(200, dtype=numpy.float32), numpy.ones((10, 20), numpy.float32)
        self.axpy(4, 64, numpy.int32(200), numpy.float32(2), x, y)
        self.assertTrue((y.reshape(-1) == 2 * x + 1).all())
        with self.assertRaisesRegex(warplens.Error, "contiguous"):
            self.axpy(4, 64, 100, 2.0, x[::2], y)


class Styles(unittest.TestCase):
    """PTX as different compilers lay it out: loads, computes, counts."""

    def kernel(self, name):
        kernels = warplens.load(PTX.parent / "styles" / name).kernels
        self.assertEqual(len(kernels), 1)
        return kernels[0]

    def test_nvcc_12(self):
        x, sums = array.array("f", range(300)), array.array("f", [0] * 3)
        result = self.kernel("nvcc12.ptx")(3, 128, x, sums, 300)
        self.assertEqual(list(sums), [sum(range(0, 128)), sum(range(128, 256)), sum(range(256, 300))])
        # 300 elements: 9 full warps of 4 sectors and one of 12 lanes, 2 sectors.
        self.assertEqual((result.global_read.requests, result.global_read.sectors), (10, 38))
        self.assertEqual(result.global_write.requests, 3)
        self.assertEqual(result.lines[0].file, "/home/someone/sum.cu")

    def test_nvcc_13(self):
        kernel = self.kernel("nvcc13.ptx")
        x, y = array.array("f", range(512)), array.array("f", [0] * 512)
        result = kernel(2, 64, y, x, 2.0)
        self.assertEqual(list(y), [2 * v + (1 if v % 4 == 2 else 0) for v in range(512)])
        # 16 bytes a lane: 16 sectors a warp.
        self.assertEqual((result.global_read.requests, result.global_read.sectors), (4, 64))
        with self.assertRaisesRegex(warplens.Error, "demands 64,1,1"):
            kernel(2, 32, y, x, 2.0)

    def test_clang(self):
        out = array.array("i", [0] * 40)
        result = self.kernel("clang.ptx")(1, 64, struct.pack("ii", 3, 40), out)
        self.assertEqual(list(out), [(t + 3) ** 2 - 3 for t in range(40)])
        self.assertEqual((result.global_write.requests, result.global_write.sectors), (2, 5))
        self.assertEqual(result.lines[0].file.rsplit("/", 1)[-1], "squares.cu")

    def test_triton(self):
        x, y, out = array.array("f", range(1000)), array.array("f", range(0, 2000, 2)), array.array("f", [0] * 1000)
        result = self.kernel("triton.ptx")(2, 128, x, y, out, 1000, None, None)
        self.assertEqual(list(out), [3 * i for i in range(1000)])
        # 16 bytes a lane; 1000 elements are 7 full warps and one of 26 lanes, 13 sectors.
        self.assertEqual((result.global_read.requests, result.global_read.sectors), (16, 2 * (7 * 16 + 13)))
        self.assertEqual((result.global_write.requests, result.global_write.sectors), (8, 7 * 16 + 13))
        self.assertEqual({line.file for line in result.lines if line.global_memory.requests}, {"/home/someone/add.py"})

    def test_numba(self):
        def numba_array(a):
            return [None, None, len(a), a.itemsize, a, len(a), a.itemsize]

        x, y = array.array("f", range(100)), array.array("f", [1] * 100)
        result = self.kernel("numba.ptx")(2, 64, 2.0, *numba_array(x), *numba_array(y))
        self.assertEqual(list(y), [2 * i + 1 for i in range(100)])
        self.assertEqual((result.global_read.requests, result.global_read.sectors), (8, 2 * (3 * 4 + 1)))

    def test_nvrtc(self):
        data = array.array("i", range(20))
        result = self.kernel("nvrtc.ptx")(1, 32, data, 20)
        self.assertEqual(list(data), [i + 1 + i % 4 for i in range(20)])
        self.assertEqual(result.constant_read.requests, 1)


if __name__ == "__main__":
    unittest.main()
