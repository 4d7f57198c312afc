# SPDX-License-Identifier: Apache-2.0
"""exempt.csv: what may differ from a GPU's counts, and why; columns table, compiler or *, probe, what, reason."""
import csv
import fnmatch
import pathlib

FILE = pathlib.Path(__file__).resolve().parent / "exempt.csv"


class Exemptions:
    """What may differ; notes which entries were needed."""

    def __init__(self, table, compiler):
        rows = csv.DictReader(line for line in open(FILE) if not line.startswith("#"))
        self.entries = [r for r in rows if r["table"] == table and r["compiler"] in ("*", compiler)]
        self.used = [False] * len(self.entries)

    def covers(self, probe, what):
        found = False
        for i, e in enumerate(self.entries):
            if fnmatch.fnmatch(probe, e["probe"]) and fnmatch.fnmatch(what, e["what"]):
                self.used[i] = found = True
        return found

    def stale(self):
        return [e for e, used in zip(self.entries, self.used) if not used]
