"""The install script, against a page of releases on a loopback address."""

import hashlib
import os
import pathlib
import shutil
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import packages_support as support
import release_support

HOST = support.host_target()
VERSION = support.VERSION
SHELLS = [["sh"], *(shell for shell in (["dash"], ["bash"], ["busybox", "sh"], ["zsh", "--emulate", "sh"]) if shutil.which(shell[0]))]
# Programs that the script uses; of some, one is enough.
NEEDED = "sh mktemp rm uname getconf awk cat cp mv mkdir chmod cut head tail sort date basename dirname tar gzip ln sed grep ldd".split()


@unittest.skipUnless(HOST, "there is no release for this machine")
class Base(support.Base):
    def setUp(self):
        super().setUp()
        self.script = self.place.root / ".ci/packages/install.sh"
        self.archive, self.content = support.archive(HOST)
        self.program = self.place.home / ".local/bin/terrane"

    def publish(self, content=None, keys=None, version=VERSION):
        self.page.publish({self.archive.replace(VERSION, version): content or self.content}, version, keys)

    def install(self, *arguments, shell=("sh",), **variables):
        return self.place.run(*shell, self.script, *arguments, **variables)

    def no_rest(self):
        """No temporary folder or file is left."""
        self.assertEqual([path.name for path in self.place.top.glob("terrane-install.*")], [])
        self.assertEqual([name for name in self.place.files() if "/.terrane-" in name], [])


class Install(Base):
    def test_newest_version_is_installed_and_nothing_else(self):
        self.publish()
        self.page.publish_index([support.row(VERSION), support.row("0.1.0")])
        for shell in SHELLS:
            with self.subTest(shell=shell):
                shutil.rmtree(self.place.home / ".local", ignore_errors=True)
                text = self.succeeded(self.install(shell=shell))
                self.assertIn(f"installed {self.program}: version {VERSION}, {HOST}, signature not checked", text)
                self.assertIn(f"note: {self.program.parent} is not in PATH", text)
                self.assertEqual(self.place.files(), [".local/bin/terrane"])
                self.assertEqual(self.program.stat().st_mode & 0o777, 0o755)
                self.no_rest()

    def test_upgrade_and_links(self):
        for version in ("0.1.0", VERSION):
            name, content = support.archive(HOST, version)
            self.page.publish({name: content}, version)
        folder = self.place.home / "with space"
        self.succeeded(self.install("--version", "v0.1.0", "--dir", folder))
        # A program that runs keeps its file.
        running = self.place.top / "running"
        os.link(folder / "terrane", running)
        text = self.succeeded(self.install(f"--version={VERSION}", f"--dir={folder}", "--as", "terraform", "--as", "tofu", PATH=f"{folder}:{os.environ['PATH']}"))
        self.assertNotIn("note:", text)
        self.assertEqual(self.place.files(), ["with space/terraform", "with space/terrane", "with space/tofu"])
        self.assertIn(f"v{VERSION},", self.succeeded(self.place.run(folder / "terraform", "version")))
        self.assertEqual(running.read_bytes(), support.program("0.1.0"))

    def test_zip_is_unpacked(self):
        if not shutil.which("unzip"):
            self.skipTest("unzip is not here")
        name, content = support.archive("windows_arm64")
        self.page.publish({name: content})
        self.succeeded(self.install("--version", VERSION, "--target", "windows_arm64"))
        self.assertEqual(self.place.files(), [".local/bin/terrane.exe"])

    def test_incomplete_script_does_nothing(self):
        self.publish()
        text = self.script.read_bytes()
        for part in range(0, len(text) - 1, len(text) // 40):
            cut = self.place.top / "cut.sh"
            cut.write_bytes(text[:part])
            self.place.run("sh", cut, "--version", VERSION)
        self.assertEqual((self.place.files(), self.page.requests), ([], []))

    def test_words_that_are_no_options_are_refused(self):
        for arguments, message in [
            (["--versoin"], "there is no option --versoin"),
            (["--dir"], "--dir needs a value"),
            (["--version", "../0.2.0"], "is not a version"),
            (["--version", "0.2.0/.."], "is not a version"),
            (["--target", "linux/../x"], "is not a target"),
            (["--as", "terragrunt"], "--as is terraform or tofu"),
        ]:
            with self.subTest(arguments=arguments):
                self.refused(self.install(*arguments), message, 2)
        self.assertIn("--version VERSION", self.succeeded(self.install("-h")))
        self.assertEqual(self.page.requests, [])

    def test_addresses_without_encryption_are_refused(self):
        for address in ("http://example.com/releases", "http://127.0.0.1:1@example.com", "http://127.0.0.1.example.com/", "ftp://example.com", "file:///tmp"):
            with self.subTest(address=address):
                self.refused(self.install(TERRANE_RELEASES=address), "TERRANE_RELEASES must", 2)


class Digests(Base):
    """What a damaged release does: an error, and the program that was there stays."""

    def setUp(self):
        super().setUp()
        self.program.parent.mkdir(parents=True)
        self.program.write_bytes(b"old")

    def unchanged(self, message, *arguments, **variables):
        self.refused(self.install("--version", VERSION, *arguments, **variables), message)
        self.assertEqual(self.place.files(), [".local/bin/terrane"])
        self.assertEqual(self.program.read_bytes(), b"old")
        self.no_rest()

    def test_wrong_digest(self):
        self.publish()
        self.page.put(VERSION, self.archive, self.content + b"\0")
        self.unchanged("does not have the digest")

    def test_truncated_archive(self):
        self.publish()
        self.page.put(VERSION, self.archive, self.content[:-100])
        self.unchanged("does not have the digest")

    def test_connection_that_ends_early(self):
        self.publish()
        self.page.cut.add(f"/releases/download/v{VERSION}/{self.archive}")
        self.unchanged("cannot be downloaded" if shutil.which("curl") else "error:")

    def test_archive_without_the_program(self):
        self.publish(support.archive(HOST, without=["terrane"])[1])
        self.unchanged(f"has no terrane_{VERSION}_{HOST}/terrane")

    def test_archive_whose_program_is_a_folder(self):
        self.publish(support.archive(HOST, without=["terrane"], extra={"terrane/x": (0o755, b"x")})[1])
        self.unchanged("is not a file")

    def test_no_archive(self):
        self.publish(self.content[:-200])
        self.unchanged("cannot be unpacked")

    def test_lists_of_digests(self):
        good = hashlib.sha256(self.content).hexdigest()
        for sums, message in [
            ("", "has no file"),
            (f"{good}  other_{self.archive}\n", "has no file"),
            (f"{good}  {self.archive}\n{'0' * 64}  {self.archive}\n", "no single digest"),
            (f"{good[:40]}  {self.archive}\n", "no SHA-256 digest"),
            (f"$(touch x)  {self.archive}\n", "error:"),
            ("<html>not found</html>\n", "has no file"),
        ]:
            with self.subTest(sums=sums):
                self.publish()
                self.page.put(VERSION, f"terrane_{VERSION}_SHA256SUMS", sums.encode())
                self.unchanged(message)

    def test_program_that_does_not_start(self):
        self.publish(support.archive(HOST, content=b"#!/bin/sh\necho version GLIBC_9.9 not found\nexit 1\n")[1])
        self.unchanged("does not start here: version GLIBC_9.9 not found")

    def test_program_of_another_version(self):
        self.publish(support.archive(HOST, content=support.program("0.1.9"))[1])
        self.unchanged(f"is not version {VERSION}")

    def test_missing_release_and_missing_target(self):
        self.unchanged("cannot be downloaded")
        self.publish()
        self.unchanged("has no file", "--target", "freebsd_amd64")


class Signatures(Base):
    def setUp(self):
        super().setUp()
        self.need_gpg()
        self.key = support.public_key(self.keys, self.place)
        self.sums = f"terrane_{VERSION}_SHA256SUMS"

    def keyed(self, *arguments, **variables):
        return self.install("--version", VERSION, "--key", self.key, *arguments, **variables)

    def test_signature_by_the_key(self):
        self.publish(keys=self.keys)
        self.assertIn("signature verified", self.succeeded(self.keyed()))
        self.assertIn("signature verified", self.succeeded(self.install("--version", VERSION, TERRANE_RELEASE_KEY=self.key)))
        self.assertEqual(self.place.files(), [".local/bin/terrane"])

    def test_signatures_that_are_refused(self):
        other = release_support.Keys()
        self.addCleanup(other.close)
        self.publish(keys=self.keys)
        address = f"/releases/download/v{VERSION}/{self.sums}"
        sums = self.page.files[address]
        for name, changed, signature, message in [
            ("another key", sums, support.signature(other, sums), "is not signed by the key"),
            ("another text", sums + b"\n", self.page.files[f"{address}.sig"], "is not signed by the key"),
            ("no signature", sums, b"", "is not signed by the key"),
            ("a text", sums, b"<html>", "is not signed by the key"),
            ("a signature of long ago", sums, support.signature(self.keys, sums, "--default-sig-expire", "seconds=1"), "Signature expired"),
        ]:
            with self.subTest(name):
                self.page.files.update({address: changed, f"{address}.sig": signature})
                if "ago" in name:
                    time.sleep(2)
                self.refused(self.keyed(), message)
                self.assertEqual(self.place.files(), [])
                self.no_rest()

    def test_release_without_a_signature(self):
        self.publish()
        self.refused(self.keyed(), "cannot be downloaded")

    def test_expired_key(self):
        old = release_support.Keys()
        self.addCleanup(old.close)
        old.gpg("--batch", "--quick-set-expire", old.fingerprint, "seconds=2")
        key = support.public_key(old, self.place, "old.asc")
        self.publish(keys=old)
        time.sleep(3)
        self.refused(self.install("--version", VERSION, "--key", key), "does not count")

    def test_keys_that_cannot_be_used(self):
        self.publish(keys=self.keys)
        wrong = self.place.top / "wrong"
        wrong.write_text("no key\n")
        self.refused(self.install("--version", VERSION, "--key", wrong), "gpg does not accept the key")
        self.refused(self.install("--version", VERSION, "--key", self.place.top / "none"), "cannot be read")

    def test_signed_index(self):
        self.publish(keys=self.keys)
        self.page.publish_index([support.row(VERSION)], self.keys)
        self.succeeded(self.install("--key", self.key))
        self.page.files["/releases/latest/download/index.json"] += b"\n"
        self.refused(self.install("--key", self.key), "index.json is not signed by the key")


class Index(Base):
    def resolved(self, *arguments):
        return self.succeeded(self.install("--resolve", *arguments)).split()

    def test_versions_that_must_not_be_installed_are_left_out(self):
        rows = [
            support.row("0.5.0-rc.1", prerelease=True),
            support.row("0.4.1-beta"),
            support.row("0.4.0", withdrawn='loses states, see "}],{" and \\'),
            support.row("0.3.1", withdrawn=""),
            support.row("0.3.0", withdrawn=None),
            support.row("0.2.0"),
        ]
        self.page.publish_index(rows)
        self.assertEqual(self.resolved(), ["0.3.0", HOST])
        compact = self.page.files["/releases/latest/download/index.json"].replace(b"\n", b"").replace(b"  ", b"")
        self.page.index(compact)
        self.assertEqual(self.resolved("--version", "latest"), ["0.3.0", HOST])
        self.assertEqual(self.place.files(), [])

    def test_indexes_that_are_refused(self):
        for more, message in [
            ({"expires": "2020-01-01T00:00:00Z"}, "was valid until 2020-01-01T00:00:00Z"),
            ({"expires": ""}, "was valid until -:"),
            ({"format_version": "2.0"}, "has a format that this script does not read"),
            ({"versions": []}, "has no version that can be installed"),
            ({"versions": [support.row("0.2.0", withdrawn="x")]}, "has no version that can be installed"),
            ({"versions": [support.row("0.2.0/../x")]}, "has an invalid version"),
            ({"versions": [], "other": [support.row("0.2.0")]}, "has no version that can be installed"),
        ]:
            with self.subTest(message=message, more=more):
                rows = more.pop("versions", [support.row(VERSION)])
                self.page.publish_index(rows, **more)
                self.refused(self.install("--resolve"), message)

    def test_hundred_versions_take_no_time(self):
        self.page.publish_index([support.row(f"0.{minor}.0") for minor in range(100, 0, -1)])
        begin = time.monotonic()
        self.assertEqual(self.resolved(), ["0.100.0", HOST])
        self.assertLess(time.monotonic() - begin, 10)


class Cache(Base):
    def setUp(self):
        super().setUp()
        self.cache = self.place.top / "cache"
        self.publish(keys=self.keys)
        self.arguments = ["--version", VERSION, "--cache", self.cache]
        if self.keys:
            self.arguments += ["--key", support.public_key(self.keys, self.place)]

    def test_second_install_downloads_the_list_and_not_the_archive(self):
        self.succeeded(self.install(*self.arguments))
        self.page.requests.clear()
        self.succeeded(self.install(*self.arguments))
        sums = f"/releases/download/v{VERSION}/terrane_{VERSION}_SHA256SUMS"
        self.assertEqual(self.page.requests, [sums, f"{sums}.sig"] if self.keys else [sums])
        self.assertEqual(self.place.files(self.cache), [self.archive])

    def test_archive_that_is_not_the_released_one_is_downloaded_again(self):
        """Also if who changed the archive in the cache put a list beside it, and there is no key."""
        other = support.archive(HOST, content=support.program() + b"# another\n")[1]
        for arguments in (self.arguments, self.arguments[:4]):
            for content in (b"damaged", other):
                release_support.write(self.cache / self.archive, content)
                line = f"{hashlib.sha256(content).hexdigest()}  {self.archive}\n"
                release_support.write(self.cache / f"terrane_{VERSION}_SHA256SUMS", line)
                self.succeeded(self.install(*arguments))
                self.assertEqual((self.cache / self.archive).read_bytes(), self.content)
                self.assertEqual(self.program.read_bytes(), support.program())

    def test_cache_is_no_release(self):
        self.succeeded(self.install(*self.arguments))
        self.page.files.clear()
        self.refused(self.install(*self.arguments), "cannot be downloaded")


class OlderIndex(Base):
    """An index that was published before, which a host or a network in between may show again."""

    def setUp(self):
        super().setUp()
        self.cache = self.place.top / "cache"
        for version in ("0.1.0", VERSION):
            name, content = support.archive(HOST, version)
            self.page.publish({name: content}, version)

    def index(self, *versions, serial, keys=None):
        self.page.publish_index([support.row(version) for version in versions], keys, serial=serial)

    def test_lower_serial_than_the_last_one_is_refused(self):
        resolve = ["--resolve", "--cache", self.cache]
        for serial in (7, 7, 8):
            self.index(VERSION, serial=serial)
            self.succeeded(self.install(*resolve))
        self.index("0.1.0", serial=7)
        self.refused(self.install(*resolve), "older than the last one: its serial is 7, and 8 was seen before")
        self.refused(self.install("--cache", self.cache), "older than the last one")
        self.assertEqual(self.place.files(), [])
        # Without a cache it is not known.
        self.succeeded(self.install("--resolve"))

    def test_serials_of_keys_are_kept_apart(self):
        self.need_gpg()
        key = support.public_key(self.keys, self.place)
        self.index(VERSION, serial=99)
        self.succeeded(self.install("--resolve", "--cache", self.cache))
        signed = ["--resolve", "--cache", self.cache, "--key", key]
        self.index(VERSION, serial=5, keys=self.keys)
        self.succeeded(self.install(*signed))
        self.index("0.1.0", serial=4, keys=self.keys)
        self.refused(self.install(*signed), "its serial is 4, and 5 was seen before")
        expected = ["terrane_index_serial", f"terrane_index_serial_{self.keys.fingerprint}"]
        self.assertEqual(self.place.files(self.cache), expected)

    def test_serials_that_are_no_numbers(self):
        for serial in ("x", None, -1, 10**16):
            self.index(VERSION, serial=serial)
            self.refused(self.install("--resolve", "--cache", self.cache), "has an invalid serial")
        release_support.write(self.cache / "terrane_index_serial", "damaged\n")
        self.index(VERSION, serial=3)
        self.succeeded(self.install("--resolve", "--cache", self.cache))

    def test_newer_program_is_not_replaced_by_the_latest_version(self):
        self.succeeded(self.install("--version", VERSION))
        self.index("0.1.0", serial=1)
        self.refused(self.install("--version", "latest"), f"is version {VERSION}, which is newer than 0.1.0")
        self.assertEqual(self.program.read_bytes(), support.program(VERSION))
        self.succeeded(self.install("--version", "latest", "--force"))
        self.assertEqual(self.program.read_bytes(), support.program("0.1.0"))
        self.succeeded(self.install("--version", VERSION))
        self.succeeded(self.install("--version", "0.1.0"))
        self.no_rest()

    def test_versions_are_compared_by_their_numbers(self):
        self.index(VERSION, serial=1)
        for there, refused in [
            ("0.1.9", False),
            ("0.2.0-rc.1", False),
            (VERSION, False),
            ("0.2.1-beta", True),
            ("0.10.0", True),
            ("1.0.0", True),
            ("0.2.1", True),
        ]:
            with self.subTest(there):
                release_support.write(self.program, support.program(there))
                self.program.chmod(0o755)
                self.assertEqual(self.install("--version", "latest").returncode, int(refused))


class Redirects(Base):
    def test_redirects_to_addresses_without_encryption_are_refused(self):
        self.publish()
        self.page.publish_index([support.row(VERSION)])
        gate = self.gate()
        for downloader in filter(shutil.which, ("curl", "wget")):
            path = self.tools(*NEEDED, downloader, "sha256sum", "shasum")
            for version in (VERSION, "latest"):
                with self.subTest(downloader=downloader, version=version):
                    message = "cannot be downloaded" if downloader == "curl" else "leads to an address without encryption"
                    self.refused(self.install("--version", version, PATH=path, **gate.variables), message)
                    self.assertEqual(self.place.files(), [])
                    self.no_rest()


class Surroundings(Base):
    def test_variables_of_the_user_do_not_change_what_the_program_does(self):
        self.publish()
        names = ["TERRANE_NAME", "TF_CLI_ARGS", "TF_CLI_ARGS_link", "TF_CLI_ARGS_version", "TF_LOG", "TF_LOG_CORE", "TF_LOG_PROVIDER", "TF_LOG_PATH"]
        self.succeeded(self.install("--version", VERSION, "--as", "terraform", **dict.fromkeys(names, "x")))
        self.assertEqual(self.place.files(), [".local/bin/terraform", ".local/bin/terrane"])

    def test_link_that_is_a_copy_of_the_replaced_program_is_replaced(self):
        """Windows has hard links and copies instead of symbolic links."""
        for version in ("0.1.0", VERSION):
            name, content = support.archive(HOST, version)
            self.page.publish({name: content}, version)
        self.succeeded(self.install("--version", "0.1.0"))
        link = self.program.with_name("terraform")
        os.link(self.program, link)
        self.succeeded(self.install("--version", VERSION, "--as", "terraform"))
        self.assertEqual(link.read_bytes(), support.program(VERSION))
        # Another program stays.
        link.unlink()
        link.write_bytes(b"terraform")
        self.refused(self.install("--version", VERSION, "--as", "terraform"), "the link terraform was not made")
        self.assertEqual(link.read_bytes(), b"terraform")


class Machines(Base):
    """Targets by what `uname` and the C library say, and what happens without tools."""

    def target(self, system, machine, libc="exit 1", **variables):
        scripts = {"uname": f"case $1 in -s) echo '{system}' ;; *) echo '{machine}' ;; esac", "getconf": libc, "ldd": libc, "sysctl": "exit 1"}
        scripts.update(variables.pop("scripts", {}))
        path = self.tools(*NEEDED, "curl", "wget", "sha256sum", "shasum", **scripts)
        done = self.install("--resolve", "--version", VERSION, PATH=path, **variables)
        return done.stdout.split()[1] if done.returncode == 0 else done.stderr.strip()

    def test_targets(self):
        glibc = "case $1 in GNU_LIBC_VERSION) echo glibc 2.36 ;; LONG_BIT) echo 64 ;; *) exit 1 ;; esac"
        only_ldd = {"ldd": "echo 'ldd (Debian GLIBC 2.36-9) 2.36'"}
        musl = {"ldd": "echo 'musl libc (x86_64)' >&2; exit 1"}
        for system, machine, options, target in [
            ("Linux", "x86_64", {"libc": glibc}, "linux_amd64"),
            ("Linux", "aarch64", {"libc": glibc}, "linux_arm64"),
            ("Linux", "x86_64", {"scripts": only_ldd}, "linux_amd64"),
            ("Linux", "x86_64", {"scripts": musl}, "linux_amd64_musl"),
            ("Linux", "aarch64", {}, "linux_arm64_musl"),
            ("Darwin", "arm64", {}, "darwin_arm64"),
            ("Darwin", "x86_64", {}, "darwin_amd64"),
            ("Darwin", "x86_64", {"scripts": {"sysctl": "echo 1"}}, "darwin_arm64"),
            ("FreeBSD", "amd64", {}, "freebsd_amd64"),
            ("MINGW64_NT-10.0-20348", "x86_64", {}, "windows_amd64"),
            ("MSYS_NT-10.0", "x86_64", {"PROCESSOR_IDENTIFIER": "ARMv8 (64-bit) Family 8"}, "windows_arm64"),
        ]:
            with self.subTest(system=system, machine=machine, options=options):
                self.assertIn(target, support.TARGETS)
                self.assertEqual(self.target(system, machine, **options), target)

    def test_machines_without_a_release(self):
        for system, machine, options in [
            ("Linux", "riscv64", {}),
            ("Linux", "x86_64", {"libc": "[ $1 != LONG_BIT ] || echo 32"}),
            ("SunOS", "i86pc", {}),
        ]:
            with self.subTest(system=system, machine=machine):
                self.assertIn("there is no release for", self.target(system, machine, **options))

    def test_missing_tools(self):
        self.publish(keys=self.keys)
        for names, arguments, message in [
            (["sha256sum"], [], "curl or wget is needed"),
            (["curl", "wget"], [], "sha256sum, shasum, sha256 or openssl is needed"),
            (["curl", "wget", "sha256sum", "shasum"], ["--key", __file__], "gpg is needed"),
        ]:
            with self.subTest(message):
                done = self.install("--version", VERSION, *arguments, PATH=self.tools(*NEEDED, *names))
                self.refused(done, message)
                self.assertEqual(self.place.files(), [])
        path = self.tools(*[name for name in NEEDED if name != "tar"], "curl", "wget", "sha256sum", "shasum")
        self.refused(self.install("--version", VERSION, PATH=path), "tar is needed")

    def test_each_tool_is_enough(self):
        self.publish()
        for downloader in filter(shutil.which, ("curl", "wget")):
            for hasher in filter(shutil.which, ("sha256sum", "shasum", "openssl")):
                with self.subTest(downloader=downloader, hasher=hasher):
                    path = self.tools(*NEEDED, downloader, hasher, "perl")
                    self.succeeded(self.install("--version", VERSION, PATH=path))
                    self.page.put(VERSION, self.archive, self.content + b"\0")
                    self.refused(self.install("--version", VERSION, PATH=path), "does not have the digest")
                    self.page.put(VERSION, self.archive, self.content)

    def test_folders_that_cannot_be_used(self):
        self.publish()
        file = self.place.home / "file"
        file.write_text("")
        self.refused(self.install("--version", VERSION, "--dir", file / "bin"), "cannot be made")
        (self.place.home / "bin/terrane").mkdir(parents=True)
        self.refused(self.install("--version", VERSION, "--dir", self.place.home / "bin"), "is a folder")
        self.no_rest()


if __name__ == "__main__":
    unittest.main()
