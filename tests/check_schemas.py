#!/usr/bin/env python3
"""Checks the schemas in docs/schemas, and files of JSON against them, with another validator than the tests of tests/machine_output.

Run manually, with the packages jsonschema and referencing: a file has one document, or a message per line for the schema stream.

    tests/check_schemas.py plan plan.json stream apply.jsonl
"""

import json
import pathlib
import sys

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs/schemas"
BASE = "file:///schemas/"


def validators():
    """Validators by the names of the schemas."""
    schemas = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
    resources = [(BASE + name, Resource.from_contents(schema, default_specification=DRAFT202012)) for name, schema in schemas.items()]
    registry = Registry().with_resources(resources)
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    return {name.removesuffix(".json"): Draft202012Validator({"$ref": BASE + name}, registry=registry) for name in schemas}


def documents(name, path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if name == "stream" else [json.loads(text)]


def main(arguments):
    known = validators()
    print(f"{len(known)} schemas are valid")
    failed = False
    for name, path in zip(arguments[::2], arguments[1::2], strict=True):
        for number, document in enumerate(documents(name, path), 1):
            for error in known[name].iter_errors(document):
                failed = True
                print(f"{path}: {number}: {error.json_path}: {error.message}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
