"""The Homebrew formula, the Scoop and winget manifests and the released install script, compared with the files of a release."""

import hashlib
import importlib.util
import json
import pathlib
import re
import shutil
import sys
import tarfile
import unittest
import unittest.mock
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import packages_support as support
import release_support

VERSION = support.VERSION
DOWNLOADS = f"{support.ADDRESS}/releases/download/v{VERSION}"
WINGET = ["", ".installer", ".locale.en-US"]


class Manifests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = support.Place()
        cls.addClassCleanup(cls.place.close)
        cls.place.add()
        cls.out = cls.place.top / "out"
        done = cls.place.script("render.py", cls.place.dist, cls.out, "--archive")
        assert done.returncode == 0, done.stderr

    def text(self, name):
        return (self.out / name).read_text(encoding="utf-8")

    def released(self, target):
        """The address and the digest of the archive of a target."""
        name = f"terrane_{VERSION}_{target}.{support.TARGETS[target]['archive']}"
        return f"{DOWNLOADS}/{name}", hashlib.sha256((self.place.dist / name).read_bytes()).hexdigest()

    def test_nothing_is_left_to_fill_in(self):
        for name in self.place.files(self.out):
            if name != "install.sh":
                self.assertNotRegex(self.text(name), r"@[a-z]+(:\w+)?@")
                hosts = re.findall(r"https?://\S+", self.text(name))
                self.assertEqual([each for each in hosts if not each.startswith(support.ADDRESS)], [], name)

    def test_formula(self):
        text = self.text("homebrew/terrane.rb")
        self.assertIn(f'version "{VERSION}"', text)
        found = {}
        for system, body in re.findall(r"^  on_(macos|linux) do\n(.*?)^  end", text, re.MULTILINE | re.DOTALL):
            for processor, url, digest in re.findall(r'on_(arm|intel) do\n\s+url "(.*)"\n\s+sha256 "(.*)"\n', body):
                found[system, processor] = (url, digest)
        expected = {
            (system, processor): self.released(f"{ours}_{arch}")
            for system, ours in (("macos", "darwin"), ("linux", "linux"))
            for processor, arch in (("arm", "arm64"), ("intel", "amd64"))
        }
        self.assertEqual(found, expected)
        install = re.search(r"def install\n(.*?)\n  end", text, re.DOTALL)[1]
        paths = re.findall(r'"(.*?)"', install)
        self.assertEqual(len(paths), 9)
        for target in ("darwin_arm64", "linux_amd64"):
            with tarfile.open(self.place.dist / f"terrane_{VERSION}_{target}.tar.gz") as archive:
                names = [pathlib.PurePosixPath(*pathlib.PurePosixPath(name).parts[1:]) for name in archive.getnames()]
            for path in paths:
                self.assertTrue(any(name.match(path) for name in names), path)

    def test_formula_is_ruby(self):
        if not shutil.which("ruby"):
            self.skipTest("ruby is not here")
        done = self.place.run("ruby", "-wc", self.out / "homebrew/terrane.rb")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_scoop(self):
        value = json.loads(self.text("scoop/terrane.json"))
        self.assertEqual(value["version"], VERSION)
        for name, target in (("64bit", "windows_amd64"), ("arm64", "windows_arm64")):
            now, later = value["architecture"][name], value["autoupdate"]["architecture"][name]
            self.assertEqual((now["url"], now["hash"]), self.released(target))
            self.assertEqual({key: text.replace("$version", VERSION) for key, text in later.items()}, {key: now[key] for key in later})
            with zipfile.ZipFile(self.place.dist / now["url"].split("/")[-1]) as archive:
                self.assertIn(f"{now['extract_dir']}/{value['bin']}", archive.namelist())
        sums = value["autoupdate"]["hash"]["url"].replace("$version", VERSION)
        self.assertEqual(sums, f"{DOWNLOADS}/terrane_{VERSION}_SHA256SUMS")

    def test_scoop_finds_the_newest_version_that_is_neither_withdrawn_nor_a_prerelease(self):
        """Its JSON paths have no "not", so it reads the text that `index.py` writes."""
        form = json.loads(self.text("scoop/terrane.json"))["checkver"]["regex"]
        rows = [support.row("0.6.0"), support.row("0.5.0-rc.1", prerelease=True), support.row("0.4.0"), support.row("0.3.0"), support.row("0.2.0")]
        sys.path.insert(0, str(self.place.root / ".ci/release"))
        self.addCleanup(sys.path.pop, 0)
        specification = importlib.util.spec_from_file_location("index", self.place.root / ".ci/release/index.py")
        with unittest.mock.patch("project.main"):
            index = importlib.util.module_from_spec(specification)
            specification.loader.exec_module(index)
        index.withdraw(rows, ["0.6.0=loses \"states\"", "0.4.0=x"])
        text = json.dumps({"format_version": "1.0", "versions": rows}, indent=2)
        self.assertEqual(re.search(form, text)[1], "0.3.0")

    def test_winget(self):
        texts = [self.text(f"winget/Terrane.Terrane{part}.yaml") for part in WINGET]
        for text in texts:
            self.assertRegex(text, rf"^PackageIdentifier: Terrane\.Terrane\nPackageVersion: {re.escape(VERSION)}\n")
            self.assertRegex(text, r"\nManifestVersion: 1\.10\.0\n$")
        self.assertEqual([re.search(r"ManifestType: (\w+)", text)[1] for text in texts], ["version", "installer", "defaultLocale"])
        form = (
            r"Architecture: (\w+)\n    InstallerUrl: (\S+)\n    InstallerSha256: (\S+)\n"
            r"    NestedInstallerFiles:\n      - RelativeFilePath: (\S+)\n        PortableCommandAlias: terrane\n"
        )
        found = re.findall(form, texts[1])
        self.assertEqual([each[0] for each in found], ["x64", "arm64"])
        for (_, url, digest, path), target in zip(found, ("windows_amd64", "windows_arm64")):
            self.assertEqual((url, digest), self.released(target))
            with zipfile.ZipFile(self.place.dist / url.split("/")[-1]) as archive:
                self.assertIn(path.replace("\\", "/"), archive.namelist())
        self.assertIn("ReleaseDate: 2023-11-14\n", texts[1])

    def test_install_script_knows_its_version(self):
        text = self.text("install.sh")
        self.assertIn(f"\ndefault_version={VERSION}\n", text)
        released = self.place.dist / f"terrane_{VERSION}_install.sh"
        self.assertEqual(released.read_text(encoding="utf-8"), text)
        done = self.place.run("sh", released, "--resolve", "--target", "darwin_arm64")
        self.assertEqual((done.returncode, done.stdout), (0, f"{VERSION}\ndarwin_arm64\n"), done.stderr)

    def test_archive_of_manifests(self):
        path = self.place.dist / f"terrane_{VERSION}_manifests.tar.gz"
        with tarfile.open(path) as archive:
            names = [member.name.split("/", 1)[1] for member in archive if member.isfile()]
            formula = archive.extractfile(f"terrane_{VERSION}_manifests/homebrew/terrane.rb").read().decode()
        self.assertEqual(names, sorted(name for name in self.place.files(self.out) if name != "install.sh"))
        self.assertEqual(formula, self.text("homebrew/terrane.rb"))
        before = path.read_bytes()
        self.place.script("render.py", self.place.dist, self.out, "--archive")
        self.assertEqual(path.read_bytes(), before)


class Refusals(unittest.TestCase):
    def setUp(self):
        self.place = support.Place()
        self.addCleanup(self.place.close)
        self.out = self.place.top / "out"

    def test_missing_archives(self):
        self.place.add("windows_amd64", "windows_arm64")
        done = self.place.script("render.py", self.place.dist, self.out)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"has no terrane_{VERSION}_darwin_arm64.tar.gz", done.stderr)
        self.assertFalse(self.out.exists())
        done = self.place.script("render.py", self.place.dist, self.out, "--partial")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out: homebrew/terrane.rb: ", done.stderr)
        self.assertEqual(len(self.place.files(self.out)), 5)

    def test_list_of_digests_that_says_something_else(self):
        self.place.add()
        sums = self.place.dist / f"terrane_{VERSION}_SHA256SUMS"
        sums.write_text(f"{'0' * 64}  terrane_{VERSION}_darwin_arm64.tar.gz\n")
        done = self.place.script("render.py", self.place.dist, self.out)
        self.assertEqual(done.returncode, 1)
        self.assertIn("does not have the digest", done.stderr)


class Documentation(unittest.TestCase):
    def test_names_of_files_in_the_page_are_those_of_a_release(self):
        page = (support.HERE / "docs/installing.md").read_text(encoding="utf-8")
        found = set(re.findall(r"terrane[_-]VERSION[\w.-]*\w", page))
        known = {f"terrane_VERSION_{target}.{row['archive']}" for target, row in support.TARGETS.items()}
        known |= {f"terrane_VERSION_{name}" for name in ("SHA256SUMS", "SHA256SUMS.sig", "manifests.tar.gz", "manifests", "install.sh")}
        known |= {f"terrane_VERSION_{arch}.deb" for arch in ("amd64", "arm64")}
        known |= {f"terrane-VERSION-1.{arch}.rpm" for arch in ("x86_64", "aarch64")}
        known |= {f"terrane_VERSION_image{variant}_{arch}.tar" for variant in ("", "-ci") for arch in ("amd64", "arm64")}
        # A name in general, and the folder of an archive.
        known |= {"terrane_VERSION_TARGET.tar.gz", "terrane_VERSION_linux_amd64"}
        self.assertEqual(found - known, set())
        for target in support.TARGETS:
            self.assertIn(f"`{target}`", page)

    def test_uninstalling_leaves_programs_of_others(self):
        page = (support.HERE / "docs/installing.md").read_text(encoding="utf-8")
        commands = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[-1]
        self.assertIn("rm -f ~/.local/bin/terrane", commands)
        place = support.Place()
        self.addCleanup(place.close)
        folder = place.home / ".local/bin"
        folder.mkdir(parents=True)
        (place.home / ".local/share/terrane").mkdir(parents=True)
        for terraform, kept in ((None, True), ("/opt/terraform", True), ("terrane", False), (f"{folder}/terrane", False)):
            (folder / "terrane").write_bytes(support.program())
            (folder / "tofu").symlink_to("terrane")
            link = folder / "terraform"
            if terraform:
                link.symlink_to(terraform)
            else:
                link.write_bytes(b"Terraform itself")
            done = place.run("sh", "-euc", commands)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(place.files(), [".local/bin/terraform"] if kept else [], terraform)
            link.unlink(missing_ok=True)

    def test_install_script_can_be_checked_before_it_runs(self):
        page = (support.HERE / "docs/installing.md").read_text(encoding="utf-8")
        part = re.search(r"### Install script\n(.*?)\n### ", page, re.DOTALL)[1]
        for text in ("gpg --verify terrane_VERSION_SHA256SUMS.sig", "sha256sum --check --ignore-missing", "except for the links of `--as`", "accepted until it expires"):
            self.assertIn(text, part)

    def test_version_of_the_library_is_its_own(self):
        page = (support.HERE / "docs/installing.md").read_text(encoding="utf-8")
        manifest = (support.HERE / "src/sdk/Cargo.toml").read_text(encoding="utf-8")
        version = re.search(r'^version = "(.*)"', manifest, re.MULTILINE)
        row = re.search(r"^\| The library for providers \| (.*) \|$", page, re.MULTILINE)[1]
        self.assertEqual("has a separate version" in row, bool(version))
        self.assertIn(version[1], row)

    def test_options_of_the_install_script_are_in_the_page(self):
        page = (support.HERE / "docs/installing.md").read_text(encoding="utf-8")
        script = (support.HERE / ".ci/packages/install.sh").read_text(encoding="utf-8")
        for option in re.findall(r"^  (--\w+) [A-Z]+ ", script, re.MULTILINE):
            self.assertIn(f"`{option} ", page)
        action = (support.HERE / "action.yml").read_text(encoding="utf-8")
        component = (support.HERE / "templates/install.yml").read_text(encoding="utf-8")
        names = re.findall(r"^  (\w+):$", action.split("inputs:")[1].split("outputs:")[0], re.MULTILINE)
        names += re.findall(r"^    (\w+):$", component.split("---")[0], re.MULTILINE)
        self.assertGreaterEqual(len(names), 8)
        for name in names:
            self.assertIn(f"| `{name}` | ", page)


class Scripts(unittest.TestCase):
    def test_shellcheck(self):
        if not shutil.which("shellcheck"):
            self.skipTest("shellcheck is not here")
        folder = support.HERE / ".ci/packages"
        scripts = [path for path in folder.rglob("*") if path.is_file() and re.match(r"#!.*sh\n", path.read_text(encoding="utf-8"))]
        self.assertGreaterEqual(len(scripts), 5)
        place = support.Place()
        self.addCleanup(place.close)
        done = place.run("shellcheck", "--external-sources", *scripts, cwd=support.HERE)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_versions_of_tools_are_fixed(self):
        for name, form in (("packages", r"nfpm==\d+\.\d+\.\d+\b"), ("publish-images", r"/crane@v\d+\.\d+\.\d+\b")):
            self.assertRegex((support.HERE / ".ci/packages" / name).read_text(encoding="utf-8"), form)


class WholeRelease(support.Base):
    """What the scripts of a release make of the files is what the install script reads."""

    def test_sums_signature_and_index(self):
        host = support.host_target()
        if not self.keys or not host or not shutil.which("git"):
            self.skipTest("gpg or git is not here, or there is no release for this machine")
        place = self.place
        place.add()
        self.succeeded(place.script("render.py", place.dist, place.top / "out", "--archive"))
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "test: a release"]):
            self.succeeded(place.run("git", *identity, *command, cwd=place.root))
        for script, arguments in (("sums.py", [place.dist]), ("sign", [place.dist / f"terrane_{VERSION}_SHA256SUMS"])):
            self.succeeded(place.script(f"../release/{script}", *arguments, **self.keys.variables))
        self.succeeded(place.script("../release/index.py", place.dist, "--first", **self.keys.variables))
        self.succeeded(place.script("../release/sign", place.dist / "index.json", **self.keys.variables))
        for path in place.dist.iterdir():
            self.page.put(VERSION, path.name, path.read_bytes())
        for name in ("index.json", "index.json.sig"):
            self.page.files[f"/releases/latest/download/{name}"] = (place.dist / name).read_bytes()
        key = support.public_key(self.keys, place)
        for version in ("latest", VERSION):
            done = place.run("sh", place.dist / f"terrane_{VERSION}_install.sh", "--version", version, "--key", key)
            self.assertIn(f"version {VERSION}, {host}, signature verified", self.succeeded(done))
        self.assertEqual(place.files(), [".local/bin/terrane"])
        self.assertEqual(release_support.VERSION, VERSION)


if __name__ == "__main__":
    unittest.main()
