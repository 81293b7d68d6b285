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


def tools(dist, name):
    """With what a script made its files."""
    path = project.tools_path(dist, name)
    if not path.is_file():
        raise project.Failure(f"{path} does not exist: it says with what the files of {name} were made")
    return json.loads(path.read_text(encoding="utf-8"))


def made_with(dist, targets, names):
    """The tools by what they made: archives of targets, packages, images, and the files that are made on this machine."""
    made = {"release": project.archiver(), **{target.name: tools(dist, target.name) for target in targets}}
    if any(name.endswith((".deb", ".rpm")) for name in names):
        made["packages"] = tools(dist, "packages")
    if any("_image" in name for name in names):
        made["images"] = tools(dist, "images")
    return made


def dependencies(made):
    """What went into packages and images and is not in the repository, by its digest."""
    found = {}
    if "packages" in made:
        found["nfpm"] = made["packages"]["nfpm"]
    if "images" in made:
        found["ca-certificates.crt"] = made["images"]["certificates"]
        found.update({f"rootfs_{arch}.tar": root for arch, root in made["images"]["roots"].items()})
    return [described(name, **each) for name, each in found.items()]


def described(name, sha256, **annotations):
    """A resource descriptor of in-toto."""
    return {"name": name, "digest": {"sha256": sha256}, **({"annotations": annotations} if any(annotations.values()) else {})}


def statement(dist):
    targets = project.archived_targets(dist)
    names = [name for name in project.release_files(dist) if name != project.provenance_path(dist).name]
    source = f"git+{project.repository()}"
    lock = hashlib.sha256(project.committed("Cargo.lock")).hexdigest()
    made = made_with(dist, targets, names)
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
                "internalParameters": {
                    "builds": [checked_record(dist, target) for target in targets],
                    # The bytes of archives depend on the versions of Python and zlib.
                    "archives": {name: {key: each[key] for key in project.archiver()} for name, each in made.items()},
                },
                "resolvedDependencies": [
                    {"uri": source, "digest": {"gitCommit": project.commit()}},
                    {"uri": f"{source}#Cargo.lock", "digest": {"sha256": lock}},
                    *dependencies(made),
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
