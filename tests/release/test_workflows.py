"""The workflows of releases: what they name exists, what they may do is little, and their steps work, with a stand-in for the build.

Reads the part of YAML that the workflows are written in, so that nothing has to be installed; with PyYAML, both must read the same.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import release_support as support

try:
    import yaml
except ImportError:
    yaml = None

HERE = support.HERE
FOLDER = HERE / ".github/workflows"
TARGETS = json.loads((HERE / ".ci/release/targets.json").read_text(encoding="utf-8"))
EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")
SCRIPT = re.compile(r"\.ci/(?:release|packages)/[\w.-]+")
# Jobs that may do more than read the repository.
WRITERS = {
    ("release", "publish"): {"contents": "write"},
    ("release", "images"): {"contents": "read", "packages": "write"},
    ("release-index", "index"): {"contents": "write"},
}


class Reader:
    """Mappings and lists in blocks, blocks of text (`|`), lists in brackets, and scalars with and without quotes."""

    def __init__(self, text):
        self.lines, self.at = text.splitlines(), 0

    def peek(self):
        """The indentation and the text of the next line with content, without its comment; (-1, "") at the end."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and not line.lstrip().startswith("#"):
                return len(line) - len(line.lstrip()), re.sub(r"\s+#( .*)?$", "", line.strip())
            self.at += 1
        return -1, ""

    def value(self, indent):
        is_list = self.peek()[1].startswith("- ")
        return self.sequence(indent) if is_list else self.mapping(indent)

    def mapping(self, indent):
        made = {}
        while True:
            found, text = self.peek()
            if found != indent or text.startswith("- "):
                return made
            key, separator, rest = re.fullmatch(r"([\w -]+)(:)(?: (.*))?", text).groups()
            assert separator and key not in made, text
            self.at += 1
            below = self.peek()[0]
            if rest == "|":
                made[key] = self.block(indent)
            elif rest is not None:
                made[key] = scalar(rest)
            else:
                made[key] = self.value(below) if below > indent else None

    def sequence(self, indent):
        made = []
        while True:
            found, text = self.peek()
            if found != indent or not text.startswith("- "):
                return made
            if re.match(r"- [\w-]+:( |$)", text):
                line = self.lines[self.at]
                self.lines[self.at] = line.replace("- ", "  ", 1)
                made.append(self.mapping(indent + 2))
            else:
                self.at += 1
                made.append(scalar(text[2:]))

    def block(self, indent):
        lines = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and len(line) - len(line.lstrip()) <= indent:
                break
            lines.append(line)
            self.at += 1
        while not lines[-1].strip():
            lines.pop()
        depth = len(lines[0]) - len(lines[0].lstrip())
        return "".join(line[depth:] + "\n" for line in lines)


def scalar(text):
    if text.startswith("["):
        return [scalar(part) for part in text.strip("[]").split(", ")]
    if text[0] in "\"'":
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"\d+", text) else text


def read(text):
    reader = Reader(text)
    made = reader.value(0)
    assert reader.peek() == (-1, ""), reader.peek()
    return made


TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.yml"))}
WORKFLOWS = {name: read(text) for name, text in TEXTS.items()}
JOBS = {(name, job): body for name, workflow in WORKFLOWS.items() for job, body in workflow["jobs"].items()}


def step(workflow, job, name):
    """A step by its name or its id."""
    found = [each for each in JOBS[workflow, job]["steps"] if name in (each.get("name"), each.get("id"))]
    assert len(found) == 1, (workflow, job, name)
    return found[0]


def all_steps():
    return [(key, each) for key, job in JOBS.items() for each in job.get("steps", [])]


def commands():
    return [(key, each["run"]) for key, each in all_steps() if "run" in each]


def expressions(value):
    """The expressions in a value and below it; a condition is one, too."""
    if isinstance(value, dict):
        conditions = [value["if"]] if isinstance(value.get("if"), str) else []
        return conditions + [found for each in value.values() for found in expressions(each)]
    if isinstance(value, list):
        return [found for each in value for found in expressions(each)]
    return EXPRESSION.findall(value) if isinstance(value, str) else []


class Reading(unittest.TestCase):
    def test_reader_reads_the_forms(self):
        text = 'on:\n  push:\n    tags: ["v*", b]  # c\na: # not read as a value\n  - x\n  - k: 1\n    t: |\n      1\n\n        # 2\n    e: "true"\n'
        expected = {"on": {"push": {"tags": ["v*", "b"]}}, "a": ["x", {"k": 1, "t": "1\n\n  # 2\n", "e": "true"}]}
        self.assertEqual(read(text), expected)

    def test_workflows_are_read_as_yaml(self):
        self.assertEqual(set(TEXTS), {"release", "release-build", "release-check", "release-index"})
        for name, text in TEXTS.items():
            self.assertTrue(WORKFLOWS[name]["jobs"], name)
            if yaml:
                # For YAML 1.1 `on` is a boolean.
                found = {"on" if key is True else key: value for key, value in yaml.safe_load(text).items()}
                self.assertEqual(WORKFLOWS[name], found, name)


class Names(unittest.TestCase):
    def test_every_target_has_a_runner(self):
        rows = step("release-build", "targets", "matrix")["env"]["RUNNERS"].splitlines()
        runners = dict(row.split() for row in rows)
        self.assertEqual(list(runners), list(TARGETS))
        for target, runner in runners.items():
            system = {"darwin": "macos-", "windows": "windows-"}.get(target.split("_")[0], "ubuntu-")
            self.assertTrue(runner.startswith(system), (target, runner))
            is_arm = runner.endswith("-arm") or (runner.startswith("macos-") and not runner.endswith("-intel"))
            self.assertEqual(is_arm, "_arm64" in target, (target, runner))

    def test_conditions_of_steps_fit_targets(self):
        found = re.findall(r"(ends|starts)With\(matrix\.target, '(\w+)'\)", TEXTS["release-build"])
        self.assertGreaterEqual(len(found), 3)
        for which, part in found:
            fits = [name for name in TARGETS if (name.endswith(part) if which == "ends" else name.startswith(part))]
            self.assertTrue(fits, part)

    def test_scripts_and_their_options_exist(self):
        seen = set()
        for key, text in commands():
            for line in text.replace("\\\n", " ").splitlines():
                for found in SCRIPT.finditer(line):
                    path = HERE / found[0]
                    if path.suffix == ".json":
                        self.assertTrue(path.is_file(), f"{key}: {found[0]}")
                        continue
                    self.assertTrue(os.access(path, os.X_OK), f"{key}: {found[0]}")
                    seen.add(path.name)
                    rest = re.split(r"[|)]| && ", line[found.end() :])[0]
                    source = path.read_text(encoding="utf-8")
                    for option in re.findall(r"(?<=\s)--[\w-]+", rest.replace("{WITHDRAW:+", " ").replace("{PROGRAM:+", " ")):
                        self.assertIn(option, source, f"{key}: {line.strip()}")
        expected = {"archive.py", "build", "compare", "index.py", "packages", "publish-images", "release", "rootfs", "sign"}
        self.assertEqual(seen, expected)

    def test_jobs_outputs_and_inputs_exist(self):
        for (name, job), body in JOBS.items():
            needs = body.get("needs", [])
            needs = [needs] if isinstance(needs, str) else needs
            self.assertLessEqual(set(needs), set(WORKFLOWS[name]["jobs"]), (name, job))
            inputs = {key for event in WORKFLOWS[name]["on"].values() if event and "inputs" in event for key in event["inputs"]}
            for text in expressions(body):
                for other, output in re.findall(r"needs\.([\w-]+)\.outputs\.([\w-]+)", text):
                    self.assertIn(other, needs, (name, job))
                    self.assertIn(output, JOBS[name, other]["outputs"], (name, job))
                for key in re.findall(r"inputs\.([\w-]+)", text):
                    self.assertIn(key, inputs, (name, job))
                for known in re.findall(r"steps\.([\w-]+)\.", text):
                    self.assertIn(known, [each.get("id") for each in body["steps"]], (name, job))
                for key in re.findall(r"(?<![\w.])matrix\.([\w-]+)", text):
                    self.assertRegex(str(body["strategy"]), rf"{key}|fromJSON", (name, job))

    def test_called_workflows_take_what_they_are_given(self):
        called = [(key, body) for key, body in JOBS.items() if "uses" in body]
        self.assertEqual(len(called), 3)
        for key, body in called:
            self.assertEqual(body["uses"], "./.github/workflows/release-build.yml", key)
            inputs = WORKFLOWS["release-build"]["on"]["workflow_call"]["inputs"]
            self.assertLessEqual(set(body.get("with", {})), set(inputs), key)
        folders = [JOBS["release-check", job]["with"]["folder"] for job in ("one", "other")]
        self.assertNotEqual(*map(len, folders))
        targets = {JOBS["release-check", job]["with"]["targets"] for job in ("one", "other")}
        self.assertEqual(targets, {WORKFLOWS["release-check"]["env"]["TARGETS"]})

    def test_downloaded_artifacts_were_uploaded(self):
        uploads, downloads = {}, []
        for (name, job), each in all_steps():
            kind, given = each.get("uses", "").split("@")[0], each.get("with", {})
            if kind == "actions/upload-artifact":
                uploads.setdefault(name, set()).add(re.sub(r"\$\{\{ matrix.*", "*", given["name"]))
            elif kind == "actions/download-artifact":
                downloads.append((name, job, given.get("name", given.get("pattern"))))
        default = WORKFLOWS["release-build"]["on"]["workflow_call"]["inputs"]["artifact"]["default"]
        uploads["release"].add(default)
        uploads["release-check"] = {JOBS["release-check", job]["with"]["artifact"] for job in ("one", "other")}
        self.assertGreaterEqual(len(downloads), 8)
        for name, job, artifact in downloads:
            self.assertIn(artifact, uploads[name], (name, job))


class Rights(unittest.TestCase):
    def test_jobs_have_the_rights_that_they_need(self):
        for name, workflow in WORKFLOWS.items():
            self.assertEqual(workflow["permissions"], {"contents": "read"}, name)
        found = {key: body["permissions"] for key, body in JOBS.items() if "permissions" in body}
        self.assertEqual(found, WRITERS)
        for key, body in JOBS.items():
            has_key = "secrets.RELEASE_SIGNING" in json.dumps(body)
            self.assertEqual(has_key, body.get("environment") == "release", key)
            self.assertTrue("uses" in body or body["timeout-minutes"] <= 150, key)
        # What strangers can start has no secrets.
        self.assertNotIn("secrets.", TEXTS["release-check"] + TEXTS["release-build"])
        self.assertFalse(any("pull_request_target" in text or "actions/cache" in text for text in TEXTS.values()))

    def test_actions_are_named_by_commits(self):
        commits = {}
        for text in TEXTS.values():
            for line in re.findall(r"uses: (?!\./)(.*)", text):
                found = re.fullmatch(r"(actions/[\w-]+)@([0-9a-f]{40})  # (v\d+\.\d+\.\d+)", line)
                self.assertTrue(found, line)
                commits.setdefault(found[1], set()).add(found.groups()[1:])
        self.assertEqual(set(commits), {"actions/checkout", "actions/upload-artifact", "actions/download-artifact"})
        for action, versions in commits.items():
            self.assertEqual(len(versions), 1, action)
        for key, each in all_steps():
            if each.get("uses", "").startswith("actions/checkout@"):
                self.assertIs(each["with"]["persist-credentials"], False, key)

    def test_commands_have_no_expressions(self):
        """What a workflow is given must not become a part of a command."""
        self.assertGreaterEqual(len(commands()), 20)
        for key, text in commands():
            self.assertNotIn("${{", text, key)

    def test_commands_stop_at_errors_of_pipes(self):
        for key, body in JOBS.items():
            defaults = body.get("defaults", WORKFLOWS[key[0]].get("defaults", {}))
            piped = [each for each in body.get("steps", []) if " | " in each.get("run", "")]
            self.assertTrue(not piped or defaults.get("run", {}).get("shell") == "bash", key)

    def test_hosts_are_variables(self):
        for name, text in TEXTS.items():
            self.assertEqual(re.findall(r"\w+://[^\s\"']*", text), [], name)

    def test_settings_are_documented(self):
        used = {found for text in TEXTS.values() for found in re.findall(r"(?:secrets|vars)\.(\w+)", text)}
        page = (HERE / "docs/contributing.md").read_text(encoding="utf-8")
        self.assertEqual(used, set(re.findall(r"^\| `(RELEASE_\w+)` \|", page, re.MULTILINE)))


class Tools(unittest.TestCase):
    def text(self, name):
        return (HERE / name).read_text(encoding="utf-8")

    def test_one_version_of_each_tool(self):
        rust = {workflow["env"]["RUSTUP_TOOLCHAIN"] for workflow in WORKFLOWS.values() if "env" in workflow}
        self.assertEqual(len(rust), 1)
        numbers = [int(part) for part in rust.pop().split(".")]
        needed = re.search(r'^rust-version = "(\d+)\.(\d+)"', self.text("Cargo.toml"), re.MULTILINE)
        self.assertEqual(len(numbers), 3)
        self.assertGreaterEqual(numbers[:2], [int(part) for part in needed.groups()])
        deny = {version for name in (".ci/run", ".ci/full") for version in re.findall(r"cargo-deny[@=]+([\d.]+\d)", self.text(name))}
        self.assertEqual(set(re.findall(r"cargo-deny@([\d.]+\d)", TEXTS["release"])), deny)
        self.assertEqual(len(deny), 1)
        self.assertIn("cargo deny --workspace check advisories bans licenses sources\n", TEXTS["release"])
        for name, text in TEXTS.items():
            for package in re.findall(r"\bgo install (\S+)|^ +([\w-]+==.*)$", text, re.MULTILINE):
                self.assertRegex("".join(package), r"@v\d+\.\d+\.\d+$|==[\d.]+ --hash=sha256:[0-9a-f]{64}$", name)

    def test_page_about_publishing_has_six_platforms(self):
        block = re.search(r"```yaml \.github/workflows/release\.yml\n(.*?)```", self.text("docs/sdk/publishing.md"), re.DOTALL)[1]
        jobs = read(block)["jobs"]
        rows = {row["platform"]: row["target"] for row in jobs["build"]["strategy"]["matrix"]["include"]}
        self.assertEqual(set(rows), {f"{system}_{arch}" for system in ("linux", "darwin", "windows") for arch in ("amd64", "arm64")})
        for platform, triple in rows.items():
            ours = platform + ("_musl" if platform.startswith("linux") else "")
            self.assertEqual(triple, TARGETS[ours]["rust"])


class Steps(unittest.TestCase):
    """Steps as the host would run them."""

    def setUp(self):
        self.project = support.Project()
        self.addCleanup(self.project.close)
        self.temporary = self.project.top / "temporary"
        self.temporary.mkdir()
        self.output = self.temporary / "output"

    def run_step(self, found, cwd=None, values=None, **variables):
        """Runs a step; `values` are those of its expressions."""
        values = values or {}
        given = {name: EXPRESSION.sub(lambda each: values[each[1]], str(text)) for name, text in found.get("env", {}).items()}
        shell = ["python3", "-B"] if found.get("shell") == "python3 {0}" else ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
        script = self.temporary / "script"
        script.write_text(found["run"], encoding="utf-8")
        fixed = {"RUNNER_TEMP": str(self.temporary), "GITHUB_OUTPUT": str(self.output), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [*shell, str(script)],
            cwd=cwd or self.project.root,
            env={**self.project.environment, **fixed, **given, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        script.unlink()
        return done

    def succeed(self, *arguments, **options):
        done = self.run_step(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def outputs(self):
        lines = self.output.read_text(encoding="utf-8").splitlines()
        self.output.unlink()
        return dict(line.split("=", 1) for line in lines)

    def test_matrix_is_the_table(self):
        found = step("release-build", "targets", "matrix")
        for given, expected in (("", list(TARGETS)), ("linux_amd64,windows_arm64", ["linux_amd64", "windows_arm64"])):
            self.succeed(found, values={"inputs.targets": given})
            rows = json.loads(self.outputs()["matrix"])["include"]
            self.assertEqual([(row["target"], row["rust"]) for row in rows], [(name, TARGETS[name]["rust"]) for name in expected])
            self.assertTrue(all(row["runner"] for row in rows))
        self.assertNotEqual(self.run_step(found, values={"inputs.targets": "plan9_amd64"}).returncode, 0)

    def test_tag_and_changelog_are_checked(self):
        found = step("release", "prepare", "version")
        fixed = {"GITHUB_SERVER_URL": "https://example.com", "GITHUB_REPOSITORY": "o/r"}
        page = "# Changelog\n\n## {}\n\n- A [page](a.md#b), [another](https://c.example), [older](#010).\n\n### More\n\n## 0.1.0\n\n- Old.\n"
        version = support.VERSION
        for tag, heading, error in (
            (f"v{version}", version, ""),
            (f"v{version}", f"{version} (2026-12-01)", ""),
            ("v0.2.1", version, "the tag is v0.2.1, and the version in Cargo.toml is 0.2.0"),
            (f"v{version}", f"{version} (unreleased)", f'docs/changelog.md has no part "## {version}"'),
            (f"v{version}", f"{version}-rc1", f'docs/changelog.md has no part "## {version}"'),
        ):
            support.write(self.project.root / "docs/changelog.md", page.format(heading))
            done = self.run_step(found, GITHUB_REF_NAME=tag, **fixed)
            self.assertEqual(done.returncode != 0, bool(error), done.stdout + done.stderr)
            self.assertIn(error, done.stdout)
            if not error:
                self.assertEqual(self.outputs(), {"version": version})
                link = f"https://example.com/o/r/blob/v{version}/docs/a.md#b"
                older = f"https://example.com/o/r/blob/v{version}/docs/changelog.md#010"
                notes = f"\n- A [page]({link}), [another](https://c.example), [older]({older}).\n\n### More\n\n"
                self.assertEqual((self.temporary / "notes.md").read_text(), notes)

    def test_release_without_a_key_is_refused(self):
        found = step("release", "prepare", "There is a key to sign with")
        names = ("secrets.RELEASE_SIGNING_KEY", "vars.RELEASE_SIGNING_FINGERPRINT")
        for given, status in ((("k", "f"), 0), (("", "f"), 1), (("k", ""), 1)):
            done = self.run_step(found, values=dict(zip(names, given)))
            self.assertEqual(done.returncode, status, given)

    def host(self, answer):
        """A stand-in for `gh`: the latest release, or the error that its API has. Notes other commands."""
        log = self.temporary / "gh"
        log.unlink(missing_ok=True)
        gone = answer.startswith("gh: ")
        reply = f"echo '{answer}' >&2; exit 1" if gone else f"echo {answer}"
        support.write(self.project.top / "tools/gh", f'#!/bin/sh\ncase "$*" in "api repos/o/r/releases/latest "*) {reply} ;; *) echo "$*" >>{log} ;; esac\n')
        (self.project.top / "tools/gh").chmod(0o755)
        return lambda: log.read_text() if log.exists() else ""

    def test_index_is_continued_from_the_latest_release(self):
        found, variables = step("release", "sign", "The index that is published now"), self.temporary / "variables"
        for answer, expected, calls in (
            ("v0.1.0", f"INDEX=--previous={self.temporary}/previous/index.json\n", "release download v0.1.0 "),
            # There is no release, or there are prereleases only.
            ("gh: Not Found (HTTP 404)", "INDEX=--first\n", ""),
            ("gh: Service Unavailable (HTTP 503)", "", ""),
        ):
            variables.write_text("")
            called = self.host(answer)
            done = self.run_step(found, GITHUB_REPOSITORY="o/r", GITHUB_ENV=str(variables))
            self.assertEqual(done.returncode, 0 if expected else 1, done.stderr)
            self.assertEqual(variables.read_text(), expected)
            self.assertTrue(called().startswith(calls) and bool(called()) == bool(calls), called())

    def test_index_is_uploaded_to_the_latest_release(self):
        found = step("release", "publish", "Index of the latest release")
        for answer, status, calls in (
            ("v0.3.0", 0, "release upload v0.3.0 dist/index.json dist/index.json.sig --clobber\n"),
            ("v0.2.0", 0, ""),
            ("gh: Not Found (HTTP 404)", 0, ""),
            ("gh: Service Unavailable (HTTP 503)", 1, ""),
        ):
            called = self.host(answer)
            values = {"github.token": "", "github.repository": "o/r", "needs.prepare.outputs.version": "0.2.0"}
            done = self.run_step(found, values=values, cwd=self.temporary, GH_REPO="o/r", VERSION="0.2.0")
            self.assertEqual((done.returncode, called()), (status, calls), done.stderr)

    def test_job_with_the_key_runs_no_program_of_others(self):
        """Beside actions, the scripts of the repository and what the machine has."""
        text = " ".join(each.get("run", "") for each in JOBS["release", "sign"]["steps"])
        self.assertNotRegex(text, r"cargo|rustup|nfpm|pip|install|crane")
        self.assertNotIn("SIGNING", json.dumps(JOBS["release", "assemble"]))

    @unittest.skipUnless(shutil.which("gpg"), "gpg is not here")
    def test_release_is_made_and_its_index_renewed(self):
        keys = support.Keys(passphrase="pass word")
        self.addCleanup(keys.close)
        project, dist = self.project, self.temporary / "dist"
        # Packages and images have tests of their own.
        for name in ("packages", "image.py", "render.py"):
            support.write(project.root / ".ci/packages" / name, "")
        project.commit()
        project.run("git", "tag", "--force", f"v{support.VERSION}")
        project.dist = dist
        project.build(*TARGETS)
        secret = ["--batch", "--pinentry-mode", "loopback", "--passphrase", "pass word", "--armor", "--export-secret-keys"]
        values = {
            "secrets.RELEASE_SIGNING_KEY": keys.gpg(*secret),
            "secrets.RELEASE_SIGNING_PASSPHRASE": "pass word",
            "vars.RELEASE_SIGNING_FINGERPRINT": keys.fingerprint,
            "github.server_url": "https://example.com",
            "github.workflow_ref": "o/r/.github/workflows/release.yml@refs/tags/v1",
            "inputs.withdraw": "",
        }
        self.succeed(step("release", "assemble", "Files"), values=values)
        # The job that signs gets what was uploaded.
        shutil.rmtree(dist / "stage")
        found = step("release", "sign", "Signatures")
        wrong = {**values, "secrets.RELEASE_SIGNING_PASSPHRASE": "another"}
        self.assertNotEqual(self.run_step(found, values=wrong, INDEX="--first").returncode, 0)
        self.assertIn("three signatures are valid", self.succeed(found, values=values, INDEX="--first"))
        statement = json.loads((dist / f"terrane_{support.VERSION}.intoto.json").read_text())
        self.assertIn("/release.yml@refs/tags/v1", statement["predicate"]["runDetails"]["builder"]["id"])
        page = (HERE / "docs/installing.md").read_text(encoding="utf-8")
        endings = re.findall(r"`([_.][\w.]+)`", re.search(r"\| Name ends with .*?\n\n", page, re.DOTALL)[0])
        self.assertEqual(len(endings), 7)
        for ending in endings:
            self.assertTrue((dist / f"terrane_{support.VERSION}{ending}").is_file(), ending)
        # What `publish` and users check.
        project.run("sha256sum", "--check", "--strict", "--quiet", f"terrane_{support.VERSION}_SHA256SUMS", cwd=dist)

        previous = self.temporary / "previous"
        previous.mkdir()
        for name in ("index.json", "index.json.sig"):
            shutil.copy(dist / name, previous)
        found = step("release-index", "index", "Index")
        for serial, given in ((2, ""), (3, f"{support.VERSION}=It loses states.")):
            self.succeed(found, values={**values, "inputs.withdraw": given})
            made = json.loads((self.temporary / "index/index.json").read_text())
            self.assertEqual((made["serial"], len(made["versions"])), (serial, 1))
            self.assertEqual(made["versions"][0].get("withdrawn"), given.partition("=")[2] or None)
            keys.gpg("--verify", str(self.temporary / "index/index.json.sig"), str(self.temporary / "index/index.json"))
            shutil.rmtree(previous)
            shutil.move(self.temporary / "index", previous)
        left = {path.name for path in self.temporary.iterdir()}
        self.assertEqual(left, {"dist", "previous"}, "the key is not left behind")


if __name__ == "__main__":
    unittest.main()
