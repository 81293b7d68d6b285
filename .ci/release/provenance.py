#!/usr/bin/env python3
"""Writes the provenance of a release: an in-toto statement (v1) with SLSA's predicate (v1) about every file, from the records of the builds.

Refuses archives without a record, records of another commit, of a work tree with changes, and programs that are not those of the record.

Variable: TERRANE_BUILDER is the address of who builds, such as that of the workflow; without it, the scripts of the commit are named.
"""

import argparse
import hashlib
import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True

import project
import reproducible


def checked_record(dist, target):
    """How a target was built, if that is what the archive has in it."""
    path = project.record_path(dist, target.name)
    if not path.is_file():
        raise project.Failure(f"{path} does not exist: it belongs to {project.archive_path(dist, target.name).name}")
    record = json.loads(path.read_text(encoding="utf-8"))
    if record["commit"] != project.commit():
        raise project.Failure(f"{target.name} was built from commit {record['commit']}, and this is {project.commit()}")
    if record["changes"]:
        raise project.Failure(f"{target.name} was built with changes that are in no commit: {', '.join(record['changes'])}")
    members = reproducible.members(project.archive_path(dist, target.name))
    program = members.get(f"{project.stem(target.name)}/{target.program}", b"")
    if hashlib.sha256(program).hexdigest() != record["program"]["sha256"]:
        raise project.Failure(f"the program in the archive of {target.name} is not the one that {path} describes")
    return {name: value for name, value in record.items() if name not in ("commit", "changes")}


def statement(dist):
    targets = project.archived_targets(dist)
    names = [name for name in project.release_files(dist) if name != project.provenance_path(dist).name]
    source = f"git+{project.repository()}"
    lock = hashlib.sha256(project.committed("Cargo.lock")).hexdigest()
    builder = os.environ.get("TERRANE_BUILDER") or f"{project.repository()}/blob/{project.commit()}/.ci/release/release"
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": reproducible.sha256(dist / name)}} for name in names],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"{project.repository()}/tree/main/.ci/release",
                "externalParameters": {
                    "source": source,
                    "version": project.version(),
                    "targets": [target.name for target in targets],
                },
                "internalParameters": {"builds": [checked_record(dist, target) for target in targets]},
                "resolvedDependencies": [
                    {"uri": source, "digest": {"gitCommit": project.commit()}},
                    {"uri": f"{source}#Cargo.lock", "digest": {"sha256": lock}},
                ],
            },
            "runDetails": {"builder": {"id": builder}},
        },
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dist", type=pathlib.Path, help="the folder of the release, with all files but sums and signatures")
    dist = parser.parse_args().dist
    made = statement(dist)
    project.write_json(project.provenance_path(dist), made)
    print(f"{project.provenance_path(dist)}: {len(made['subject'])} files")


project.main(main)
