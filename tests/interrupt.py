#!/usr/bin/env python3
"""Interrupts plan, apply, destroy and refresh at random moments, once and twice, and checks what is left.

Usage: tests/interrupt.py PROGRAM [--rounds 100] [--seed 1] [--only plan,apply,destroy,refresh]

After each interrupt: the exit code and the messages fit each other, an unfinished plan is marked as such and cannot be
applied, the state is whole and knows every object that exists (or the next command names it as uncertain), no lock, no
unexplained journal and no process is left, and the next apply comes to the same end as an undisturbed one. Exits with 1
and a list of what was wrong.
"""
import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MARK = "TERRANE_INTERRUPT_MARK"
FILES = 12
CONFIGURATION = """
terraform {
  required_providers {
    local = { source = "terraform.io/builtin/local" }
    null  = { source = "terraform.io/builtin/null" }
  }
}

data "local_command" "slow" {
  command   = "sleep"
  arguments = ["0.15"]
}

resource "local_file" "file" {
  count    = %d
  filename = "files/${count.index}.txt"
  content  = "file ${count.index} ${data.local_command.slow.exit_code}"
}

resource "terraform_data" "slow" {
  count = 4
  input = local_file.file[count.index].id

  provisioner "local-exec" {
    command = "sleep 0.2; echo ${count.index} >> provisioned.log"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "sleep 0.1"
  }
}

resource "null_resource" "last" {
  triggers = { all = join(",", terraform_data.slow[*].id) }
}

output "last" {
  value = null_resource.last.id
}
""" % FILES
# Seconds from an interrupt to the end: local-exec may take five, plugins two.
LIMIT = 8
# Files, slow ones, and the last one; the data source is no object.
OBJECTS = FILES + 4 + 1
CHANGING = {"apply": ["apply", "-auto-approve"], "destroy": ["destroy", "-auto-approve"], "refresh": ["refresh"]}


class Wrong(Exception):
    pass


def check(condition, text):
    if not condition:
        raise Wrong(text)


class Project:
    """A folder with the configuration, and the program that works in it."""

    def __init__(self, program, folder, configuration=CONFIGURATION):
        self.program, self.folder = program, folder
        self.work = os.path.join(folder, "work")
        os.makedirs(self.work)
        with open(os.path.join(self.work, "main.tf"), "w") as file:
            file.write(configuration)
        self.mark = f"{os.getpid()}-{os.path.basename(folder)}"
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": folder, "NO_COLOR": "1", "CHECKPOINT_DISABLE": "1", MARK: self.mark,
        }

    def start(self, arguments):
        # As in a shell that runs no jobs: the program leads no terminal, and only it gets the signal.
        return subprocess.Popen(
            [self.program, *arguments], cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )

    def run(self, arguments, code=0):
        process = self.start(arguments)
        out, err = process.communicate(timeout=120)
        check(process.returncode == code, f"{arguments} ends with {process.returncode}:\n{out}{err}")
        return out, err

    def path(self, name):
        return os.path.join(self.work, name)

    def exists(self, name):
        return os.path.exists(self.path(name))

    def state(self):
        try:
            with open(self.path("terraform.tfstate")) as file:
                text = file.read()
        except FileNotFoundError:
            return {"resources": []}
        return json.loads(text) if text else {"resources": []}

    def objects(self):
        """Addresses of managed objects in the state."""
        found = set()
        for resource in self.state()["resources"]:
            if resource["mode"] == "managed":
                for instance in resource["instances"]:
                    key = instance.get("index_key")
                    suffix = "" if key is None else f"[{json.dumps(key)}]"
                    found.add(f"{resource['type']}.{resource['name']}{suffix}")
        return found

    def files(self):
        folder = self.path("files")
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return {f"local_file.file[{name[:-4]}]" for name in names if name.endswith(".txt")}

    def processes(self):
        """Commands of processes that came of this project and still run."""
        found = []
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{number}/environ", "rb") as file:
                    mine = f"{MARK}={self.mark}".encode() in file.read().split(b"\0")
                with open(f"/proc/{number}/cmdline", "rb") as file:
                    command = file.read().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if mine and command:
                found.append(f"{number} {command}")
        return found

    def save(self):
        keep = os.path.join(self.folder, "saved")
        shutil.rmtree(keep, ignore_errors=True)
        shutil.copytree(self.work, keep)

    def restore(self):
        shutil.rmtree(self.work)
        shutil.copytree(os.path.join(self.folder, "saved"), self.work)


def interrupted(project, arguments, moment, pause):
    """Runs until its end with a signal at a moment and, with a pause, another one after it."""
    process = project.start(arguments)
    time.sleep(moment)
    number = random.choice([signal.SIGINT, signal.SIGTERM])
    sent = 0
    if process.poll() is None:
        process.send_signal(number)
        sent = 1
        if pause is not None:
            time.sleep(pause)
            if process.poll() is None:
                process.send_signal(number)
                sent = 2
    before = time.monotonic()
    out, err = process.communicate(timeout=60)
    took = time.monotonic() - before
    left = project.processes()
    check(not left, f"processes are left: {left}")
    check(took < LIMIT, f"it ended only {took:.1f} s after the interrupt")
    return process.returncode, out, err, sent


def check_end(command, code, out, err, sent):
    """The exit code fits the messages. True if the command came to its end."""
    text = out + err
    check("panicked" not in text and "Terrane crashed" not in text, f"it crashed:\n{text}")
    if code < 0:
        # Before it listens, a signal ends it like any program: nothing was said, nothing was done.
        check(-code in (signal.SIGINT, signal.SIGTERM) and not text, f"ended by signal {-code}:\n{text}")
        return False
    check(code in (0, 1), f"exit code {code}:\n{text}")
    if code == 0:
        check("Error:" not in text, f"exit code 0 with errors:\n{text}")
        return True
    check(sent > 0, f"it failed without an interrupt:\n{text}")
    check("Interrupt received." in out, f"the interrupt is not mentioned:\n{text}")
    halted = "Error: execution halted" in err
    canceled = "Error: operation canceled" in err or "interrupted" in err.lower()
    check(halted or canceled, f"no error about the interrupt:\n{text}")
    if "Error: operation canceled" in err:
        check(sent == 2 and "Two interrupts received." in err, f"canceled after one interrupt:\n{text}")
    if command == "plan":
        check("No changes." not in out and "Saved the plan" not in out, f"an unfinished plan looks complete:\n{text}")
    check("Apply complete!" not in out and "Destroy complete!" not in out, f"it failed and is complete:\n{text}")
    return False


def check_plan(project, ended):
    if not project.exists("p"):
        check(not ended, "the plan ended and was not saved")
        return
    shown = json.loads(project.run(["show", "-json", "p"])[0])
    if ended:
        check(shown["complete"] and not shown["errored"], "the plan ended and is not complete")
        creates = [c for c in shown["resource_changes"] if c["change"]["actions"] == ["create"]]
        check(len(creates) == OBJECTS, f"the plan ended with {len(creates)} changes")
        return
    check(shown["errored"] and not shown["complete"] and not shown["applyable"], "an unfinished plan is not marked")
    _, err = project.run(["apply", "p"], code=1)
    check("Cannot apply incomplete plan" in err, f"an unfinished plan is applied:\n{err}")


def check_rest(project, reference):
    """State, journal and locks after a command that changes the state; returns what the next one says."""
    check(not project.exists(".terraform.tfstate.lock.info"), "the lock is left")
    check(not project.exists("errored.tfstate"), "there is an errored.tfstate")
    check(not project.exists(".terraform.tfstate.next"), "a snapshot is left beside the state")
    journal = project.exists(".terraform.tfstate.journal")
    known, files = project.objects(), project.files()
    out, err = project.run(["plan", "-out=next"])
    uncertain = {line[4:].strip() for line in (out + err).splitlines() if line.startswith("  - ")}
    if journal:
        check(uncertain, f"a journal is left, and nothing is uncertain:\n{out}{err}")
    check(not project.exists(".terraform.tfstate.journal"), "the next command leaves the journal")
    lost = files - known - uncertain
    check(not lost, f"files exist and are not in the state: {sorted(lost)}\n{out}{err}")
    check(known <= reference, f"unknown objects: {sorted(known - reference)}")
    return uncertain


def one(project, command, reference, moment, pause):
    project.restore()
    arguments = ["plan", "-out=p"] if command == "plan" else CHANGING[command]
    code, out, err, sent = interrupted(project, arguments, moment, pause)
    ended = check_end(command, code, out, err, sent)
    if command == "plan":
        check(project.objects() == set(), "a plan changes the state")
        check_plan(project, ended)
    uncertain = check_rest(project, reference)
    if ended:
        expected = {"apply": reference, "destroy": set(), "refresh": reference, "plan": set()}[command]
        check(project.objects() == expected, f"it ended with {sorted(project.objects() ^ expected)}")
    elif command == "refresh":
        check(project.objects() == reference, "an interrupted refresh changes which objects there are")
    project.run(["apply", "-auto-approve"])
    check(project.objects() == reference, "the next apply comes to another end")
    check(project.files() == {name for name in reference if name.startswith("local_file.")}, "other files")
    project.run(["plan", "-detailed-exitcode"])
    return ended, bool(uncertain), sent


def undisturbed(project, command):
    """How long the command takes."""
    project.restore()
    started = time.monotonic()
    project.run(["plan", "-out=p"] if command == "plan" else CHANGING[command])
    return time.monotonic() - started


def rounds(title, count, length, run):
    """Interrupts a command many times, each time before its end; returns what was wrong. `run` gets a moment and returns whether
    the command ended all the same, whether objects were uncertain, and how many signals it got."""
    wrong, ended, uncertain, unsent = [], 0, 0, 0
    for number in range(count):
        try:
            sent = 0
            while sent == 0:
                moment = random.uniform(0, length)
                done, open_changes, sent = run(moment)
                unsent += sent == 0
            ended, uncertain = ended + done, uncertain + open_changes
        except (Wrong, subprocess.TimeoutExpired, ValueError, KeyError) as error:
            wrong.append(f"{title} {number} at {moment:.3f} s: {error}")
            print(wrong[-1], flush=True)
    print(f"{title}: {count} interrupts, {ended} ended all the same, {uncertain} with uncertain objects; {unsent} runs ended before", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="plan,apply,destroy,refresh")
    options = parser.parse_args()
    random.seed(options.seed)
    wrong = []
    for command in options.only.split(","):
        folder = tempfile.mkdtemp(prefix="terrane-interrupt-")
        project = Project(os.path.abspath(options.program), folder)
        project.run(["init"])
        project.run(CHANGING["apply"])
        reference = project.objects()
        assert len(reference) == OBJECTS, reference
        if command in ("plan", "apply"):
            project.run(CHANGING["destroy"])
        project.save()
        length = min(undisturbed(project, command) for _ in range(3))
        for twice in (False, True):
            def run(moment):
                pause = random.choice([0, 0.001, 0.01, 0.05, 0.2]) if twice else None
                return one(project, command, reference, moment, pause)

            wrong += rounds(f"{command} {'twice' if twice else 'once'}", options.rounds, length, run)
        shutil.rmtree(folder)
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
