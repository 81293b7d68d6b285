"""The project as the release scripts see it: its folder, version, commit and targets, and the files of a release.

Works with Python 3.9, which macOS has.
"""

import collections
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = "terrane"
# What names the signing key, which nothing but the scripts that sign may see.
OF_THE_KEY = re.compile(r"TERRANE_SIGNING_.*|GNUPGHOME")

# `rust` is Rust's name; `compilers` are those that build scripts look for when nothing is set; `environment` is that of the build.
Target = collections.namedtuple("Target", "name rust archive program compilers rustflags environment")


class Failure(Exception):
    """An error that the script reports in one line, without a stack trace."""


def main(function):
    """Runs the main function of a script: prints a Failure as an error and exits with 1."""
    try:
        function()
    except Failure as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)


def environment(**more):
    """The environment for other programs: without what names the signing key."""
    return {**{name: value for name, value in os.environ.items() if not OF_THE_KEY.fullmatch(name)}, **more}


def run(*command, **options):
    """Runs a command in the repository and returns its output as bytes."""
    options = {"cwd": ROOT, "stdout": subprocess.PIPE, "check": True, "env": environment(), **options}
    try:
        return subprocess.run([str(part) for part in command], **options).stdout
    except OSError as error:
        raise Failure(f"{command[0]} cannot be run: {error.strerror}") from None
    except subprocess.CalledProcessError as error:
        raise Failure(f"{' '.join(map(str, command[:3]))} failed with status {error.returncode}") from None


def git(*arguments):
    return run("git", *arguments)


def workspace_value(name):
    """A value of `[workspace.package]` in Cargo.toml."""
    text = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    section = re.search(r"^\[workspace\.package\]\n(.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL)
    value = section and re.search(rf'^{name} = "([^"]*)"', section[1], re.MULTILINE)
    if not value:
        raise Failure(f"Cargo.toml has no {name} in [workspace.package]")
    return value[1]


def version():
    return workspace_value("version")


def repository():
    """The address of the project, without a slash at the end."""
    return workspace_value("repository")


def commit():
    return git("rev-parse", "HEAD").decode().strip()


def epoch():
    """The time of the commit in seconds: what SOURCE_DATE_EPOCH is in a release."""
    return int(git("log", "-1", "--format=%ct"))


def rfc3339(seconds):
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def changes(dist=None):
    """What in the work tree is in no commit, as `git status` prints it; the folder of the release does not count."""
    paths = ["."]
    if dist is not None:
        try:
            paths.append(f":(exclude){pathlib.Path(dist).resolve().relative_to(ROOT).as_posix()}")
        except ValueError:
            pass
    return git("status", "--porcelain", "--", *paths).decode().splitlines()


def committed(path):
    """The content of a file in the commit. The work tree may have other ends of lines."""
    return git("show", f"HEAD:{path}")


def committed_files(folder):
    """Paths of the files below a folder in the commit, sorted; empty if there is no such folder."""
    listing = git("ls-tree", "-r", "-z", "--name-only", "HEAD", "--", f"{folder}/").decode()
    return sorted(filter(None, listing.split("\0")))


def targets():
    """The targets of a release by name, in the order of the table."""
    table = json.loads((pathlib.Path(__file__).parent / "targets.json").read_text(encoding="utf-8"))
    defaults = {"compilers": [], "rustflags": [], "environment": {}}
    return {name: Target(name=name, **{**defaults, **row}) for name, row in table.items()}


def target(name):
    known = targets()
    if name not in known:
        raise Failure(f"there is no target {name}; there are {', '.join(known)}")
    return known[name]


def stem(target_name):
    return f"{PROGRAM}_{version()}_{target_name}"


def archive_path(dist, target_name):
    return pathlib.Path(dist) / f"{stem(target_name)}.{target(target_name).archive}"


def stage(dist, target_name):
    """The folder for what a build made, before the archive is made of it."""
    return pathlib.Path(dist) / "stage" / stem(target_name)


def record_path(dist, target_name):
    """The file that says how a target was built. The provenance is made of it."""
    return pathlib.Path(dist) / "stage" / f"{target_name}.json"


def tools_path(dist, name):
    """The file that says with what a script made files: `packages`, `images`, or the archive of a target."""
    return pathlib.Path(dist) / "stage" / f"{name}.tools.json"


def archiver():
    """What the bytes of archives depend on, beside their content."""
    return {"python": sys.version.split()[0], "zlib": zlib.ZLIB_RUNTIME_VERSION}


def archived_targets(dist):
    """The targets that have an archive in the folder."""
    found = [each for each in targets().values() if archive_path(dist, each.name).is_file()]
    if not found:
        raise Failure(f"{dist} has no archive of version {version()}")
    return found


def sums_path(dist):
    return pathlib.Path(dist) / f"{PROGRAM}_{version()}_SHA256SUMS"


def provenance_path(dist):
    return pathlib.Path(dist) / f"{PROGRAM}_{version()}.intoto.json"


def is_signed_later(name):
    """Whether a file depends on the time of signing and not on the commit alone. There are four."""
    signed = (sums_path("").name, provenance_path("").name, "index.json")
    return name == "index.json" or name in [f"{each}.sig" for each in signed]


def release_files(dist):
    """Names of the files that the commit determines, sorted: all but sums, signatures and the index.

    A file that has not a release's name is an error: it would be published.
    """
    names = sorted(entry.name for entry in os.scandir(dist) if entry.is_file() and not entry.name.startswith("."))
    names = [name for name in names if not is_signed_later(name) and name != sums_path(dist).name]
    own = re.compile(rf"{PROGRAM}[_-]{re.escape(version())}[_.-]")
    strange = [name for name in names if not own.match(name) or name.endswith(".sig")]
    if strange:
        raise Failure(f"{dist} has files that are no part of release {version()}: {', '.join(strange)}")
    return names


def write_json(path, value):
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    pathlib.Path(path).write_bytes(text.encode())
