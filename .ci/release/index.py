#!/usr/bin/env python3
"""Writes DIST/index.json: all versions with their files and digests, for `terrane version -check` and for scripts that install.

It is the previous index with the version of DIST added. The previous one must have a valid signature (FILE.sig) by the release key, see
`sign -h`. Its serial number grows by one each time, so that a reader notices an older index. A version that is in it already is an error: a release
is never replaced. --refresh makes a new index without a new version, before the old one expires or to withdraw a version.
"""

import argparse
import json
import pathlib
import re
import sys
import time

sys.dont_write_bytecode = True

import project
import signing
import sums

FORMAT = "1.0"


def precedence(version):
    """The key that sorts versions as semantic versioning does: a prerelease comes before its release."""
    numbers, _, prerelease = version.split("+")[0].partition("-")
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in prerelease.split(".")]
    return [int(part) for part in numbers.split(".")], not prerelease, parts


def files(dist):
    """The files of the release, whose sums must be right."""
    rows = []
    for name, digest in sorted(sums.check(dist).items()):
        target = [each.name for each in project.targets().values() if name == project.archive_path(dist, each.name).name]
        size = (dist / name).stat().st_size
        rows.append({"name": name, **({"target": target[0]} if target else {}), "sha256": digest, "size": size})
    return rows


def release(dist):
    version = project.version()
    return {
        "version": version,
        "date": project.rfc3339(project.epoch())[:10],
        "prerelease": "-" in version,
        "files": files(dist),
    }


def previous(path):
    """Versions and serial number of an index whose signature is valid."""
    with signing.key() as key:
        key.verify(path)
    index = json.loads(path.read_text(encoding="utf-8"))
    if index["format_version"].split(".")[0] != FORMAT.split(".")[0]:
        raise project.Failure(f"{path} has format {index['format_version']}, and this script knows {FORMAT}")
    return index["versions"], index["serial"]


def withdraw(versions, texts):
    for text in texts:
        version, _, reason = text.partition("=")
        found = [each for each in versions if each["version"] == version]
        if not found or not reason:
            raise project.Failure(f"--withdraw {text} is not VERSION=REASON with a version of the index")
        # Before the files: the manifest of Scoop reads the text and finds versions without it.
        files = found[0].pop("files")
        found[0].update(withdrawn=reason, files=files)


def index(arguments):
    versions, serial = ([], 0) if arguments.first else previous(arguments.previous)
    if not arguments.refresh:
        made = release(arguments.dist)
        if any(each["version"] == made["version"] for each in versions):
            raise project.Failure(f"{arguments.previous} has version {made['version']} already: a release is never replaced")
        versions.append(made)
    withdraw(versions, arguments.withdraw)
    now = int(arguments.now or time.time())
    return {
        "format_version": FORMAT,
        "generated": project.rfc3339(now),
        "expires": project.rfc3339(now + arguments.days * 24 * 60 * 60),
        "serial": serial + 1,
        "versions": sorted(versions, key=lambda each: precedence(each["version"]), reverse=True),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dist", type=pathlib.Path, help="the folder of the release, with its sums")
    before = parser.add_mutually_exclusive_group(required=True)
    before.add_argument("--previous", type=pathlib.Path, metavar="FILE", help="the index that is published now")
    before.add_argument("--first", action="store_true", help="there was no index before")
    parser.add_argument("--refresh", action="store_true", help="add no version")
    parser.add_argument("--withdraw", action="append", default=[], metavar="VERSION=REASON", help="mark a version as withdrawn")
    parser.add_argument("--days", type=int, default=365, help="how long the index is valid (default: 365)")
    parser.add_argument("--now", metavar="SECONDS", help="the time to write instead of the clock's")
    arguments = parser.parse_args()
    if re.search(r"[^0-9]", arguments.now or ""):
        parser.error("--now is a number of seconds since 1970")
    made = index(arguments)
    project.write_json(arguments.dist / "index.json", made)
    print(f"{arguments.dist / 'index.json'}: serial {made['serial']}, {len(made['versions'])} versions")


project.main(main)
