#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hands the golden reports in this folder to readers that are not ours: SARIF to python3-jsonschema with a schema, JUnit
to xml.etree and python3-junitparser. The names in them are hostile on purpose. Exit code 77: a reader is missing.

The schema here is a subset of our own, with what the SARIF 2.1.0 specification demands of the properties that we write, and
of those that stand beside them; what the specification says in words only is checked below (check_words). Every property
of the subset occurs in the golden file. OASIS's own schema is not in this repository. With it:
check_formats.py FOLDER sarif-schema-2.1.0.json"""
import json
import pathlib
import re
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



def check_artifact_location(location):
    """3.4: a uri that is relative to something has no scheme and stays below it."""
    uri = location["uri"]
    assert ".." not in uri.split("/"), uri
    if "uriBaseId" in location:
        assert not uri.startswith("/") and not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", uri), uri
    else:
        assert uri.startswith("file:///") or not uri.startswith("/"), uri


def check_words(run):
    """What the specification demands in words: references that fit, identities that are unique, texts that say something."""
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules), "3.19.23: rules are unique"
    fingerprints = []
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"], "3.27.6: ruleIndex is that of ruleId"
        assert result["message"]["text"].strip(), "3.11: a message says something"
        for location in result.get("locations", []):
            check_artifact_location(location["physicalLocation"]["artifactLocation"])
        for name, value in result["partialFingerprints"].items():
            assert re.fullmatch(r"[A-Za-z]\w*/v\d+", name), "3.27.17: a version stands in the name"
            fingerprints.append((name, value))
        for suppression in result.get("suppressions", []):
            assert suppression["justification"].strip(), "3.35: an allowance has a reason"
    assert len(set(fingerprints)) == len(fingerprints), "equal results are told apart"
    for invocation in run["invocations"]:
        ended_well = invocation["executionSuccessful"]
        assert not (ended_well and "exitSignalNumber" in invocation), "3.20.14: a signal is no success"


def properties_in(value, names):
    """All property names that occur in `value`."""
    if isinstance(value, dict):
        names.update(value)
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        properties_in(part, names)
    return names


def properties_of(schema, names):
    """All that a schema describes."""
    if isinstance(schema, dict):
        names.update(schema.get("properties", {}))
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else []:
        properties_of(part, names)
    return names


sarif = json.loads((folder / "hostile.sarif").read_text(encoding="utf-8"))
schema = json.loads(schema_file.read_text(encoding="utf-8"))
jsonschema.validators.validator_for(schema).check_schema(schema)
jsonschema.validate(sarif, schema)
check_words(sarif["runs"][0])
if len(sys.argv) <= 2:
    described = properties_of(schema, set())
    assert described <= properties_in(sarif, set()) | set(schema["x-not-written"]), described - properties_in(sarif, set())
# What is wrong in one place each; both schemas refuse all of it.
for damage in (lambda run: run["results"][0].update(level="fatal"), lambda run: run["results"][0].pop("message"),
               lambda run: run["results"][0].update(ruleIndex=-2), lambda run: run["results"][0].update(kind="odd"),
               lambda run: run["results"][0]["message"].pop("text"), lambda run: run.pop("tool"),
               lambda run: run["tool"].pop("driver"), lambda run: run["tool"]["driver"].pop("name"),
               lambda run: run["tool"]["driver"]["rules"][0].pop("id"), lambda run: run["tool"]["driver"]["rules"].append(run["tool"]["driver"]["rules"][0]),
               lambda run: run["invocations"][0].pop("executionSuccessful"), lambda run: run["invocations"][0].update(exitCode="1"),
               lambda run: run["invocations"][0]["toolExecutionNotifications"][0].pop("message"),
               lambda run: run["results"][0]["locations"][0]["physicalLocation"]["region"].update(startLine=0),
               lambda run: run["results"][0]["locations"][0]["physicalLocation"].pop("artifactLocation"),
               lambda run: run["results"][0].update(suppressions=[{"kind": "inTheHead"}]), lambda run: run.update(columnKind="bytes"),
               lambda run: run.update(artifacts=[{"roles": ["actor"]}]), lambda run: run["results"][0].update(partialFingerprints={"a": 1})):
    damaged = json.loads(json.dumps(sarif))
    damage(damaged["runs"][0])
    try:
        jsonschema.validate(damaged, schema)
        sys.exit("the validator accepts what is damaged")
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
