#!/usr/bin/env python3
"""Writes the SHA-256 of every file of a release, as `sha256sum` does, or checks them.

The check also fails for files that have no sum.
"""

import argparse
import pathlib
import re
import sys

sys.dont_write_bytecode = True

import project
import reproducible


def read(dist):
    """The sums of a release: name -> SHA-256."""
    path = project.sums_path(dist)
    if not path.is_file():
        raise project.Failure(f"{path} does not exist: run .ci/release/sums.py {dist}")
    sums = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = re.fullmatch(r"([0-9a-f]{64})  ([\w.-]+)", line)
        if not row or row[2] in sums:
            raise project.Failure(f"{path} has an invalid line: {line}")
        sums[row[2]] = row[1]
    return sums


def check(dist):
    """Fails unless the files are exactly those with sums. Returns the sums."""
    sums, names = read(dist), project.release_files(dist)
    problems = [f"{name} has no sum" for name in names if name not in sums]
    problems += [f"{name} does not exist" for name in sums if name not in names]
    different = [name for name in names if name in sums and reproducible.sha256(dist / name) != sums[name]]
    problems += [f"{name} has another SHA-256 than in {project.sums_path(dist).name}" for name in different]
    if problems:
        raise project.Failure("\n       ".join(problems))
    return sums


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dist", type=pathlib.Path, help="the folder of the release")
    parser.add_argument("--check", action="store_true", help="compare the files with the sums")
    arguments = parser.parse_args()
    if arguments.check:
        print(f"{len(check(arguments.dist))} files have their sums")
        return
    names = project.release_files(arguments.dist)
    lines = [f"{reproducible.sha256(arguments.dist / name)}  {name}\n" for name in names]
    project.sums_path(arguments.dist).write_bytes("".join(lines).encode())
    print(f"{project.sums_path(arguments.dist)}: {len(names)} files")


if __name__ == "__main__":
    project.main(main)
