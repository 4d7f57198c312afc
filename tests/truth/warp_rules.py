#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds rules for what one warp's accesses cost against what an H200 counted for them (truth/h200/warps_*.csv).

usage: warp_rules.py FOLDER-OF-TABLES; prints each rule with the rows that agree; exit code 1 when one does not.

The rules are those of src/memory/coalescer.cpp, written a second time; warp_counts.py compares our counters themselves.
"""
import csv
import sys
from collections import Counter

FULL = 0xFFFFFFFF


def patterns():
    """Lane -> place in elements, and the active lanes, as `patterns` in truth/src/warp_costs.cu lays them out."""
    state = 9

    def random(shift):
        nonlocal state
        out = []
        for _ in range(32):
            state = (state * 1664525 + 1013904223) % 2**32
            out.append(state >> shift)
        return out

    lanes = range(32)
    full = {
        "unit": [l for l in lanes], "same": [0] * 32, "pairs": [l // 2 for l in lanes],
        "quads": [l // 4 for l in lanes], "halves": [l // 16 for l in lanes],
        "alternate2": [l % 2 for l in lanes], "alternate4": [l % 4 for l in lanes],
        "alternate16": [l % 16 for l in lanes], "half_same": [0 if l < 16 else l for l in lanes],
        "two_same": [0 if l == 1 else l for l in lanes], "eights": [0 if l < 8 else 8 if l < 16 else l for l in lanes],
        "stride2": [2 * l for l in lanes], "stride3": [3 * l for l in lanes], "stride8": [8 * l for l in lanes],
        "stride32": [32 * l for l in lanes], "stride32_pairs": [32 * (l // 2) for l in lanes],
        "reversed": [31 - l for l in lanes], "xor5": [l ^ 5 for l in lanes],
        "xor2_only": [(l >> 2 << 1) | (l & 1) for l in lanes], "random64": random(26), "random8": random(29),
        "random512": random(23), "offset1": [l + 1 for l in lanes],
    }
    out = {name: (at, FULL) for name, at in full.items()}
    masks = {"low_half": 0xFFFF, "odd": 0xAAAAAAAA, "first": 1, "bytes": 0x00FF00FF, "pairs_of_four": 0x33333333,
             "all_but_one": 0xFFFFFFFE}
    for mask_name, mask in masks.items():
        for name in ("unit", "same", "pairs", "stride8", "xor2_only"):
            out[f"{name}_{mask_name}"] = (full[name], mask)
    return out


def lanes_of(mask):
    return [l for l in range(32) if mask >> l & 1]


def places(pattern):
    at, mask = pattern
    return [at[l] for l in lanes_of(mask)]


def groups(width):
    """The lanes that shared memory serves together."""
    size = 32 if width <= 4 else 128 // width
    return [range(first, first + size) for first in range(0, 32, size)]


def sectors(pattern, width):
    return len({place * width // 32 for place in places(pattern)})


def sectors_of_global_atomic(pattern, width):
    """Each sector as often as the most lanes on one place in it."""
    most = {}
    for place, lanes in Counter(places(pattern)).items():
        sector = place * width // 32
        most[sector] = max(most.get(sector, 0), lanes)
    return sum(most.values())


def local_sectors(pattern, width):
    """Word w of lane l lies at byte (w * 32 + l) * 4."""
    at, mask = pattern
    each = width // 4
    return len({(at[l] % 256 // each * each + w, l // 8) for l in lanes_of(mask) for w in range(each)})


def lanes_on_one_bank(pattern, width):
    """In each group of lanes the most on one bank, those on equal places counted each."""
    at, mask = pattern
    total = 0
    for group in groups(width):
        banks = Counter(at[l] * width // 4 % 32 for l in group if mask >> l & 1)
        total += max(banks.values(), default=0)
    return total


def passes(pattern, width, load):
    """Different words of one bank, in groups that pair up for loads whose neighbours ask for the same."""
    at, mask = pattern
    active = lanes_of(mask)
    agree = [all(at[l] == at[l ^ d] for l in active if mask >> (l ^ d) & 1) for d in (1, 2)]
    served = groups(width)
    if load and width > 4 and any(agree):
        served = [list(a) + list(b) for a, b in zip(served[::2], served[1::2])]
    total = 0
    for group in served:
        words = {(at[l] * width + 4 * w) // 4 for l in group if mask >> l & 1 for w in range(max(1, width // 4))}
        total += max(Counter(w % 32 for w in words).values(), default=0)
    return total


def retries(pattern, width):
    """A loop: those that are left load, and try to compare and swap. Of the lanes on one bank the lowest tries; it fails
    when the value changed in the same round. Returns the passes of the swaps and of the loads."""
    at, left = pattern
    swaps = loads = 0
    while left:
        loads += passes((at, left), width, True)
        changed, done = set(), 0
        for group in groups(width):
            lanes = [l for l in group if left >> l & 1]
            swaps += 2 if lanes else 0
            busy = set()
            for lane in lanes:
                bank = at[lane] * width // 4 % 32
                if bank in busy:
                    continue
                busy.add(bank)
                if at[lane] not in changed:
                    changed.add(at[lane])
                    done |= 1 << lane
        left &= ~done
    return swaps, loads


def matrix_rows(pattern, matrices):
    """Lanes 0 to 8 * matrices - 1, eight at a time: rows of 16 bytes, which never share a pass."""
    at, _ = pattern
    return passes((at, (1 << 8 * matrices) - 1), 16, False)


# Columns of the tables.
TAG = "l1tex__t_{}_pipe_lsu_mem_{}.sum"
WAVES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
ATOMIC_SECTORS = [TAG.format("sectors", "global_op_atom"), TAG.format("sectors", "global_op_red")]
ATOMIC_REQUESTS = [TAG.format("requests", "global_op_atom"), TAG.format("requests", "global_op_red")]
THEORETICAL = "memory_l2_theoretical_sectors_global"
SOURCE_WAVES = "memory_l1_wavefronts_shared"
LDGSTS = "global_op_ldgsts_cache_access"
FILLED, FILLED_CLUSTER, FILLED_LOCAL = 384, 512, 1024  # passes (sectors) of the stores that kernels begin with

GLOBAL_ATOMICS = {"g_red_add_u32": 4, "g_red_add_f32": 4, "g_red_add_u64": 8, "g_red_add_f64": 8, "g_red_max_s32": 4,
                  "g_red_and_b32": 4, "g_red_add_f16x2": 4, "g_atom_add_u32": 4, "g_atom_add_f32": 4,
                  "g_atom_add_u64": 8, "g_atom_add_f64": 8, "g_atom_exch_b32": 4, "g_atom_cas_b32": 4,
                  "g_atom_cas_b64": 8, "g_atom_max_s32": 4}
MORE_GLOBAL = {"g_red_xor_b32": 4, "g_red_inc_u32": 4, "g_red_min_u64": 8, "g_red_add_bf16x2": 4, "g_atom_xor_b32": 4,
               "g_atom_dec_u32": 4, "g_atom_max_u64": 8, "g_atom_exch_b64": 8, "g_atom_add_f16x2": 4}
SHARED_LOADS = {"s_ld_b32": 4, "s_ld_b64": 8, "s_ld_v2": 8, "s_ld_v4": 16, "s_ld_u8": 1, "s_ld_u16": 2}
SHARED_STORES = {"s_st_b32": 4, "s_st_v2": 8, "s_st_v4": 16, "s_st_u8": 1}
PLAIN = {"s_atom_add_u32": 4, "s_red_add_u32": 4, "s_atom_exch_b32": 4, "s_atom_max_s32": 4, "s_atom_inc_u32": 4}
MORE_PLAIN = {"s_red_xor_b32": 4, "s_red_min_u32": 4, "s_red_inc_u32": 4, "s_red_dec_u32": 4, "s_red_add_two": 4,
              "s_red_add_minus_one": 4, "s_atom_exch_b64": 8}
LOOPS = {"s_atom_add_f32": 4, "s_atom_add_u64": 8}
MORE_LOOPS = {"s_red_add_f32": 4, "s_red_add_f64": 8, "s_red_add_u64": 8, "s_red_add_f16x2": 4, "s_atom_xor_b64": 8}
CACHED_COPIES = {f"cp{w}{c}_s{s}": w for s in (4, 16, 128) for w, c in ((4, ""), (8, ""), (16, "ca"))
                 if s >= 16 or w <= s}

# The profiler's number by source instruction, of 16-byte loads: it pairs passes otherwise than the hardware where lanes
# are without an active neighbour or one half of the warp agrees alone. We count as the hardware does.
SOURCE_DIFFERS = {("s_ld_v4", p) for p in ("half_same", "same_odd", "pairs_odd", "same_bytes", "same_pairs_of_four",
                                           "pairs_all_but_one", "xor2_only_all_but_one")}

plain = lambda p, w: lanes_on_one_bank(p, w)
loads, stores = lambda p, w: passes(p, w, True), lambda p, w: passes(p, w, False)
# name, table, {op: width}, columns that are added up, rule, executions (a number, or columns to add up), what else the
# columns hold. The GPU's assembler drops equal loads and stores of a loop: fewer executions than the 16 written.
RULES = [
    ("global atomics: sectors", "global_atomics", GLOBAL_ATOMICS, ATOMIC_SECTORS, sectors_of_global_atomic,
     ATOMIC_REQUESTS, 0),
    ("global atomics: sectors", "global_more", MORE_GLOBAL, ATOMIC_SECTORS, sectors_of_global_atomic,
     ATOMIC_REQUESTS, 0),
    ("global atomics: sectors by address", "global_atomics", GLOBAL_ATOMICS, [THEORETICAL], sectors, ATOMIC_REQUESTS,
     lambda p: sectors((range(32), p[1]), 4)),  # besides: the load of the places
    ("shared atomics: passes", "shared_atomics", PLAIN, [WAVES.format("atom")], plain, 16, 0),
    ("shared atomics: passes", "shared_more", MORE_PLAIN, [WAVES.format("atom")], plain, 16, 0),
    ("shared atomics: passes", "shared_more", {"s_red_or_b32": 4}, [WAVES.format("atom")], plain, 4, 0),
    ("shared atomics: passes by address", "shared_atomics", PLAIN, [SOURCE_WAVES], plain, 16, FILLED),
    ("shared increments: passes", "shared_atomics", {"s_red_add_one": 4}, [WAVES.format("atom")], loads, 16, 0),
    ("shared increments, result of every fourth used: passes", "shared_atomics", {"s_atom_add_one": 4},
     [WAVES.format("atom")], lambda p, w: 3 * loads(p, w) + plain(p, w), 4, 0),
    ("shared compare and swap: passes", "shared_atomics", {"s_atom_cas_b32": 4, "s_atom_cas_b64": 8},
     [WAVES.format("atom")], lambda p, w: 2 * plain(p, w), 16, 0),
    ("shared atomics in loops: passes of swaps", "shared_atomics", LOOPS, [WAVES.format("atom")],
     lambda p, w: retries(p, w)[0], 16, 0),
    ("shared atomics in loops: passes of loads", "shared_atomics", LOOPS, [WAVES.format("ld")],
     lambda p, w: retries(p, w)[1], 16, 0),
    ("shared atomics in loops: passes of swaps", "shared_more", MORE_LOOPS, [WAVES.format("atom")],
     lambda p, w: retries(p, w)[0], 16, 0),
    ("shared atomics in loops: passes of loads", "shared_more", MORE_LOOPS, [WAVES.format("ld")],
     lambda p, w: retries(p, w)[1], 16, 0),
    ("shared loads: passes", "shared", SHARED_LOADS, [WAVES.format("ld")], loads, 1, 0),
    ("shared loads: passes by source", "shared", SHARED_LOADS, [SOURCE_WAVES], loads, 1, FILLED),
    ("shared stores: passes", "shared", SHARED_STORES, [WAVES.format("st")], stores, 1, FILLED),
    ("matrix loads: passes", "matrix", {f"m_x{n}{t}": n for n in (1, 2, 4) for t in ("", "t")}, [WAVES.format("ld")],
     matrix_rows, 1, 0),
    ("matrix stores: passes", "matrix", {"m_st1": 1, "m_st2": 2, "m_st4": 4, "m_st4t": 4}, [WAVES.format("st")],
     matrix_rows, 16, FILLED),
    ("own memory by cluster address, loads: passes", "cluster", {"ld4_own": 4, "ld16_own": 16}, [WAVES.format("ld")],
     loads, 1, 0),
    ("own memory by cluster address, stores: passes", "cluster", {"st4_own": 4, "st16_own": 16}, [WAVES.format("st")],
     stores, 1, 0),
    ("another block's memory, loads: sectors", "cluster", {"ld4_remote": 4, "ld16_remote": 16},
     [TAG.format("sectors", "dshared_op_ld")], sectors, [TAG.format("requests", "dshared_op_ld")], 0),
    ("another block's memory, stores: sectors", "cluster", {"st4_remote": 4, "st16_remote": 16},
     [TAG.format("sectors", "dshared_op_st")], sectors, [TAG.format("requests", "dshared_op_st")], 0),
    ("own memory by cluster address, atomics: passes", "cluster_atomics",
     {"d_red_add_u32_own": 4, "d_atom_exch_b32_own": 4}, [WAVES.format("atom")], plain, 16, 0),
    ("own memory by cluster address, compare and swap: passes", "cluster_atomics", {"d_atom_cas_b32_own": 4},
     [WAVES.format("atom")], lambda p, w: 2 * plain(p, w), 16, 0),
    ("another block's memory, atomics: sectors", "cluster_atomics",
     {"d_red_add_u32_remote": 4, "d_atom_exch_b32_remote": 4, "d_atom_cas_b32_remote": 4},
     [TAG.format("sectors", "dshared_op_atom")], sectors_of_global_atomic, [TAG.format("requests", "dshared_op_atom")],
     0),
    ("generic atomics in shared memory: passes", "generic",
     {"gen_add_u32_shared": 4, "gen_exch_b32_shared": 4, "gen_add_u64_shared": 8}, [WAVES.format("atom")], plain, 16,
     0),
    ("generic compare and swap in shared memory: passes", "generic", {"gen_cas_b32_shared": 4},
     [WAVES.format("atom")], lambda p, w: 2 * plain(p, w), 16, 0),
    ("generic atomics in global memory: sectors", "generic",
     {"gen_add_u32_global": 4, "gen_exch_b32_global": 4, "gen_add_u64_global": 8, "gen_cas_b32_global": 4,
      "gen_add_f32_global": 4}, ATOMIC_SECTORS, sectors_of_global_atomic, ATOMIC_REQUESTS, 0),
    ("asynchronous copies through L1: sectors", "async", CACHED_COPIES, [TAG.format("sectors", LDGSTS)], sectors,
     [TAG.format("requests", LDGSTS)], 0),
    ("local stores: sectors", "local", {"local_w1": 4}, [TAG.format("sectors", "local_op_st")], local_sectors, 1,
     FILLED_LOCAL),
    ("local stores: sectors", "local", {"local_w4": 16}, [TAG.format("sectors", "local_op_st")], local_sectors, 10,
     FILLED_LOCAL),
    ("local loads: sectors", "local", {"local_w4": 16}, [TAG.format("sectors", "local_op_ld")], local_sectors, 1,
     FILLED_LOCAL),
    ("constant memory: requests", "constant", {"const4": 4}, ["idc__requests.sum"],
     lambda p, w: len(set(places(p))), 1, 4),  # besides: what the kernel itself reads
    ("constant memory: requests", "constant", {"const1": 1, "const8": 8}, ["idc__requests.sum"],
     lambda p, w: len(set(places(p))), 1, 2),
    ("constant memory: requests", "constant", {"const16": 16}, ["idc__requests.sum"],
     lambda p, w: 4 * len(set(places(p))), 1, 3),
]


def read_table(folder, name):
    with open(f"{folder}/warps_{name}.csv", newline="") as f:
        return list(csv.DictReader(f))


def added(row, columns):
    return sum(int(row[c]) for c in columns)


def check(rows, rule, known):
    name, _, ops, columns, cost, executions, besides = rule
    wrong, count, differs = [], 0, 0
    for row in rows:
        if row["op"] not in ops:
            continue
        count += 1
        pattern = known[row["pattern"]]
        times = added(row, executions) if isinstance(executions, list) else executions
        got = added(row, columns) - (besides(pattern) if callable(besides) else besides)
        want = cost(pattern, ops[row["op"]]) * times
        excused = columns == [SOURCE_WAVES] and (row["op"], row["pattern"]) in SOURCE_DIFFERS
        differs += excused
        if (got == want) == excused or times == 0:
            wrong.append(f"  {row['op']} {row['pattern']}: counted {got:g}, by the rule {want:g}")
    print(f"{name}: {count - len(wrong) - differs} of {count} rows" + (f", {differs} listed" if differs else ""))
    print("\n".join(wrong[:20]), end="\n" if wrong else "")
    return count > 0 and not wrong


def main(folder):
    known = patterns()
    good = [check(read_table(folder, rule[1]), rule, known) for rule in RULES]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "truth/h200"))
