"""The GitHub action and the GitLab component, run as their hosts would, against a page of releases on a loopback address."""

import hashlib
import os
import pathlib
import re
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import packages_support as support
import release_support

HOST = support.host_target()
VERSION = support.VERSION
EXPRESSION = re.compile(r"\$\{\{ (.+?) \}\}")


def section(text, name):
    """The lines of a mapping at the start of a line, up to the next one."""
    return re.search(rf"^{name}:\n((?:  .*\n|\n)+)", text, re.MULTILINE)[1]


def members(text):
    """Names of a mapping with two spaces before them -> their text."""
    return dict(re.findall(r"^  ([\w-]+):\n((?:    .*\n)+)", text, re.MULTILINE))


class Action:
    """The action of the repository, as far as a reader of these lines can know it."""

    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        self.inputs = {name: re.search(r"default: (.*)", body)[1].strip('"') for name, body in members(section(text, "inputs")).items()}
        self.outputs = {name: re.search(r"value: (.*)", body)[1] for name, body in members(section(text, "outputs")).items()}
        self.steps = re.split(r"^    - ", section(text, "runs"), flags=re.MULTILINE)[1:]
        self.expressions = EXPRESSION.findall(text)

    @staticmethod
    def variables(step):
        body = re.search(r"^      env:\n((?:        .*\n)+)", step, re.MULTILINE)
        return dict(re.findall(r"^        (\w+): (.*)$", body[1], re.MULTILINE)) if body else {}


@unittest.skipUnless(HOST and shutil.which("bash"), "there is no release for this machine, or no bash")
class GitHub(support.Base):
    def setUp(self):
        super().setUp()
        self.action = Action(self.place.root / "action.yml")
        self.archive, content = support.archive(HOST)
        self.page.publish({self.archive: content}, VERSION, self.keys)
        self.files = {name: self.place.top / name for name in ("GITHUB_OUTPUT", "GITHUB_PATH")}
        self.folders = {name: self.place.top / name for name in ("RUNNER_TEMP", "RUNNER_TOOL_CACHE")}
        for folder in self.folders.values():
            folder.mkdir()

    def run_action(self, **inputs):
        """Runs the steps that are commands. Returns the last command's result and the outputs of the step `prepare`."""
        inputs = {**self.action.inputs, **inputs}
        for file in self.files.values():
            file.write_text("")
        values = {f"inputs.{name}": value for name, value in inputs.items()}
        fixed = {**self.files, **self.folders, "GITHUB_ACTION_PATH": self.place.root}
        done = None
        for step in self.action.steps:
            command = re.search(r"^      run: (.*)$", step, re.MULTILINE)
            if not command:
                continue
            self.files["GITHUB_OUTPUT"].write_text("")
            given = {name: EXPRESSION.sub(lambda found: values[found[1]], text) for name, text in self.action.variables(step).items()}
            done = self.place.run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command[1], **fixed, **given)
            if done.returncode:
                break
            outputs = dict(line.split("=", 1) for line in self.files["GITHUB_OUTPUT"].read_text().splitlines())
            step_id = re.search(r"^(?:      )?id: (\w+)$", step, re.MULTILINE)
            values.update({f"steps.{step_id[1]}.outputs.{name}": value for name, value in outputs.items()} if step_id else {})
        self.values = values
        return done, {name.split(".")[-1]: value for name, value in values.items() if name.startswith("steps.prepare.")}

    def test_expressions_name_what_there_is(self):
        done, _ = self.run_action()
        self.succeeded(done)
        # `runner.tool_cache` is not among them: in a container, it may be the path of the host.
        known = set(self.values) | {"runner.os", "github.run_id", "github.run_attempt"}
        self.assertEqual(set(self.action.expressions) - known, set())
        self.assertEqual(len(self.action.steps), 5)
        for step in self.action.steps:
            # What a workflow gives must not become a part of a command.
            self.assertNotRegex(step, r"run: .*\$\{\{")
            used = re.search(r"uses: (\S+)", step)
            self.assertTrue(not used or re.fullmatch(r"actions/cache@[0-9a-f]{40}", used[1]), step)

    def test_own_version_is_installed_and_cached(self):
        done, outputs = self.run_action()
        self.assertIn(f"Terrane v{VERSION}", self.succeeded(done))
        self.assertEqual(self.files["GITHUB_PATH"].read_text(), f"{outputs['directory']}\n")
        self.assertEqual(outputs["version"], VERSION)
        self.assertEqual(outputs["cache-key"], f"terrane-{VERSION}-{HOST}")
        self.assertEqual(self.place.files(), [])
        # The archive in the cache is enough for another runner, if the list of the release has its digest.
        downloads, address = pathlib.Path(outputs["downloads"]), f"/releases/download/v{VERSION}/{self.archive}"
        for content, requested in ((None, False), (b"changed in the cache", True)):
            shutil.rmtree(outputs["directory"])
            if content:
                (downloads / self.archive).write_bytes(content)
                (downloads / f"terrane_{VERSION}_SHA256SUMS").write_text(f"{hashlib.sha256(content).hexdigest()}  {self.archive}\n")
            self.page.requests.clear()
            self.assertIn(f"Terrane v{VERSION}", self.succeeded(self.run_action()[0]))
            self.assertEqual(address in self.page.requests, requested)

    def test_version_links_and_newest_version(self):
        name, content = support.archive(HOST, "0.3.0")
        self.page.publish({name: content}, "0.3.0")
        self.page.publish_index([support.row("0.3.0"), support.row(VERSION)])
        for version in ("0.3.0", "latest"):
            done, outputs = self.run_action(version=version, **{"as": "terraform tofu"})
            self.assertIn("Terrane v0.3.0", self.succeeded(done))
            self.assertEqual(sorted(os.listdir(outputs["directory"])), ["terraform", "terrane", "tofu"])
            self.assertNotIn("not in PATH", done.stdout)

    def test_older_index_is_refused(self):
        name, content = support.archive(HOST, "0.3.0")
        self.page.publish({name: content}, "0.3.0")
        self.page.publish_index([support.row("0.3.0"), support.row(VERSION)], serial=8)
        self.succeeded(self.run_action(version="latest")[0])
        # The step before has brought the folder with the serial, also to a runner that had nothing else.
        kept = re.search(r"path: \$\{\{ (\S+) \}\}\n +key: terrane-index-", "".join(self.action.steps))[1]
        self.assertEqual(os.listdir(self.values[kept]), ["terrane_index_serial"])
        shutil.rmtree(self.folders["RUNNER_TOOL_CACHE"] / "terrane/0.3.0")
        self.page.publish_index([support.row(VERSION)], serial=7)
        self.refused(self.run_action(version="latest")[0], "older than the last one: its serial is 7, and 8 was seen before")
        self.assertEqual(self.files["GITHUB_PATH"].read_text(), "")

    def test_variables_of_the_job_do_not_change_what_the_program_does(self):
        for name in ("TERRANE_NAME", "TF_CLI_ARGS", "TF_CLI_ARGS_version", "TF_LOG"):
            self.place.environment[name] = "x"
        self.assertIn(f"Terrane v{VERSION}", self.succeeded(self.run_action()[0]))

    def test_keys(self):
        self.need_gpg()
        path = support.public_key(self.keys, self.place)
        for key in (str(path), path.read_text()):
            done, _ = self.run_action(key=key)
            self.assertIn("signature verified", self.succeeded(done))
        other = release_support.Keys()
        self.addCleanup(other.close)
        done, _ = self.run_action(key=str(support.public_key(other, self.place, "other.asc")))
        self.refused(done, "is not signed by the key")
        self.assertEqual(self.files["GITHUB_PATH"].read_text(), "")

    def test_wrong_digests_and_inputs_are_refused(self):
        self.page.put(VERSION, self.archive, b"other")
        self.refused(self.run_action()[0], "does not have the digest")
        self.refused(self.run_action(version="$(touch x)")[0], "is not a version", 2)
        self.refused(self.run_action(version="9.9.9")[0], "cannot be downloaded")
        self.assertEqual(self.files["GITHUB_PATH"].read_text(), "")


def component():
    """The inputs of the component with their defaults, and its job as text."""
    head, _, body = (support.HERE / "templates/install.yml").read_text(encoding="utf-8").partition("\n---\n")
    inputs = re.findall(r"^    (\w+):\n((?:      .*\n?)+)", head, re.MULTILINE)
    defaults = {name: re.search(r"default: (.*)", text) for name, text in inputs}
    return {name: found and found[1].strip('"') for name, found in defaults.items()}, body


@unittest.skipUnless(HOST, "there is no release for this machine")
class GitLab(support.Base):
    def setUp(self):
        super().setUp()
        self.inputs, self.job = component()
        self.archive, content = support.archive(HOST)
        self.script = f"terrane_{VERSION}_install.sh"
        text = (self.place.root / ".ci/packages/install.sh").read_bytes()
        self.page.publish({self.archive: content, self.script: text}, VERSION, self.keys)

    def before_script(self, variables=None, **inputs):
        """The commands of the job, and one that uses what they installed."""
        values = {**self.inputs, "version": VERSION, **inputs}
        text = re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda found: values[found[1]], self.job)
        export, block = re.search(r"before_script:\n    - (.*)\n    - \|\n((?:      .*\n)+)", text).groups()
        commands = "".join(line[6:] + "\n" for line in block.splitlines())
        project = self.place.top / "checkout"
        project.mkdir(exist_ok=True)
        commands = f"set -e\n{export}\n{commands}terrane version\n"
        return self.place.run("sh", "-c", commands, cwd=project, CI_PROJECT_DIR=project, **(variables or {}))

    def test_inputs_are_those_of_the_text(self):
        used = set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", self.job))
        self.assertEqual(used, set(self.inputs))
        self.assertEqual([name for name, default in self.inputs.items() if default is None], ["version"])

    def test_program_is_installed(self):
        for _ in range(2):
            self.assertIn(f"Terrane v{VERSION}", self.succeeded(self.before_script()))
        files = self.place.files(self.place.top / "checkout")
        self.assertTrue(all(name.startswith(".terrane-install/") for name in files), files)
        self.assertEqual(self.place.files(), [])
        cached = re.search(r"paths: \[(.*)\]", self.job)[1]
        self.assertEqual([name for name in files if name.startswith(cached)], [f"{cached}/{self.archive}"])

    def test_links_and_keys(self):
        self.need_gpg()
        self.place.environment["TERRANE_KEY"] = str(support.public_key(self.keys, self.place))
        text = self.succeeded(self.before_script(key="$TERRANE_KEY", **{"as": "tofu"}))
        self.assertIn("signature verified", text)
        self.assertNotIn("not in PATH", text)
        self.assertTrue((self.place.top / "checkout/.terrane-install/bin/tofu").is_symlink())

    def nothing_ran(self, done):
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertFalse((self.place.top / "checkout/was-run").exists())
        self.assertFalse((self.place.top / "checkout/.terrane-install/bin").exists())

    def test_addresses_without_encryption_are_refused(self):
        for address in ("http://example.com/releases", "http://127.0.0.1:1@example.com", "http://127.0.0.1.example.com/", "ftp://example.com"):
            done = self.before_script({"TERRANE_RELEASES": address})
            self.nothing_ran(done)
            self.assertIn("TERRANE_RELEASES must", done.stderr)
        self.assertEqual(self.page.requests, [])

    def test_redirects_to_addresses_without_encryption_are_refused(self):
        gate = self.gate()
        needed = "sh mkdir awk grep gpg cat rm chmod mv cp uname getconf ldd mktemp cut tail head sed tar gzip ln date sort dirname basename".split()
        for downloader in filter(shutil.which, ("curl", "wget")):
            path = self.tools(*needed, downloader, "sha256sum", "env")
            self.nothing_ran(self.before_script({**gate.variables, "PATH": path}))
            self.succeeded(self.before_script({"PATH": path}))
            shutil.rmtree(self.place.top / "checkout")

    def test_script_with_a_wrong_digest_is_not_run(self):
        self.page.put(VERSION, self.script, b"touch was-run\n")
        self.nothing_ran(self.before_script())

    def test_script_of_a_release_by_another_key_is_not_run(self):
        self.need_gpg()
        other = release_support.Keys()
        self.addCleanup(other.close)
        self.page.publish({self.script: b"touch was-run\n"}, VERSION, other)
        done = self.before_script(key=str(support.public_key(self.keys, self.place)))
        self.nothing_ran(done)
        self.assertIn("SHA256SUMS is not signed by the key", done.stderr)

    def test_key_that_is_an_empty_variable_is_refused(self):
        for variables in ({}, {"TERRANE_KEY": ""}):
            self.nothing_ran(self.before_script(variables, key="$TERRANE_KEY"))


if __name__ == "__main__":
    unittest.main()
