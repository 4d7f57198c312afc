#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds rules for what one warp's atomics cost against what an H200 counted for them (truth/h200/warps_*.csv).

usage: warp_rules.py FOLDER-OF-TABLES; prints each rule with the rows that agree; exit code 1 when one does not.
"""
import csv
import sys
from collections import Counter

REPETITIONS = 16
MERGED = 1  # equal loads or stores of a loop, which the GPU's assembler makes one
FILLING_STORES = 384  # that each kernel with shared memory begins with, of one wavefront each


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
    out = {name: (at, 0xFFFFFFFF) for name, at in full.items()}
    masks = {"low_half": 0xFFFF, "odd": 0xAAAAAAAA, "first": 1, "bytes": 0x00FF00FF, "pairs_of_four": 0x33333333,
             "all_but_one": 0xFFFFFFFE}
    for mask_name, mask in masks.items():
        for name in ("unit", "same", "pairs", "stride8", "xor2_only"):
            out[f"{name}_{mask_name}"] = (full[name], mask)
    return out


def places(pattern):
    at, mask = pattern
    return [at[l] for l in range(32) if mask >> l & 1]


def sectors_of_global_atomic(pattern, width):
    """Each sector as often as the most lanes on one place in it."""
    lanes_on = Counter(places(pattern))
    most = {}
    for place, lanes in lanes_on.items():
        sector = place * width // 32
        most[sector] = max(most.get(sector, 0), lanes)
    return sum(most.values())


def lanes_on_one_bank(pattern, width):
    """Passes of 128 / width lanes; in each, the most lanes on one bank, equal places counted too."""
    at, mask = pattern
    group = 32 if width <= 4 else 128 // width
    total = 0
    for first in range(0, 32, group):
        banks = Counter(at[l] * width // 4 % 32 for l in range(first, first + group) if mask >> l & 1)
        total += max(banks.values(), default=0)
    return total


def wavefronts_of_shared(pattern, width, load):
    """Different words of one bank, in passes that pair up for loads whose neighbours ask for the same."""
    at, mask = pattern
    active = [l for l in range(32) if mask >> l & 1]
    agree = [all(at[l] == at[l ^ d] for l in active if mask >> (l ^ d) & 1) for d in (1, 2)]
    group = 32 if width <= 4 else 128 // width
    if load and width > 4 and any(agree):
        group *= 2
    total = 0
    for first in range(0, 32, group):
        mine = [l for l in active if first <= l < first + group]
        words = {(at[l] * width + 4 * w) // 4 for l in mine for w in range(max(1, width // 4))}
        total += max(Counter(w % 32 for w in words).values(), default=0)
    return total


# 16-byte loads where the rule of pairing passes is not the whole truth: lanes without an active neighbour, and one half
# of the warp alone. Not understood yet.
OPEN = {("s_ld_v4", p) for p in ("half_same", "same_odd", "pairs_odd", "same_bytes", "same_pairs_of_four",
                                 "pairs_all_but_one", "xor2_only_all_but_one")}


def check(rows, ops, column, rule, name, besides=0, repetitions=REPETITIONS):
    known = patterns()
    wrong = []
    count = still_open = 0
    for row in rows:
        if row["op"] not in ops:
            continue
        count += 1
        got = sum(float(row[c]) for c in column) - besides
        want = rule(known[row["pattern"]], ops[row["op"]]) * repetitions
        if (row["op"], row["pattern"]) in OPEN:
            still_open += 1
            if got == want:
                wrong.append(f"  {row['op']} {row['pattern']}: agrees now, and is listed as open")
        elif got != want:
            wrong.append(f"  {row['op']} {row['pattern']}: counted {got:g}, by the rule {want:g}")
    print(f"{name}: {count - len(wrong) - still_open} of {count} rows" + (f", {still_open} open" if still_open else ""))
    print("\n".join(wrong[:20]), end="\n" if wrong else "")
    return count > 0 and not wrong


def main(folder):
    def table(name):
        with open(f"{folder}/warps_{name}.csv", newline="") as f:
            return list(csv.DictReader(f))

    sectors = ["l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"]
    waves = ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"]
    good = check(table("global_atomics"),
                 {"g_red_add_u32": 4, "g_red_add_f32": 4, "g_red_add_u64": 8, "g_red_add_f64": 8, "g_red_max_s32": 4,
                  "g_red_add_f16x2": 4, "g_atom_exch_b32": 4, "g_atom_cas_b32": 4, "g_atom_cas_b64": 8},
                 sectors, sectors_of_global_atomic, "global atomics and reductions: sectors")
    atomics, shared = table("shared_atomics"), table("shared")
    good &= check(atomics, {"s_atom_add_u32": 4, "s_red_add_u32": 4, "s_atom_exch_b32": 4, "s_atom_max_s32": 4,
                            "s_atom_inc_u32": 4},
                  waves, lanes_on_one_bank, "32-bit shared atomics: wavefronts")
    good &= check(atomics, {"s_atom_cas_b32": 4, "s_atom_cas_b64": 8},
                  waves, lambda p, w: 2 * lanes_on_one_bank(p, w), "shared compare and swap: wavefronts")
    all_waves = ["memory_l1_wavefronts_shared"]
    good &= check(shared, {"s_ld_b32": 4, "s_ld_b64": 8, "s_ld_v2": 8, "s_ld_v4": 16, "s_ld_u8": 1, "s_ld_u16": 2},
                  all_waves, lambda p, w: wavefronts_of_shared(p, w, True), "shared loads: wavefronts",
                  FILLING_STORES, MERGED)
    good &= check(shared, {"s_st_b32": 4, "s_st_v2": 8, "s_st_v4": 16, "s_st_u8": 1},
                  all_waves, lambda p, w: wavefronts_of_shared(p, w, False), "shared stores: wavefronts",
                  FILLING_STORES, MERGED)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "truth/h200"))
