"""The crates that a program contains, as cargo resolves them for one target.

`cargo tree` decides which: its features are those of the build. `cargo metadata` would add crates that only other members of
the workspace, tests or build scripts turn on; it gives the licences and the folders. Neither needs the network if the crates were
downloaded (`cargo fetch --locked`).
"""

import collections
import json
import pathlib
import re

import project

# `dependencies` are keys: (name, version). `checksum` is None for the crates of this repository.
Crate = collections.namedtuple(
    "Crate", "name version licence authors description repository folder features checksum dependencies"
)


def tree(rust_target):
    """The lines of `cargo tree`: (depth, name, version, features). A crate's dependencies follow it once only."""
    text = project.run(
        *("cargo", "tree", "--locked", "--package", project.PROGRAM, "--edges", "normal,no-proc-macro"),
        *("--target", rust_target, "--prefix", "depth", "--format", "|{p}|{f}|"),
    ).decode()
    pattern = re.compile(r"(\d+)\|(\S+) v(\S+)[^|]*\|([^|]*)\|")
    found = [pattern.match(line) for line in text.splitlines()]
    return [(int(line[1]), line[2], line[3], line[4].split(",") if line[4] else []) for line in found if line]


def graph(lines):
    """Features and dependencies of each crate: (name, version) -> (features, set of keys)."""
    crates, above = {}, []
    for depth, name, version, features in lines:
        key = (name, version)
        crates.setdefault(key, (features, set()))
        del above[depth:]
        if above:
            crates[above[-1]][1].add(key)
        above.append(key)
    return crates


def checksums(lock):
    """The SHA-256 of the packages of registries in the text of a Cargo.lock: (name, version) -> digest."""
    pattern = re.compile(r'^name = "(.*)"\nversion = "(.*)"\n(?:source = ".*"\n)(?:checksum = "([0-9a-f]{64})"\n)', re.MULTILINE)
    return {(name, version): digest for name, version, digest in pattern.findall(lock)}


def contained(rust_target):
    """The crates in the program for a target, by (name, version), sorted. The program's own crate is one of them."""
    text = project.run(
        *("cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", rust_target)
    ).decode()
    packages = {(each["name"], each["version"]): each for each in json.loads(text)["packages"]}
    digests = checksums((project.ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    crates = {}
    for key, (features, dependencies) in sorted(graph(tree(rust_target)).items()):
        package = packages[key]
        if package["source"] is not None and key not in digests:
            raise project.Failure(f"Cargo.lock has no checksum of {key[0]} {key[1]}")
        crates[key] = Crate(
            *key,
            licence=(package["license"] or "").replace("/", " OR "),
            authors=package["authors"],
            description=package["description"],
            repository=package["repository"],
            folder=pathlib.Path(package["manifest_path"]).parent,
            features=features,
            checksum=digests[key] if package["source"] is not None else None,
            dependencies=sorted(dependencies),
        )
    return crates


def is_copyleft(crate):
    """Whether the licence asks for its own text and the sources: the GPL and its relatives, without a choice."""
    return "GPL" in crate.licence and " OR " not in crate.licence
