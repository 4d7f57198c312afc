#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules for the probes of truth/src/warp_mixes.cu, held against what an H200 counted (see warp_rules.py).

usage: warp_mix_rules.py FOLDER-OF-TABLES

Lanes of one atomic in different memories, loops whose rounds depend on values, asynchronous copies whose lanes choose
both places, the narrow compare and swap, and the look-up of lines.
"""
import sys

import warp_rules
from warp_rules import FULL, TAG, WAVES, groups, lanes_of, lanes_on_one_bank, passes, retries, sectors_of_global_atomic

MASKS = {"low_half": 0xFFFF, "odd": 0xAAAAAAAA, "first": 1, "all_but_one": 0xFFFFFFFE, "bytes": 0x00FF00FF}


# ---- atomics whose lanes are in the block's own shared memory (near) or elsewhere (far)
def mixed_pattern(name):
    """(places, active lanes, lanes elsewhere)"""
    for mark in ("_near", "_far", "_some"):
        if mark not in name:
            continue
        place, rest = name.split(mark)
        masks = [MASKS[m] for m in rest.strip("_").replace("low_half", "low-half").replace("all_but_one", "all-but-one")
                 .replace("_", " ").replace("-", "_").split()]
        at = warp_rules.patterns()[place][0]
        if mark == "_some":
            return at, masks[1] if len(masks) > 1 else FULL, masks[0]
        return at, masks[0] if masks else FULL, FULL if mark == "_far" else 0
    at, mask = warp_rules.patterns()[name]
    return at, mask, 0


def met(mask, width):
    """Groups of lanes with one in `mask`."""
    return sum(1 for group in groups(width) if any(mask >> l & 1 for l in group))


def passes_anywhere(pattern, width):
    """Each group of lanes takes a pass at least, also where none of them is near."""
    at, mask, far = pattern
    total = 0
    for group in groups(width):
        bits = sum(1 << l for l in group) & mask
        if bits:
            total += max(1, lanes_on_one_bank((at, bits & ~far), width))
    return total


def far_rounds(pattern, width):
    """Of the lanes at one place in another block's memory one is done in each round; returns lane sets."""
    at, mask, far = pattern
    left, rounds = mask & far, []
    while left:
        rounds.append(left)
        seen = set()
        for l in lanes_of(left):
            if at[l] not in seen:
                seen.add(at[l])
                left &= ~(1 << l)
    return rounds


def loop_passes(pattern, width, cluster):
    """An attempt that serves nobody, then the loop of the near lanes and, in a cluster, that of the far ones."""
    at, mask, far = pattern
    total = met(mask, width) + retries((at, mask & ~far), width)[0]
    return total + (sum(2 * met(left, width) for left in far_rounds(pattern, width)) if cluster else 0)


def loop_loads(pattern, width):
    at, mask, far = pattern
    return retries((at, mask & ~far), width)[1]


def far_sectors(pattern, width):
    at, mask, far = pattern
    return sectors_of_global_atomic((at, mask & far), width)


# ---- loops whose rounds depend on the values
def value_loop(pattern, width, op, value, skips):
    """16 executions from memory of zeros: of those that would change nothing, where `skips`, none swaps; a swap succeeds
    while the value is what was loaded, also because it was left as it is. Returns passes of swaps and of loads."""
    at, mask = pattern[:2]
    near = mask & ~(pattern[2] if len(pattern) > 2 else 0)
    memory, swaps, loads = {}, 0, 0
    for execution in range(16):
        left = near
        while left:
            loads += passes((at, left), width, True)
            loaded = {l: memory.get(at[l], 0) for l in lanes_of(left)}
            if skips:
                left &= ~sum(1 << l for l, old in loaded.items() if op(old, value(l, execution)) == old)
            for group in groups(width):
                lanes = [l for l in group if left >> l & 1]
                swaps += 2 if lanes else 0
                busy = set()
                for l in lanes:
                    bank = at[l] * width // 4 % 32
                    if bank not in busy:
                        busy.add(bank)
                        if memory.get(at[l], 0) == loaded[l]:
                            memory[at[l]] = op(loaded[l], value(l, execution))
                            left &= ~(1 << l)
    return swaps, loads


# op: of two values, a lane's in an execution, whether it skips
VALUES = {
    "w_or_b64": (lambda a, b: a | b, lambda l, i: l + 1, False), "w_and_b64": (lambda a, b: a & b, lambda l, i: l + 1, False),
    "w_red_max_u64": (max, lambda l, i: 32 - l, True), "w_min_u64": (min, lambda l, i: l + 1, True),
    "w_min_s64": (min, lambda l, i: -(l + i), True), "s_atom_max_u64": (max, lambda l, i: l + 1, True),
    "x_or_b64": (lambda a, b: a | b, lambda l, i: l + 1, False), "x_max_u64": (max, lambda l, i: l + 1, True)}


def value_rules(op, table, tried):
    swaps = lambda p, w: value_loop(p, w, *VALUES[op])[0] + (16 * met(p[1], w) if tried else 0)
    loads = lambda p, w: value_loop(p, w, *VALUES[op])[1]
    return [(f"loops by values, {op}: passes of swaps", table, {op: 8}, ATOM, swaps, 1, 0),
            (f"loops by values, {op}: passes of loads", table, {op: 8}, LOADS, loads, 1, 0)]


# ---- copies
SLOT_BITS = ((7, 9, 11, 12, 14, 16, 18, 19, 20, 21, 23, 24, 25, 26), (8, 10, 11, 13, 14, 15, 17, 19, 22, 24, 26, 27, 28))


def slot(address):
    """Lines of one slot wait for each other, others are looked up together."""
    return tuple(sum(address >> b & 1 for b in bits) % 2 for bits in SLOT_BITS)


def copy_pattern(name, width):
    """(source, destination in bytes by lane, active lanes, reading lanes)"""
    lanes = range(32)
    mask = FULL
    for mark, bits in MASKS.items():
        if name.endswith("_" + mark) and not name.startswith(mark):
            mask, name = bits, name[: -len(mark) - 1]
    to = {"line": [width * l for l in lanes], "apart": [width * (l + l // 8) for l in lanes],
          "turned": [width * (l ^ l // 8) for l in lanes], "column": [(128 + width) * l for l in lanes]}
    kind, _, rest = name.partition("_")
    if kind.startswith("rows"):
        each = int(kind[4:])
        return [l // each * int(rest) + l % each * width for l in lanes], to["line"], mask, FULL
    if kind.startswith("random"):
        state, at = int(kind[6:]), []
        for _ in lanes:
            state = (state * 1664525 + 1013904223) % 2**32
            at.append((state >> 18) * width)
        return at, to[rest], mask, FULL
    if name.rpartition("_")[0] in {"all", "none", "part", *MASKS}:  # of "less": who reads, and the rows' pitch
        who, _, pitch = name.rpartition("_")
        reading = {"all": FULL, "part": FULL, "none": 0}.get(who, MASKS.get(who))
        return [l // 8 * int(pitch) + l % 8 * width for l in lanes], to["line"], mask, reading
    bits = sum(1 << int(b) for b in name.split("_"))  # of two lanes
    return [0, bits + 4] + [0] * 30, to["line"], 3, FULL


def served(lanes, source, to, width):
    """Passes of lanes that are served together: of those to one bank the first comes forward, of these of those from
    one bank the first is served. `source`: None when they read nothing."""
    each, total = max(1, width // 4), 0
    for group in groups(width):
        left = [l for l in group if l in lanes]
        while left:
            total += 1
            busy_to, busy_from, done = set(), set(), []
            for l in left:
                bank = to[l] // 4 % 32 // each
                if bank in busy_to:
                    continue
                busy_to.add(bank)
                other = None if source is None else source[l] // 4 % 32 // each
                if other is None or other not in busy_from:
                    busy_from.add(other)
                    done.append(l)
            left = [l for l in left if l not in done]
    return total


def copy_passes(name, width):
    source, to, mask, reading = copy_pattern(name, width)
    left, total = lanes_of(mask & reading), 0
    while left:
        line_of, together = {}, []
        for l in left:
            line = source[l] // 128
            if line_of.setdefault(slot(source[l]), line) == line:
                together.append(l)
        total += served(together, source, to, width)
        left = [l for l in left if l not in together]
    return total + served(lanes_of(mask & ~reading), None, to, width)


def strided_copy(op, pattern):
    """Of warps_async.csv: (passes, width) of op cpW[ca]_sSTEP."""
    width, step = int(op[2:].split("_")[0].replace("ca", "")), int(op.rsplit("_s", 1)[1])
    at, _ = warp_rules.patterns()[pattern]
    lanes = list(range(32))
    source = [a * width for a in at]
    left, total = lanes, 0
    while left:
        line_of, together = {}, []
        for l in left:
            if line_of.setdefault(slot(source[l]), source[l] // 128) == source[l] // 128:
                together.append(l)
        total += served(together, source, [l * step for l in lanes], width)
        left = [l for l in left if l not in together]
    return total


ATOM, LOADS = [WAVES.format("atom")], [WAVES.format("ld")]
ALL = ["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"]
PLAIN = {"add_u32": 4, "inc_u32": 4, "add_one": 4, "add_u64": 8, "exch_b64": 8}
SWAPS, LOOPS = {"cas_b32": 4, "cas_b64": 8}, {"add_f32": 4, "add_f16x2": 4, "add_f64": 8}


def named(prefix, ops):
    return {prefix + op: width for op, width in ops.items()}


def either(prefix, table, where, cluster):
    swaps, plain, loops = named(prefix, SWAPS), named(prefix, PLAIN), named(prefix, LOOPS)
    return [
        (f"atomics in own memory or {where}: passes", table, plain, ATOM, passes_anywhere, 16, 0),
        (f"compare and swap in own memory or {where}: passes", table, swaps, ATOM,
         lambda p, w: 2 * passes_anywhere(p, w), 16, 0),
        (f"loops in own memory or {where}: passes of swaps", table, loops, ATOM, lambda p, w: loop_passes(p, w, cluster),
         16, 0),
        (f"loops in own memory or {where}: passes of loads", table, loops, LOADS, loop_loads, 16, 0)]


BY_VALUES = [rule for op, table in [(op, "wide") for op in VALUES if op.startswith("w_")] +
             [("s_atom_max_u64", "shared_more"), ("x_or_b64", "mixed"), ("x_max_u64", "mixed")]
             for rule in value_rules(op, table, op.startswith("x_"))]
COPIES = {"copy4": 4, "copy8": 8, "copy16": 16}
# As warp_rules.RULES.
RULES = either("x_", "mixed", "global memory", False) + either("y_", "cluster_mixed", "another block's", True) + BY_VALUES + [
    ("atomics in own or global memory: sectors", "mixed", named("x_", {**PLAIN, **SWAPS, **LOOPS}),
     warp_rules.ATOMIC_SECTORS, far_sectors, 16, 0),
    ("atomics in own or another block's memory: sectors", "cluster_mixed", named("y_", {**PLAIN, **SWAPS, **LOOPS}),
     [TAG.format("sectors", "dshared_op_atom")], far_sectors, 16, 0),
    ("loops in another block's memory: sectors of loads", "cluster_mixed", named("y_", LOOPS),
     [TAG.format("sectors", "dshared_op_ld")], far_sectors, 16, 0),
    ("loops in another block's memory: rounds", "cluster_mixed", named("y_", LOOPS),
     [TAG.format("requests", "dshared_op_ld")], lambda p, w: len(far_rounds(p, w)), 16, 0),
    ("copies: passes of what they write", "copies", COPIES, ALL, copy_passes, 16, 4),
    ("copies past the L1: passes", "copies", {"past16": 16}, ALL, lambda p, w: 0, 16, 4),
    ("copies of which some lanes read nothing: passes", "less", {"less4": 4, "less16": 16}, ALL, copy_passes, 16, 13),
    ("two lines looked up together: passes", "tags", {"pair": 4}, ALL, copy_passes, 16, 4),
    ("two lines far apart looked up together: passes", "high_tags", {"pair": 4}, ALL, copy_passes, 16, 4),
    ("narrow compare and swap that fails: passes", "wide", {"w_cas_miss": 2}, ATOM,
     lambda p, w: 2 * lanes_on_one_bank(p, w), 16, 0),
    ("narrow compare and swap that fails: passes of loads", "wide", {"w_cas_miss": 2}, LOADS,
     lambda p, w: passes(p, w, True), 16, 0),
]
PARSED = {"mixed": mixed_pattern, "cluster_mixed": mixed_pattern}


def check(rows, rule):
    name, table, ops, columns, cost, executions, besides = rule
    wrong, count = [], 0
    parse = PARSED.get(table, warp_rules.patterns().__getitem__ if table in ("wide", "shared_more") else str)
    for row in rows:
        if row["op"] not in ops:
            continue
        count += 1
        got = (warp_rules.added(row, columns) - besides) / executions
        # The first of the executions, which finds its lines not yet in the L1, may take a pass more or less.
        got = round(got) if cost is copy_passes else got
        want = cost(parse(row["pattern"]), ops[row["op"]])
        if got != want:
            wrong.append(f"  {row['op']} {row['pattern']}: counted {got:g}, by the rule {want:g}")
    print(f"{name}: {count - len(wrong)} of {count} rows")
    print("\n".join(wrong[:20]), end="\n" if wrong else "")
    return count > 0 and not wrong


def check_strided(rows):
    wrong = []
    for row in rows:
        past = row["op"].startswith("cp16_")
        got = round((warp_rules.added(row, ALL) - 4) / 16)
        if got != (0 if past else strided_copy(row["op"], row["pattern"])):
            wrong.append(f"  {row['op']} {row['pattern']}: counted {got}")
    print(f"copies from patterns: {len(rows) - len(wrong)} of {len(rows)} rows")
    print("\n".join(wrong[:20]), end="\n" if wrong else "")
    return not wrong


def main(folder):
    good = [check(warp_rules.read_table(folder, rule[1]), rule) for rule in RULES]
    good.append(check_strided(warp_rules.read_table(folder, "async")))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "truth/h200"))
