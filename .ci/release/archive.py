#!/usr/bin/env python3
"""Makes the archive of a target from what `build` put into DIST/stage, the files of the commit and the texts of licences.

cargo must have downloaded the crates of the target, because their licences are read.
"""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True

import licences
import project
import reproducible

# No program may become larger: see docs/benchmarks.md.
SIZE_LIMIT = 42_000_000
FROM_COMMIT = {"LICENSE": "LICENSE", "README.md": "README.md", "THIRD-PARTY.md": "docs/third-party.md"}


def staged(dist, target):
    """What the build made: path -> (mode, content)."""
    stage = project.stage(dist, target.name)
    program = stage / target.program
    if not program.is_file():
        raise project.Failure(f"{program} does not exist: run .ci/release/build {target.name} {dist}")
    if program.stat().st_size > SIZE_LIMIT:
        raise project.Failure(f"{program} has {program.stat().st_size:,} bytes, more than {SIZE_LIMIT:,}")
    files = {}
    for path in stage.rglob("*"):
        if path.is_file():
            mode = reproducible.PROGRAM if path == program else reproducible.FILE
            files[path.relative_to(stage).as_posix()] = (mode, path.read_bytes())
    return files


def contents(dist, target):
    """All of the archive: path -> (mode, content)."""
    files = staged(dist, target)
    for name, path in FROM_COMMIT.items():
        files[name] = (reproducible.FILE, project.committed(path))
    for path in project.committed_files("docs/schemas"):
        files[path[len("docs/") :]] = (reproducible.FILE, project.committed(path))
    for name, text in licences.files(target).items():
        files[f"licences/{name}"] = (reproducible.FILE, text.encode())
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", help="a name in targets.json")
    parser.add_argument("dist", type=pathlib.Path, help="the folder of the release")
    arguments = parser.parse_args()
    target = project.target(arguments.target)
    top = project.stem(target.name)
    entries = {f"{top}/{name}": file for name, file in contents(arguments.dist, target).items()}
    path = project.archive_path(arguments.dist, target.name)
    path.write_bytes(reproducible.pack(target.archive, entries, project.epoch()))
    project.write_json(project.tools_path(arguments.dist, target.name), project.archiver())
    print(f"{path}: {path.stat().st_size:,} bytes")


project.main(main)
