#!/usr/bin/env python3
"""Writes the package manifests of a release: the Homebrew formula, the Scoop and winget manifests, and the install script.

Fills the templates beside this file with the version, and with the addresses and digests of the archives in DIST. If DIST has the list of
digests already, both must agree. With --archive, DIST gets terrane_VERSION_manifests.tar.gz and terrane_VERSION_install.sh: call it before
the list of digests is made.

Times are those of SOURCE_DATE_EPOCH, by default of the commit. Templates have @version@, @repository@, @releases@, @date@, and @file:TARGET@, @url:TARGET@, @sha256:TARGET@.
"""

import argparse
import datetime
import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "release"))

import project
import reproducible

INSTALLER = "install.sh"
DEFAULT_VERSION = "default_version=latest\n"
VARIABLE = re.compile(r"@([a-z0-9]+)(?::([a-z0-9_]+))?@")


def templates():
    """Paths of the manifests, without `.in`, and their templates."""
    found = sorted(HERE.glob("*/*.in"))
    return {path.relative_to(HERE).as_posix()[: -len(".in")]: path.read_text(encoding="utf-8") for path in found}


def listed_digests(dist):
    """The list of digests: name -> digest. Empty if there is none yet."""
    path = project.sums_path(dist)
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    return {name.lstrip("*"): digest for digest, name in (line.split(None, 1) for line in lines)}


class Release:
    """Values of the variables of templates."""

    def __init__(self, dist, seconds):
        self.dist = pathlib.Path(dist)
        self.listed = listed_digests(dist)
        self.releases = f"{project.repository()}/releases"
        self.plain = {
            "version": project.version(),
            "repository": project.repository(),
            "releases": self.releases,
            "date": datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%d"),
        }
        self.digests = {}

    def digest(self, target):
        if target not in self.digests:
            path = project.archive_path(self.dist, target)
            if not path.is_file():
                raise project.Failure(f"{self.dist} has no {path.name}")
            digest = reproducible.sha256(path)
            if self.listed and self.listed.get(path.name) != digest:
                raise project.Failure(f"{path.name} does not have the digest in {project.sums_path(self.dist).name}")
            self.digests[target] = digest
        return self.digests[target]

    def value(self, name, target):
        if target is None and name in self.plain:
            return self.plain[name]
        if target in project.targets() and name in ("file", "url", "sha256"):
            file = project.archive_path(self.dist, target).name
            url = f"{self.releases}/download/v{self.plain['version']}/{file}"
            return {"file": file, "url": url, "sha256": self.digest(target)}[name]
        raise project.Failure(f"templates have no variable {name}{':' + target if target else ''}")

    def fill(self, text):
        return VARIABLE.sub(lambda found: self.value(found[1], found[2]), text)


def installer():
    """The install script, whose default is this version."""
    text = (HERE / INSTALLER).read_text(encoding="utf-8")
    if text.count(DEFAULT_VERSION) != 1:
        raise project.Failure(f"{INSTALLER} does not have the line {DEFAULT_VERSION.strip()} once")
    return text.replace(DEFAULT_VERSION, f"default_version={project.version()}\n")


def rendered(dist, seconds, partial):
    """The manifests by path. With `partial`, without those whose archives are missing."""
    release = Release(dist, seconds)
    files = {INSTALLER: installer()}
    for path, template in templates().items():
        try:
            files[path] = release.fill(template)
        except project.Failure as error:
            if not partial:
                raise project.Failure(f"{path}: {error}") from None
            print(f"left out: {path}: {error}", file=sys.stderr)
    return files


def add_to_release(dist, files, seconds):
    """Writes the archive of the manifests, and the install script beside it."""
    top = f"{project.PROGRAM}_{project.version()}_manifests"
    manifests = {f"{top}/{name}": (reproducible.FILE, text.encode()) for name, text in files.items() if name != INSTALLER}
    (dist / f"{top}.tar.gz").write_bytes(reproducible.tar_gz(manifests, seconds))
    script = dist / f"{project.PROGRAM}_{project.version()}_{INSTALLER}"
    script.write_bytes(files[INSTALLER].encode())
    script.chmod(reproducible.PROGRAM)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dist", type=pathlib.Path, help="the folder of the release")
    parser.add_argument("out", type=pathlib.Path, help="the folder for the manifests")
    parser.add_argument("--archive", action="store_true", help="also add them to the release")
    parser.add_argument("--partial", action="store_true", help="leave out manifests whose archives are missing")
    arguments = parser.parse_args()
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or project.epoch())
    files = rendered(arguments.dist, seconds, arguments.partial)
    for name, text in files.items():
        path = arguments.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        path.chmod(reproducible.PROGRAM if name == INSTALLER else reproducible.FILE)
        print(path)
    if arguments.archive:
        add_to_release(arguments.dist, files, seconds)


project.main(main)
