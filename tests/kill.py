#!/usr/bin/env python3
"""Kills init, apply, refresh and destroy, or fills their disk, and checks what is left.

Usage: tests/kill.py PROGRAM [--rounds 100] [--seed 1] [--only init,apply,refresh,destroy] [--kinds timer,call,disk]

Kinds:
  timer  SIGKILL at a random moment, to the program alone or to its plugins as well
  call   SIGKILL at a random system call of the program or of one of its children; needs strace, else it is skipped
  disk   a file system with too little room (needs unshare with mounts, else it is left out), or a limit on file sizes

A third of the rounds also kill the run that recovers. After each round: the state can be read, every object that exists
is in the state or is named as uncertain, what was reported as complete is, no process is left, the same command
succeeds and comes to the same end as an undisturbed one, and no file is left that an undisturbed run does not
leave. Exits with 1 and a list of what was wrong.
"""
import argparse
import collections
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

import interrupt
from interrupt import Wrong, check

# An earlier state that is kept whole.
SNAPSHOT = re.compile(r"(/\.terraform/history/default)/[\dT.-]+Z-\d+\.snapshot$")
# One that a killed run began: the next one that is kept removes it.
HALF_SNAPSHOT = re.compile(r"/\.terraform/history/default/\.terrane-\w{6}\.tmp$")
FILES = 12
MARKED = 6
CONFIGURATION = """
terraform {
  required_providers {
    local = { source = "terraform.io/builtin/local" }
    null  = { source = "terraform.io/builtin/null" }
  }
}

resource "local_file" "file" {
  count    = %d
  filename = "files/${count.index}.txt"
  content  = join("", [for i in range(100) : "file ${count.index} "])
}

resource "terraform_data" "marked" {
  count = %d
  input = local_file.file[count.index].id

  provisioner "local-exec" {
    command = "echo ${count.index} >> marks.log"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "sleep 0.01"
  }
}

resource "null_resource" "last" {
  triggers = { all = join(",", terraform_data.marked[*].id) }
}

output "last" {
  value = null_resource.last.id
}
""" % (FILES, MARKED)
# What refresh finds to be gone.
DRIFTED = 4
COMMANDS = {"init": ["init", "-upgrade"], **interrupt.CHANGING}

PACKAGES = """
terraform {
  required_providers {
    one = { source = "example.com/acme/one" }
    two = { source = "example.com/acme/two" }
  }
}

module "local" {
  source = "./module"
}

module "archive" {
  source = "%s"
}
"""
CLI_CONFIGURATION = """
provider_installation {
  filesystem_mirror {
    path = "%s"
  }
}
"""
# The system calls that change something, or that other processes notice.
CALLS = """
openat creat write pwrite64 writev fsync fdatasync rename renameat renameat2 unlink unlinkat ftruncate fallocate mkdir
mkdirat rmdir symlink symlinkat link linkat chmod fchmod fchmodat fcntl flock execve clone clone3 vfork socket bind
listen connect accept4 sendto sendmsg recvfrom kill wait4 waitid close exit_group
""".split()
# Seconds until nothing of a killed run is left.
GONE = 8


class Project(interrupt.Project):
    """A project of one command: what its folder holds before the command and after it."""

    def __init__(self, program, folder, command):
        super().__init__(program, folder, CONFIGURATION)
        self.command = command
        self.environment["TMPDIR"] = os.path.join(folder, "tmp")
        os.mkdir(self.environment["TMPDIR"])
        if command == "init":
            self.packages()
        else:
            self.run(["init"])
            self.run(COMMANDS["apply"])
        self.reference = self.objects()
        if command == "apply":
            self.run(COMMANDS["destroy"])
            os.remove(self.path("marks.log"))
        elif command == "refresh":
            for index in range(DRIFTED):
                os.remove(self.path(f"files/{index}.txt"))
        self.save()
        self.before = self.objects()
        started = time.monotonic()
        self.run(COMMANDS[command])
        self.length = time.monotonic() - started
        self.after, self.tree, self.end = self.objects(), self.names(), self.ended_state()

    def packages(self):
        """A mirror with two versions of a provider and one of another, and modules of two kinds. The folder is at the
        older version."""
        mirror = os.path.join(self.folder, "mirror")
        chance = random.Random(1)
        for name, version in [("one", "1.0.0"), ("two", "1.0.0"), ("one", "1.1.0")]:
            place = os.path.join(mirror, "example.com/acme", name)
            os.makedirs(place, exist_ok=True)
            archive = os.path.join(place, f"terraform-provider-{name}_{version}_linux_amd64.zip")
            with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
                file.writestr(f"terraform-provider-{name}_v{version}", chance.randbytes(1 << 20))
                file.writestr("LICENSE", "none")
            if name == "two":
                self.configure(mirror)
                self.run(["init"])

    def configure(self, mirror):
        os.mkdir(self.path("module"))
        module = 'output "o" {\n  value = 1\n}\n'
        with open(self.path("module/main.tf"), "w") as file:
            file.write(module)
        archive = os.path.join(self.folder, "module.zip")
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            for number in range(20):
                file.writestr(f"m{number}.tf", module.replace('"o"', f'"o{number}"'))
        with open(self.path("main.tf"), "w") as file:
            file.write(PACKAGES % archive)
        settings = os.path.join(self.folder, "settings.tfrc")
        with open(settings, "w") as file:
            file.write(CLI_CONFIGURATION % mirror)
        self.environment["TF_CLI_CONFIG_FILE"] = settings

    def empty_temporary(self):
        shutil.rmtree(self.environment["TMPDIR"])
        os.mkdir(self.environment["TMPDIR"])

    def names(self):
        """All that is in the folder and among the temporary files. Earlier states have the time in their names, and there may be more."""
        found = set()
        for top in (self.work, self.environment["TMPDIR"]):
            for folder, folders, files in os.walk(top):
                found.update(os.path.relpath(os.path.join(folder, name), self.folder) for name in folders + files)
        return {SNAPSHOT.sub(r"\1", name) for name in found if not HALF_SNAPSHOT.search(name)}

    def ended_state(self):
        """What is the same after every run that came to its end."""
        if self.command == "init":
            with open(self.path(".terraform.lock.hcl")) as file:
                return file.read()
        return None if self.command == "apply" else self.state()["resources"]

    def files(self):
        """With something in them: what could not be written for lack of room is the provider's to report."""
        return {name for name in super().files() if os.path.getsize(self.path(f"files/{name[16:-1]}.txt")) > 0}

    def marks(self):
        if not self.exists("marks.log"):
            return set()
        with open(self.path("marks.log")) as file:
            return {f"terraform_data.marked[{line}]" for line in file.read().split()}

    def listed(self, *arguments):
        process = self.start(["state", "list", *arguments])
        out, err = process.communicate(timeout=60)
        check(process.returncode == 0 or "No state file was found" in err, f"state list fails:\n{out}{err}")
        return set(re.findall(r"^[\w.]+(?:\[\d+\])?$", out, re.MULTILINE)), out + err

    def wait_for_end(self):
        """Until nothing is left that a killed run started."""
        until = time.monotonic() + GONE
        while (left := self.processes()) and time.monotonic() < until:
            time.sleep(0.01)
        check(not left, f"processes are left: {left}")

    def spawn(self, arguments, **more):
        """Starts something with its output in a file: those who have a pipe open may outlive it."""
        out = tempfile.TemporaryFile("w+", dir=self.folder)
        process = subprocess.Popen(
            arguments, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
            **{"cwd": self.work, **more},
        )
        return process, out

    def finish(self, process, out):
        process.wait(timeout=120)
        self.wait_for_end()
        out.seek(0)
        return process.returncode, out.read()


def by_timer(project, arguments):
    process, out = project.spawn([project.program, *arguments])
    everything = random.random() < 0.5
    time.sleep(random.uniform(0, project.length * 1.1))
    numbers = [line.split()[0] for line in project.processes()] if everything else []
    process.kill()
    for number in numbers:
        try:
            os.kill(int(number), signal.SIGKILL)
        except ProcessLookupError:
            pass
    return *project.finish(process, out), "all" if everything else "alone"


def at_call(project, arguments):
    name, most = random.choice(sorted(project.calls.items()))
    return at_given_call(project, arguments, name, random.randint(1, most))


def count_calls(project):
    """The system calls of the command, with how many of each the busiest thread makes."""
    project.restore()
    log = os.path.join(project.folder, "calls")
    process, out = project.spawn(
        ["strace", "-f", "-qq", "-o", log, "-e", f"trace=?{',?'.join(CALLS)}", project.program, *COMMANDS[project.command]],
    )
    code, text = project.finish(process, out)
    check(code == 0, f"it fails under strace:\n{text}")
    threads = collections.Counter()
    with open(log) as file:
        for line in file:
            if found := re.match(r"(\d+) +(\w+)\(", line):
                threads[found.groups()] += 1
    project.calls = {}
    for (_, name), count in threads.items():
        project.calls[name] = max(count, project.calls.get(name, 0))


def at_given_call(project, arguments, name, number):
    process, out = project.spawn(
        ["strace", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", f"trace={name}",
         "-e", f"inject={name}:signal=SIGKILL:when={number}", project.program, *arguments],
    )
    return *project.finish(process, out), f"{name} {number}"


def with_full_disk(project, arguments):
    if project.mounts and random.random() < 0.6:
        return with_little_room(project, arguments)
    limit = int(random.uniform(0, project.largest * 1.2))
    process = subprocess.run(
        [project.program, *arguments], cwd=project.work, env=project.environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, start_new_session=True,
        # The screen is a pipe, which has no size.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    project.wait_for_end()
    return process.returncode, process.stdout, f"{limit} bytes a file"


def with_little_room(project, arguments):
    """The folder is moved to a file system of its own and back."""
    place = os.path.join(project.folder, "mount")
    os.makedirs(place, exist_ok=True)
    pages = project.pages + random.randint(0, project.growth)
    script = """
        mount -t tmpfs -o size=$(($1 * 4096)) none "$2" && cp -a "$3/." "$2" && cd "$2" || exit 99
        shift 3
        "$@"
        code=$?
        cd /
        find "$OLDPWD/../work" -mindepth 1 -delete
        cp -a "$OLDPWD/." "$OLDPWD/../work" && exit $code
        exit 99
    """
    process, out = project.spawn(
        ["unshare", "-rm", "sh", "-c", script, "sh", str(pages), place, project.work, project.program, *arguments],
    )
    code, text = project.finish(process, out)
    check(code != 99, f"the test itself failed with {pages} pages:\n{text}")
    return code, text, f"{pages - project.pages} of {project.growth} pages"


def measure_room(project):
    """How much the folder takes before the command, how much more it may take, and its largest file."""

    def pages():
        sizes = [os.lstat(os.path.join(project.folder, name)).st_size for name in project.names()]
        # A folder or an empty file takes one as well.
        return sum(max(1, -(-size // 4096)) for size in sizes) + 4, max(sizes)

    project.restore()
    before, _ = pages()
    project.run(COMMANDS[project.command])
    after, project.largest = pages()
    project.pages = before
    # A state is there as a journal, as the next snapshot and as a backup besides.
    project.growth = 2 * max(after - before, 0) + 24
    probe = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    project.mounts = shutil.which("unshare") and subprocess.run(probe, stderr=subprocess.DEVNULL).returncode == 0
    if not project.mounts:
        print("disk: no mounts here, only limits on file sizes")


KINDS = {"timer": by_timer, "call": at_call, "disk": with_full_disk}


def check_killed(kind, code, text):
    check("panicked" not in text and "Terrane crashed" not in text, f"it crashed:\n{text}")
    # A limit on file sizes is a signal to a shell, not to the program.
    check(code in ((0, 1) if kind == "disk" else (0, 1, -9, 137)), f"it ends with {code}:\n{text}")
    if code == 0:
        check("Error:" not in text, f"exit code 0 with errors:\n{text}")
    if code == 1:
        check("Error:" in text or "Error " in text, f"exit code 1 without an error:\n{text}")


def check_state_file(project):
    """As it is, without the program: whole, or with a whole one beside it."""
    for name in ("terraform.tfstate", "terraform.tfstate.backup", "errored.tfstate"):
        try:
            with open(project.path(name)) as file:
                text = file.read()
            json.loads(text or "{}")
        except FileNotFoundError:
            pass
        except ValueError as error:
            check(name == "terraform.tfstate", f"{name} is damaged: {error}")
            with open(project.path(".terraform.tfstate.next")) as file:
                json.load(file)


def shortened(text):
    """Without what the plan shows."""
    return "\n".join(line for line in text.splitlines() if not re.match(r" {4}|  #|.*: Refreshing", line))


def uncertain_of(text):
    """The addresses that any of the runs named."""
    return set(re.findall(r"^[ │]*- ([\w.]+(?:\[\d+\])?)$", text, re.MULTILINE))


def completed(text, what):
    """The addresses of which this was the last word."""
    last = {}
    for address, word in re.findall(r"^(\S+): (Creating\.\.\.|Destroying\.\.\.|\w+ complete after)", text, re.MULTILINE):
        last[address] = word
    return {address for address, word in last.items() if word == f"{what} complete after"}


def check_objects(project, said):
    """What a run did is known. Returns all that was said, and what is uncertain."""
    if project.exists("errored.tfstate"):
        os.replace(project.path("errored.tfstate"), project.path("terraform.tfstate"))
    known, text = project.listed()
    said += text
    check(known <= project.reference, f"unknown objects: {sorted(known - project.reference)}\n{said}")
    out, err = project.run(COMMANDS[project.command])
    said += out + err
    uncertain = uncertain_of(said)
    existing = project.files_after_kill | (project.marks_after_kill - project.marks_before)
    # With little room, a provider may have written a part of a file: its error says so.
    failed = set(re.findall(r"^Error: Create local file error\n\n  with (\S+),$", said, re.MULTILINE))
    lost = existing - known - uncertain - failed
    check(not lost, f"these exist and are not in the state: {sorted(lost)}\n{said}")
    if project.command != "refresh":
        unreported = project.said_created - known
        check(not unreported, f"these are complete and not in the state: {sorted(unreported)}\n{said}")
        kept = project.said_destroyed & known
        check(not kept, f"these are destroyed and in the state: {sorted(kept)}\n{said}")
        if project.command == "destroy":
            begun = set(re.findall(r"^(\S+): Destroying\.\.\.", said, re.MULTILINE))
            lost = project.before - known - uncertain - begun
            check(not lost, f"these are gone without a word: {sorted(lost)}\n{said}")
    return said, uncertain


def one(project, kind):
    project.restore()
    project.empty_temporary()
    project.marks_before = project.marks()
    code, said, what = KINDS[kind](project, COMMANDS[project.command])
    try:
        return after_kill(project, kind, code, said)
    except (Wrong, subprocess.TimeoutExpired, ValueError, KeyError, OSError) as error:
        raise Wrong(f"[{what}] {type(error).__name__} {shortened(str(error))}\nThe run said:\n{shortened(said)}") from error


def after_kill(project, kind, code, said):
    check_killed(kind, code, said)
    if project.command != "init":
        check_state_file(project)
    # Who is told to take errored.tfstate does so before anything else.
    twice = random.random() < 0.33 and not project.exists("errored.tfstate")
    if twice:
        more_code, more, _ = by_timer(project, COMMANDS[project.command])
        check_killed("timer", more_code, more)
        if project.command != "init":
            check_state_file(project)
    else:
        more = ""
    project.files_after_kill, project.marks_after_kill = project.files(), project.marks()
    # What the second run did it may have undone of the first.
    project.said_created = completed(said + more, "Creation")
    project.said_destroyed = completed(said + more, "Destruction")
    uncertain = set()
    if project.command == "init":
        project.run(COMMANDS["init"])
    else:
        _, uncertain = check_objects(project, said + more)
    check_rest(project)
    return code == 0, bool(uncertain), twice


def check_rest(project):
    """The same end as of an undisturbed run, and nothing else."""
    check(project.objects() == project.after, f"another end: {sorted(project.objects() ^ project.after)}")
    check(project.ended_state() == project.end, f"another end:\n{project.ended_state()}")
    names = project.names()
    # A run that was cut short has written a state; the next one keeps it as the backup.
    more = names - project.tree - {"work/terraform.tfstate.backup"}
    check(not more, f"left behind: {sorted(more)}")
    missing = project.tree - names - {"work/terraform.tfstate.backup"}
    check(not missing, f"missing: {sorted(missing)}")
    if project.command == "apply":
        project.run(["plan", "-detailed-exitcode"])


def rounds(project, kind, options, wrong):
    counts = collections.Counter()
    for number in range(options.rounds):
        try:
            ended, uncertain, twice = one(project, kind)
            counts.update({"ended": ended, "uncertain": uncertain, "twice": twice})
        except Wrong as error:
            wrong.append(f"{project.command} {kind} {number}: {error}")
            print(wrong[-1], flush=True)
            if options.keep:
                shutil.copytree(project.work, os.path.join(options.keep, f"{project.command}-{kind}-{number}"), symlinks=True, dirs_exist_ok=True)
    print(
        f"{project.command} {kind}: {options.rounds} rounds, {counts['ended']} ended all the same, "
        f"{counts['twice']} with a second kill, {counts['uncertain']} with uncertain objects", flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="init,apply,refresh,destroy")
    parser.add_argument("--kinds", default="timer,call,disk")
    parser.add_argument("--keep", help="a folder for copies of the project where something was wrong")
    options = parser.parse_args()
    random.seed(options.seed)
    kinds = options.kinds.split(",")
    if "call" in kinds and not shutil.which("strace"):
        print("call: skipped, there is no strace here")
        kinds.remove("call")
    wrong = []
    for command in options.only.split(","):
        folder = tempfile.mkdtemp(prefix="terrane-kill-")
        project = Project(os.path.abspath(options.program), folder, command)
        if "call" in kinds:
            count_calls(project)
        if "disk" in kinds:
            measure_room(project)
        for kind in kinds:
            rounds(project, kind, options, wrong)
        shutil.rmtree(folder)
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
