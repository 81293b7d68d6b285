"""What is in the archives of a release, and that nothing but the commit decides about their bytes."""

import io
import os
import pathlib
import sys
import tarfile
import unittest
import zipfile

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).resolve().parents[2] / ".ci/release")]

import licences
import project
import release_support as support
import reproducible

TOP = f"terrane_{support.VERSION}_linux_amd64"
CONTENT = [
    "LICENSE",
    "README.md",
    "THIRD-PARTY.md",
    "completions/bash/terrane",
    "completions/fish/terrane.fish",
    "completions/powershell/terrane.ps1",
    "completions/zsh/_terrane",
    "licences/LGPL-2.0-or-later.txt",
    "licences/THIRD-PARTY-LICENCES.txt",
    "man/man1/terrane.1",
    "schemas/plan.json",
    "terrane",
]


class Formats(unittest.TestCase):
    entries = {"top/b": (0o755, b"program"), "top/a/c": (0o644, b"text")}

    def test_order_of_entries_does_not_matter(self):
        backwards = dict(reversed(self.entries.items()))
        for kind in ("tar.gz", "zip"):
            self.assertEqual(reproducible.pack(kind, self.entries, 1700000000), reproducible.pack(kind, backwards, 1700000000))

    def test_times_and_contents_matter(self):
        for kind in ("tar.gz", "zip"):
            made = reproducible.pack(kind, self.entries, 1700000000)
            self.assertNotEqual(made, reproducible.pack(kind, self.entries, 1700000002))
            self.assertNotEqual(made, reproducible.pack(kind, {**self.entries, "top/b": (0o644, b"program")}, 1700000000))

    def test_tar_has_one_owner_one_time_and_fixed_modes(self):
        with tarfile.open(fileobj=io.BytesIO(reproducible.tar_gz(self.entries, 1700000000))) as archive:
            found = [(each.name, each.mode, each.uid, each.gid, each.uname, each.mtime) for each in archive]
        rows = [("top", 0o755), ("top/a", 0o755), ("top/a/c", 0o644), ("top/b", 0o755)]
        self.assertEqual(found, [(*row, 0, 0, "root", 1700000000) for row in rows])

    def test_gzip_has_no_name_and_no_time(self):
        header = reproducible.compressed(b"content")[:10]
        self.assertEqual(header[3:8], bytes(5))

    def test_zip_has_modes_and_one_time(self):
        with zipfile.ZipFile(io.BytesIO(reproducible.zipped(self.entries, 1700000000))) as archive:
            found = {each.filename: (each.external_attr >> 16 & 0o777, each.date_time, each.create_system) for each in archive.infolist()}
        time = (2023, 11, 14, 22, 13, 20)
        self.assertEqual(found["top/b"], (0o755, time, 3))
        self.assertEqual(found["top/a/"], (0o755, time, 3))


class Archives(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.project = support.Project()
        cls.addClassCleanup(cls.project.close)
        cls.project.build("linux_amd64", "windows_amd64", "linux_amd64_musl")
        cls.linux = reproducible.members(cls.project.dist / f"{TOP}.tar.gz")

    def test_has_program_documentation_and_licences_below_one_folder(self):
        self.assertEqual(sorted(self.linux), [f"{TOP}/{name}" for name in CONTENT])
        with tarfile.open(self.project.dist / f"{TOP}.tar.gz") as archive:
            self.assertEqual([each.name for each in archive if each.isfile() and each.mode & 0o111], [f"{TOP}/terrane"])

    def test_windows_has_a_zip_with_the_completions_of_the_program_that_runs_here(self):
        top = f"terrane_{support.VERSION}_windows_amd64"
        members = reproducible.members(self.project.dist / f"{top}.zip")
        expected = [f"{top}/{name}" for name in CONTENT if name != "terrane"]
        self.assertEqual(sorted(members), sorted([*expected, f"{top}/terrane.exe"]))
        name = "completions/bash/terrane"
        self.assertEqual(members[f"{top}/{name}"], self.linux[f"{TOP}/{name}"])

    def test_completions_look_for_the_program_on_the_path(self):
        self.assertEqual(self.linux[f"{TOP}/completions/bash/terrane"], b"complete -C 'terrane' terrane # bash\n")

    def test_licences_are_those_of_the_packages_in_the_program(self):
        text = self.linux[f"{TOP}/licences/THIRD-PARTY-LICENCES.txt"].decode()
        self.assertIn("tiny 1.0.0 (MIT), by A. Author\n", text)
        self.assertIn("MIT text of tiny\n", text)
        self.assertIn("Rust's standard library\n", text)
        for other in ("hidden", "macros", "built", "tested", "console", "pgp", "musl"):
            self.assertNotIn(other, text)
        self.assertEqual(self.linux[f"{TOP}/licences/LGPL-2.0-or-later.txt"], b"GNU LIBRARY GENERAL PUBLIC LICENSE\n")

    def test_package_without_a_text_gets_that_of_its_licence(self):
        top = f"terrane_{support.VERSION}_windows_amd64"
        text = reproducible.members(self.project.dist / f"{top}.zip")[f"{top}/licences/THIRD-PARTY-LICENCES.txt"].decode()
        after = text[text.index("console 1.0.0 (MIT OR BSD-3-Clause), by A. Author\n") :]
        self.assertIn("Redistributions in binary form", after)

    def test_static_program_has_the_licence_of_the_c_library(self):
        top = f"terrane_{support.VERSION}_linux_amd64_musl"
        text = reproducible.members(self.project.dist / f"{top}.tar.gz")[f"{top}/licences/THIRD-PARTY-LICENCES.txt"].decode()
        self.assertIn("Rich Felker", text)

    def test_files_come_from_the_commit(self):
        readme = self.project.root / "README.md"
        support.write(readme, "changed\n")
        self.addCleanup(support.write, readme, "read me\n")
        self.project.succeed("archive.py", "linux_amd64", self.project.dist)
        self.assertEqual(reproducible.members(self.project.dist / f"{TOP}.tar.gz")[f"{TOP}/README.md"], b"read me\n")

    def test_target_that_does_not_exist_is_an_error(self):
        done = self.project.script("build", "plan9_amd64", self.project.dist)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no target plan9_amd64; there are linux_amd64,", done.stderr)


class Refusals(unittest.TestCase):
    def setUp(self):
        self.project = support.Project()
        self.addCleanup(self.project.close)

    def fails(self, message, name, *arguments, **variables):
        done = self.project.script(name, *arguments, **variables)
        self.assertEqual((done.returncode, message in done.stderr), (1, True), done.stdout + done.stderr)

    def test_archive_without_a_build(self):
        self.fails("terrane does not exist: run .ci/release/build linux_amd64", "archive.py", "linux_amd64", self.project.dist)

    def test_package_without_any_text_of_its_licence(self):
        (self.project.root / "vendor/tiny/LICENSE").unlink()
        self.project.succeed("build", "linux_amd64", self.project.dist)
        self.fails("tiny 1.0.0 (MIT) has no text of its licence", "archive.py", "linux_amd64", self.project.dist)

    def test_copyleft_package_without_its_text(self):
        (self.project.root / "vendor/pgp/LICENSE").unlink()
        self.project.succeed("build", "linux_amd64", self.project.dist)
        self.fails("pgp 1.0.0 has 0 texts of its licence", "archive.py", "linux_amd64", self.project.dist)

    def test_program_that_is_too_large(self):
        program = self.project.top / "large"
        support.write(program, "#!/bin/sh\necho \"complete '$0'\"\nexit\n")
        with open(program, "ab") as file:
            file.truncate(42_000_001)
        program.chmod(0o755)
        self.project.succeed("build", "linux_amd64", self.project.dist, STAND_IN_PROGRAM=str(program))
        self.fails("has 42,000,001 bytes, more than 42,000,000", "archive.py", "linux_amd64", self.project.dist)

    def test_completions_of_a_program_that_does_not_run(self):
        program = self.project.top / "other"
        support.write(program, b"\x7fELF of another platform")
        self.fails(
            "the program does not run here, and its completions are needed",
            *("build", "windows_arm64", self.project.dist),
            STAND_IN_PROGRAM=str(program),
        )
        native = self.project.top / "terrane"
        support.write(native, "#!/bin/sh\necho \"complete '$0' $2\"\n")
        native.chmod(0o755)
        arguments = ("build", "windows_arm64", self.project.dist, "--completions-of", native)
        self.project.succeed(*arguments, STAND_IN_PROGRAM=str(program))
        made = self.project.dist / f"stage/terrane_{support.VERSION}_windows_arm64/completions/zsh/_terrane"
        self.assertEqual(made.read_text(), "complete 'terrane' zsh\n")

    def test_flags_of_the_environment_are_ignored(self):
        variables = {"RUSTFLAGS": "-Cfrom-outside", "RUSTC_WRAPPER": "outside", "CARGO_PROFILE_DIST_LTO": "off", "GNUPGHOME": "/secret"}
        self.project.succeed("build", "linux_amd64", self.project.dist, **variables)
        log = (self.project.top / "log").read_text()
        for value in ("-Cfrom-outside", "outside", "CARGO_PROFILE_DIST_LTO", "/secret"):
            self.assertNotIn(value, log)
        self.assertIn("SOURCE_DATE_EPOCH=1700000000\n", log)
        self.assertIn("build --locked --profile dist --package terrane --bin terrane --target x86_64-unknown-linux-gnu\n", log)


class Sources(unittest.TestCase):
    def setUp(self):
        self.project = support.Project()
        self.addCleanup(self.project.close)
        self.project.build("linux_amd64")

    def test_archive_has_the_files_of_the_commit(self):
        support.write(self.project.root / "extra", "in no commit")
        self.project.succeed("source", self.project.dist)
        members = reproducible.members(self.project.dist / f"terrane_{support.VERSION}_source.tar.gz")
        names = self.project.run("git", "ls-files").split()
        self.assertEqual(sorted(members), sorted(f"terrane_{support.VERSION}/{name}" for name in names))
        self.assertIn(f"terrane_{support.VERSION}/Cargo.lock", members)

    def test_settings_of_the_user_do_not_change_it(self):
        self.project.succeed("source", self.project.dist)
        path = self.project.dist / f"terrane_{support.VERSION}_source.tar.gz"
        before = path.read_bytes()
        config = self.project.top / "gitconfig"
        support.write(config, "[core]\n\tautocrlf = true\n[tar]\n\tumask = 0077\n")
        self.project.succeed("source", self.project.dist, GIT_CONFIG_GLOBAL=str(config), TZ="Asia/Tokyo")
        self.assertEqual(path.read_bytes(), before)

    def test_copyleft_packages_are_what_cargo_downloaded(self):
        self.project.succeed("source", self.project.dist)
        top = f"terrane_{support.VERSION}_lgpl_source"
        members = reproducible.members(self.project.dist / f"{top}.tar.gz")
        self.assertEqual(members, {f"{top}/pgp-1.0.0.crate": support.package_archive("pgp")})

    def test_copyleft_package_with_another_checksum_is_an_error(self):
        support.write(self.project.cargo_home / "registry/cache/vendored/pgp-1.0.0.crate", "changed")
        done = self.project.script("source", self.project.dist)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no pgp-1.0.0.crate with the checksum of Cargo.lock", done.stderr)


class OwnLicences(unittest.TestCase):
    """The packages of this repository, for which cargo must have downloaded them."""

    def test_every_package_has_a_text(self):
        for name in ("linux_amd64", "darwin_arm64", "windows_amd64"):
            found = licences.files(project.target(name))
            self.assertEqual(sorted(found), ["LGPL-2.0-or-later.txt", "THIRD-PARTY-LICENCES.txt"])
            self.assertIn("GNU LIBRARY GENERAL PUBLIC LICENSE", found["LGPL-2.0-or-later.txt"])
            self.assertRegex(found["THIRD-PARTY-LICENCES.txt"], r"\naws-lc-sys [0-9.]+ \(ISC AND ")


if __name__ == "__main__":
    os.umask(0o022)
    unittest.main()
