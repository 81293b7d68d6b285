"""The texts of licences that a binary must be passed on with, collected from the files of the crates that it contains.

Packages with the same text share it. A package without a text gets that of its licence: see `standard_text`.
"""

import os
import pathlib
import re

import crates
import project

NAMES = re.compile(r"(un)?licen[sc]e|copying|copyright|notice|authors", re.IGNORECASE)
# Texts of licences that some crates name without having them, and of what is in programs and is no crate.
OWN_TEXTS = pathlib.Path(__file__).parent / "licences"
RULE = "=" * 100


def normal(text):
    """Without what editors change: carriage returns, spaces at the ends of lines, empty lines at both ends."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    return "\n".join(lines).strip("\n") + "\n"


def crate_texts(crate):
    """The distinct texts in a crate's folder, in the order of the names of the files."""
    paths = []
    for folder, _, files in os.walk(crate.folder):
        paths += [pathlib.Path(folder) / name for name in files if NAMES.match(name) and not name.endswith(".rs")]
    paths.sort(key=lambda path: path.relative_to(crate.folder).as_posix())
    return list(dict.fromkeys(normal(path.read_text(encoding="utf-8", errors="replace")) for path in paths))


def standard_text(crate, collected):
    """The text of a crate's licence from elsewhere: the first that the crate may be used under and that there is."""
    for licence in re.findall(r"[\w.+-]+", crate.licence):
        file = OWN_TEXTS / f"{licence}.txt"
        if file.is_file():
            return normal(file.read_text(encoding="utf-8"))
        if licence == "Apache-2.0":
            whole = [text for text in collected if re.match(r"\s*Apache License\n\s*Version 2\.0, January 2004\n", text)]
            if whole:
                return min(whole)
    raise project.Failure(
        f"{crate.name} {crate.version} ({crate.licence}) has no text of its licence: add one to .ci/release/licences"
    )


def other_parts(rust_target):
    """What is in a program besides crates: heading -> text."""
    parts = {"Rust's standard library": "rust.txt"}
    if rust_target.endswith("musl"):
        parts["musl, the C library"] = "musl.txt"
    return {name: normal((OWN_TEXTS / file).read_text(encoding="utf-8")) for name, file in parts.items()}


def title(crate):
    authors = f", by {', '.join(crate.authors)}" if crate.authors else ""
    return f"{crate.name} {crate.version} ({crate.licence}){authors}"


def collect(contained, rust_target):
    """The texts with the headings of those that have them: text -> headings. Texts that differ in spaces only are one."""
    packages = [crate for crate in contained.values() if crate.checksum and not crates.is_copyleft(crate)]
    texts = [(crate, crate_texts(crate)) for crate in packages]
    collected = {text for _, found in texts for text in found}
    named = [(text, title(crate)) for crate, found in texts for text in found or [standard_text(crate, collected)]]
    named += [(text, name) for name, text in other_parts(rust_target).items()]
    same = {}
    for text, _ in named:
        words = " ".join(text.split())
        same[words] = min(text, same.get(words, text))
    headings = {}
    for text, name in named:
        headings.setdefault(same[" ".join(text.split())], set()).add(name)
    return headings


def third_party(contained, target):
    """The file with all texts but those of copyleft licences."""
    headings = collect(contained, target.rust)
    blocks = sorted((sorted(names), text) for text, names in headings.items())
    parts = [
        f"Licences of the software in {project.PROGRAM} {project.version()} for {target.name}, each text after those that have it.\n"
        "Where a package offers a choice of licences, all of their texts are here.\n"
    ]
    parts += ["\n".join([RULE, *names, RULE, "", text]) for names, text in blocks]
    return "\n".join(parts)


def copyleft(contained):
    """Copyleft texts: name of the file -> text. Fails if a package has none."""
    found = {}
    for crate in filter(crates.is_copyleft, contained.values()):
        texts = crate_texts(crate)
        if len(texts) != 1:
            raise project.Failure(f"{crate.name} {crate.version} has {len(texts)} texts of its licence instead of one")
        if found.setdefault(f"{crate.licence}.txt", texts[0]) != texts[0]:
            found[f"{crate.licence}-{crate.name}.txt"] = texts[0]
    return found


def files(target):
    """The folder `licences` of an archive: name -> text."""
    contained = crates.contained(target.rust)
    return {"THIRD-PARTY-LICENCES.txt": third_party(contained, target), **copyleft(contained)}
