#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hands the golden reports in this folder to readers that are not ours: SARIF to python3-jsonschema with a schema, JUnit
to xml.etree and python3-junitparser. The names in them are hostile on purpose. Exit code 77: a reader is missing.

The schema here is a subset of our own, with what the SARIF 2.1.0 specification demands of the properties that we write;
OASIS's own schema is not in this repository. With it:  check_formats.py FOLDER sarif-schema-2.1.0.json"""
import json
import pathlib
import sys
import xml.etree.ElementTree as etree

try:
    import jsonschema
    import junitparser
except ImportError as missing:
    print(f"skipped: {missing.name} is missing (Debian: python3-{missing.name})")
    sys.exit(77)

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
schema_file = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).parent / "sarif_subset.schema.json"

sarif = json.loads((folder / "hostile.sarif").read_text(encoding="utf-8"))
schema = json.loads(schema_file.read_text(encoding="utf-8"))
jsonschema.validators.validator_for(schema).check_schema(schema)
jsonschema.validate(sarif, schema)
damaged = json.loads(json.dumps(sarif))
damaged["runs"][0]["results"][0]["level"] = "fatal"
try:
    jsonschema.validate(damaged, schema)
    sys.exit("the validator accepts a level that is none")
except jsonschema.ValidationError:
    pass

tree = etree.parse(folder / "hostile.junit.xml")
suite = tree.getroot().find("testsuite")
cases = suite.findall("testcase")
counted = {"tests": len(cases)}
for kind in ("failure", "error", "skipped"):
    counted[{"failure": "failures", "error": "errors"}.get(kind, kind)] = sum(c.find(kind) is not None for c in cases)
for name, number in counted.items():
    assert int(suite.get(name)) == number, (name, suite.get(name), number)
assert "<b>" in cases[-1].get("classname") or '"a|b"' in cases[-1].get("classname"), cases[-1].attrib
assert "\n" in suite.get("name"), "the newline in the program's name was lost"

xml = junitparser.JUnitXml.fromfile(str(folder / "hostile.junit.xml"))
(read,) = list(xml)
assert (read.tests, read.failures, read.errors, read.skipped) == tuple(
    counted[k] for k in ("tests", "failures", "errors", "skipped")), read
for name in ("hostile.md", "hostile.annotations"):
    text = (folder / name).read_bytes().decode("utf-8")  # strict: hostile bytes must be gone
    assert not any(ord(c) < 32 and c != "\n" for c in text), name
print(f"{len(sarif['runs'][0]['results'])} results, {counted['tests']} test cases")
