"""The whole release with a stand-in for the build: what it refuses, and that two clones make the same bytes."""

import json
import os
import pathlib
import platform
import shutil
import sys
import unittest
import zlib

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).resolve().parents[2] / ".ci/release")]

import release_support as support

WITHOUT = [part for step in ("packages", "images", "manifests") for part in ("--without", step)]
ARCHIVE = f"terrane_{support.VERSION}_linux_amd64.tar.gz"
PROVENANCE = f"terrane_{support.VERSION}.intoto.json"
# A program with its own path in it, from Rust and from C, which prints what `build` asks for.
SOURCE = """
extern "C" { fn place() -> *const std::ffi::c_char; }
fn main() {
    if std::env::args().nth(1).as_deref() == Some("completion") {
        println!("complete '{}'", std::env::current_exe().unwrap().display());
    } else {
        panic!("{}", unsafe { std::ffi::CStr::from_ptr(place()) }.to_string_lossy());
    }
}
"""
# Compiles with the flags of the environment, as cargo and build scripts do. `sed` splits what cargo splits at the character 31.
COMPILER = """#!/bin/sh
if [ "$1" != build ]; then exec "$REAL_CARGO" "$@"; fi
while [ "$1" != --target ]; do shift; done
folder=$PWD/target/$2/dist
mkdir -p "$folder"
flags=$(eval "echo \\$CFLAGS_$(echo "$2" | tr - _)")
[ -z "$STAND_IN_NO_FLAGS" ] || flags= CARGO_ENCODED_RUSTFLAGS=
cc -O1 $flags -c "$PWD/place.c" -o "$folder/place.o" || exit
exec rustc $(echo "$CARGO_ENCODED_RUSTFLAGS" | tr '\\037' ' ') -Cstrip=symbols -Cpanic=abort --crate-name terrane \\
    -Clink-arg="$folder/place.o" "$PWD/src/main.rs" -o "$folder/terrane"
"""


@unittest.skipUnless(shutil.which("gpg"), "gpg is not here")
class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keys = support.Keys()
        cls.addClassCleanup(cls.keys.close)

    def project(self, name="project", origin=None):
        made = support.Project(name, origin)
        self.addCleanup(made.close)
        return made

    def release(self, project, *arguments, targets="linux_amd64", **variables):
        options = ["--targets", targets, "--first", *WITHOUT]
        return project.script("release", project.dist, *options, *arguments, **{**self.keys.variables, **variables})

    def refused(self, done, message):
        self.assertEqual((done.returncode, message in done.stderr), (1, True), done.stdout + done.stderr)


class Release(Base):
    def test_release_is_complete_and_signed(self):
        project = self.project()
        done = self.release(project, targets="linux_amd64,windows_amd64")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        version = support.VERSION
        files = [f"terrane_{version}_{name}" for name in ("lgpl_source.tar.gz", "linux_amd64.tar.gz", "source.tar.gz", "windows_amd64.zip")]
        files += [f"terrane_{version}.cdx.json", PROVENANCE]
        signed = [f"terrane_{version}_SHA256SUMS", PROVENANCE, "index.json"]
        expected = {*files, *signed, *(f"{name}.sig" for name in signed)}
        self.assertEqual({path.name for path in project.dist.iterdir() if path.is_file()}, expected)
        listed = [line.split()[1] for line in (project.dist / f"terrane_{version}_SHA256SUMS").read_text().splitlines()]
        self.assertEqual(listed, sorted(files))
        for name in signed:
            self.keys.gpg("--verify", str(project.dist / f"{name}.sig"), str(project.dist / name))
        self.assertEqual(project.run("git", "status", "--porcelain"), "")

    def test_programs_of_others_do_not_see_the_key(self):
        project = self.project()
        seen = project.top / "seen"
        # Stand-ins for the scripts of packages, whose programs come from others.
        for name in ("packages", "image.py", "render.py"):
            text = f"import os\nopen(os.environ['STAND_IN_SEEN'], 'a').writelines(f'{name} {{key}}=\\n' for key in os.environ)\n"
            support.write(project.root / ".ci/packages" / name, text)
        project.commit()
        key = project.top / "key"
        support.write(key, self.keys.gpg("--armor", "--export-secret-keys"))
        more = {"TERRANE_SIGNING_KEY": str(key), "TERRANE_SIGNING_PASSPHRASE": "", "STAND_IN_SEEN": str(seen)}
        options = ["--targets", "linux_amd64", "--first", "--snapshot"]
        done = project.script("release", project.dist, *options, **{**self.keys.variables, **more})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = seen.read_text().splitlines()
        self.assertEqual({line.split()[0] for line in lines if " PATH=" in line}, {"cargo", "packages", "image.py", "render.py"})
        self.assertEqual([line for line in lines if "SIGNING" in line or "GNUPGHOME" in line], [])

    def test_files_are_made_without_the_key_and_signed_afterwards(self):
        project = self.project()
        options = [project.dist, "--targets", "linux_amd64"]
        done = project.script("release", *options, "--unsigned", *WITHOUT, GNUPGHOME=str(project.top))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        before = {path.name: path.read_bytes() for path in project.dist.iterdir() if path.is_file()}
        self.assertFalse(any(name.endswith(".sig") or name == "index.json" for name in before), before.keys())
        # The machine that signs has nothing else.
        shutil.rmtree(project.dist / "stage")
        self.refused(project.script("release", *options, "--sign", "--first"), "no key to sign with")
        self.assertEqual(project.script("release", *options, "--sign", **self.keys.variables).returncode, 2)
        archive = project.dist / ARCHIVE
        archive.write_bytes(b"changed")
        self.refused(project.script("release", *options, "--sign", "--first", **self.keys.variables), f"{ARCHIVE} has another SHA-256")
        archive.write_bytes(before[ARCHIVE])
        done = project.script("release", *options, "--sign", "--first", **self.keys.variables)
        self.assertIn("three signatures are valid", done.stdout, done.stderr)
        self.assertEqual({name: (project.dist / name).read_bytes() for name in before}, before)

    def test_refuses_before_anything_is_made(self):
        project = self.project()
        self.refused(self.release(project, TERRANE_SIGNING_FINGERPRINT=""), "no key to sign with")
        self.refused(self.release(project, GNUPGHOME=""), "no key to sign with")
        support.write(project.root / "new", "")
        self.refused(self.release(project, "--snapshot"), "changes that are in no commit:\n?? new")
        project.commit()
        self.refused(self.release(project), f"the commit does not have the tag v{support.VERSION}")
        self.refused(self.release(project, "--built", "--snapshot"), "has no archive of linux_amd64")
        self.assertFalse(project.dist.exists())
        support.write(project.dist / "old", "")
        self.refused(self.release(project, "--snapshot"), "is not empty")

    def test_snapshot_needs_no_tag_and_a_folder_in_the_repository_is_no_change(self):
        project = self.project()
        project.run("git", "tag", "-d", f"v{support.VERSION}")
        project.dist = project.root / "dist"
        done = self.release(project, "--snapshot")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_archives_of_other_machines_are_taken_with_their_records(self):
        one, other, last = self.project(), None, None
        one.build("linux_amd64")
        other = self.project("other", one)
        other.build("windows_amd64", STAND_IN_MARK="built elsewhere")
        last = self.project("last", one)
        for each in (one, other):
            shutil.copytree(each.dist, last.dist, dirs_exist_ok=True)
        done = self.release(last, "--built", targets="linux_amd64,windows_amd64")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        builds = json.loads((last.dist / PROVENANCE).read_text())["predicate"]["buildDefinition"]["internalParameters"]["builds"]
        self.assertEqual([each["target"] for each in builds], ["linux_amd64", "windows_amd64"])

    def test_previous_index_is_continued(self):
        project = self.project()
        before = self.project("before", project)
        support.write(before.root / "Cargo.toml", support.ROOT_MANIFEST.replace(f'"{support.VERSION}"', '"0.1.0"', 1))
        before.run(before.environment["REAL_CARGO"], "update", "--workspace", "--offline")
        before.commit()
        self.assertEqual(self.release(before, "--snapshot").returncode, 0)
        options = ["--targets", "linux_amd64", "--previous", before.dist / "index.json", *WITHOUT]
        done = project.script("release", project.dist, *options, **self.keys.variables)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = json.loads((project.dist / "index.json").read_text())
        self.assertEqual(([each["version"] for each in found["versions"]], found["serial"]), ([support.VERSION, "0.1.0"], 2))


class Provenance(Base):
    def setUp(self):
        self.place = self.project()
        self.place.build("linux_amd64")
        self.record = self.place.dist / "stage/linux_amd64.json"

    def write(self, **variables):
        return self.place.script("provenance.py", self.place.dist, **variables)

    def test_has_digests_commit_commands_and_tools(self):
        self.place.succeed("source", self.place.dist)
        self.assertEqual(self.write(TERRANE_BUILDER="https://example.com/workflow").returncode, 0)
        found = json.loads((self.place.dist / PROVENANCE).read_text())
        self.assertEqual((found["_type"], found["predicateType"]), ("https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1"))
        lines = [f"{each['digest']['sha256']}  {each['name']}\n" for each in found["subject"]]
        support.write(self.place.top / "sums", "".join(lines))
        self.place.run("sha256sum", "--check", "--strict", self.place.top / "sums", cwd=self.place.dist)
        self.assertEqual(len(lines), 3)
        definition = found["predicate"]["buildDefinition"]
        commit = self.place.run("git", "rev-parse", "HEAD").strip()
        self.assertEqual(definition["resolvedDependencies"][0]["digest"], {"gitCommit": commit})
        self.assertEqual(found["predicate"]["runDetails"]["builder"]["id"], "https://example.com/workflow")
        build = definition["internalParameters"]["builds"][0]
        self.assertEqual(build["command"][:5], ["cargo", "build", "--locked", "--profile", "dist"])
        self.assertIn("--remap-path-prefix={terrane}=/terrane", build["environment"]["CARGO_ENCODED_RUSTFLAGS"])
        self.assertTrue(build["tools"]["rustc"][0].startswith("rustc "))
        self.assertNotIn(str(self.place.top), json.dumps(found))

    def test_has_what_is_not_in_the_repository(self):
        """nfpm, the certificates, the root file systems, and the machines whose zlib made the archives."""
        self.refused_without("terrane_0.2.0_amd64.deb", "packages.tools.json")
        self.refused_without("terrane_0.2.0_image_amd64.tar", "images.tools.json")
        archiver = {"python": "3.1", "zlib": "1.3"}
        packages = {"nfpm": {"version": "2.0", "sha256": "a" * 64}, **archiver}
        root = {"sha256": "c" * 64, "packages": ["git 1:2.39"]}
        images = {"certificates": {"sha256": "b" * 64}, "roots": {"amd64": root}, **archiver}
        for name, value in (("packages", packages), ("images", images), ("linux_amd64", archiver)):
            support.write(self.place.dist / f"stage/{name}.tools.json", json.dumps(value))
        self.assertEqual(self.write().returncode, 0)
        definition = json.loads((self.place.dist / PROVENANCE).read_text())["predicate"]["buildDefinition"]
        expected = [
            {"name": "nfpm", "digest": {"sha256": "a" * 64}, "annotations": {"version": "2.0"}},
            {"name": "ca-certificates.crt", "digest": {"sha256": "b" * 64}},
            {"name": "rootfs_amd64.tar", "digest": {"sha256": "c" * 64}, "annotations": {"packages": ["git 1:2.39"]}},
        ]
        self.assertEqual(definition["resolvedDependencies"][2:], expected)
        here = {"python": platform.python_version(), "zlib": zlib.ZLIB_RUNTIME_VERSION}
        made = {"release": here, "linux_amd64": archiver, "packages": archiver, "images": archiver}
        self.assertEqual(definition["internalParameters"]["archives"], made)

    def refused_without(self, name, tools):
        support.write(self.place.dist / name, "")
        self.refused(self.write(), f"{tools} does not exist")
        support.write(self.place.dist / f"stage/{tools}", '{"nfpm": {"sha256": ""}, "python": "", "zlib": ""}')

    def test_archive_of_an_unknown_machine_is_refused(self):
        (self.place.dist / "stage/linux_amd64.tools.json").unlink()
        self.refused(self.write(), "linux_amd64.tools.json does not exist")

    def test_record_of_another_commit_is_refused(self):
        self.place.commit()
        self.refused(self.write(), "linux_amd64 was built from commit ")

    def test_build_with_changes_is_refused(self):
        support.write(self.place.root / "new", "")
        self.place.build("linux_amd64")
        (self.place.root / "new").unlink()
        self.refused(self.write(), "built with changes that are in no commit: ?? new")

    def test_other_program_than_that_of_the_record_is_refused(self):
        with open(self.place.dist / f"stage/terrane_{support.VERSION}_linux_amd64/terrane", "a", encoding="utf-8") as file:
            file.write("# changed\n")
        self.place.succeed("archive.py", "linux_amd64", self.place.dist)
        self.refused(self.write(), "the program in the archive of linux_amd64 is not the one")

    def test_archive_without_a_record_is_refused(self):
        self.record.unlink()
        self.refused(self.write(), "linux_amd64.json does not exist")


class Reproducible(Base):
    def compare(self, one, other, *arguments):
        return one.script("compare", one.dist, other.dist, *arguments)

    def test_two_clones_make_the_same_bytes(self):
        one = self.project("a")
        other = self.project("a-much-longer-name", one)
        targets = "linux_amd64,windows_amd64,linux_amd64_musl"
        before = os.umask(0o022)
        self.addCleanup(os.umask, before)
        self.assertEqual(self.release(one, targets=targets, TZ="UTC", USER="a", LANG="C").returncode, 0)
        os.umask(0o077)
        self.assertEqual(self.release(other, targets=targets, TZ="Asia/Tokyo", USER="someone", HOME=str(other.top)).returncode, 0)
        done = self.compare(one, other)
        self.assertEqual((done.returncode, done.stdout), (0, "8 files are equal\n"), done.stderr)
        self.refused(self.compare(one, other, "--all"), "index.json.sig: differs from byte ")

    def test_changed_byte_is_named(self):
        one = self.project("a")
        other = self.project("b", one)
        self.assertEqual(self.release(one).returncode, 0)
        self.assertEqual(self.release(other, STAND_IN_MARK="the Program").returncode, 0)
        place = (one.dist / f"stage/terrane_{support.VERSION}_linux_amd64/terrane").read_bytes().index(b"# the program") + len("# the ")
        done = self.compare(one, other)
        self.refused(done, f"{ARCHIVE}: differs from byte ")
        self.refused(done, f"  terrane_{support.VERSION}_linux_amd64/terrane from byte {place}\n")
        self.assertNotIn("source.tar.gz", done.stderr)
        (other.dist / f"terrane_{support.VERSION}_source.tar.gz").unlink()
        self.refused(self.compare(one, other), f"terrane_{support.VERSION}_source.tar.gz: in {one.dist} only")

    def test_folders_without_files_are_an_error(self):
        one = self.project()
        one.dist.mkdir()
        self.refused(self.compare(one, one), "the folders are empty")
        self.refused(one.script("compare", one.dist, one.top / "nowhere"), "nowhere is not a folder")

    def test_compiled_programs_have_no_paths_of_the_machine(self):
        host = support.host_target()
        if not host or not shutil.which("cc") or os.name == "nt":
            self.skipTest("no compiler for a target of the table")
        one = self.project("a")
        support.write(one.root / "src/main.rs", SOURCE)
        support.write(one.root / "place.c", "const char *place(void) { return __FILE__; }\n")
        one.commit()
        other = self.project("a-much-longer-name", one)
        programs = {}
        for each in (one, other):
            support.write(each.top / "tools/cargo", COMPILER)
            for mode in ("", "without flags"):
                each.succeed("build", host[0], each.dist, STAND_IN_NO_FLAGS=mode)
                name = f"stage/terrane_{support.VERSION}_{host[0]}/terrane"
                programs.setdefault(mode, []).append((each.dist / name).read_bytes())
        self.assertEqual(programs[""][0], programs[""][1])
        for content in programs[""]:
            self.assertNotIn(b"rel-", content)
            self.assertIn(b"/terrane/place.c", content)
            self.assertIn(b"/terrane/src/main.rs", content)
        # The program would have them without the flags.
        self.assertNotEqual(*programs["without flags"])
        self.assertIn(f"{one.root}/place.c".encode(), programs["without flags"][0])


del Base

if __name__ == "__main__":
    unittest.main()
