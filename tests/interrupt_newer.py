#!/usr/bin/env python3
"""Interrupts runs with ephemeral resources, actions and lists at random moments, and checks what is left.

Usage: tests/interrupt_newer.py PROGRAM TESTS [--rounds 100] [--seed 1] [--instances 1000] [--only plan,apply,destroy,query]

TESTS is the binary of the integration tests: it serves the provider (tests/support/depot.rs), whose service is a folder.

After each interrupt: the exit code and the messages fit each other, every key that was opened is closed, every object
that exists is in the state (or the next command names it as uncertain), no lock and no process is left, and the message
names the actions that were not invoked. The next apply comes to the same end as an undisturbed one.
"""
import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time

from interrupt import CHANGING, Project, check, check_end, interrupted, rounds

CONFIGURATION = """
terraform {
  required_providers {
    depot = { source = "example.com/test/depot" }
  }
}

ephemeral "depot_key" "key" {
  count         = 10
  name          = "key-${count.index}"
  renewed_after = 30
}

resource "depot_thing" "thing" {
  count      = %d
  name       = "thing-${count.index}"
  value      = "value"
  depends_on = [ephemeral.depot_key.key]

  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.depot_note.made[count.index %% 10]]
    }
  }
}

action "depot_note" "made" {
  count = 10
  config {
    text  = "made ${count.index}"
    takes = 5
  }
}
"""
QUERY = """
list "depot_thing" "all" {
  provider = depot
  limit    = %d
}
"""
COMMANDS = {**CHANGING, "plan": ["plan", "-out=p"], "query": ["query"]}


class Depot(Project):
    def __init__(self, program, provider, folder, instances):
        super().__init__(program, folder, CONFIGURATION % instances)
        self.instances = instances
        package = os.path.join(folder, "mirror/example.com/test/depot/1.0.0/linux_amd64")
        os.makedirs(package)
        launcher = os.path.join(package, "terraform-provider-depot_v1.0.0")
        with open(launcher, "w") as file:
            file.write(f"#!/bin/sh\nexport TERRANE_TEST_DEPOT=1\n"
                       f"exec '{provider}' --ignored --exact support::depot::serves --nocapture 3>&1 >/dev/null\n")
        os.chmod(launcher, 0o755)
        settings = os.path.join(folder, "settings.tfrc")
        with open(settings, "w") as file:
            file.write(f"provider_installation {{\n  filesystem_mirror {{\n    path = \"{folder}/mirror\"\n  }}\n}}\n")
        self.environment["TF_CLI_CONFIG_FILE"] = settings
        with open(self.path("all.tfquery.hcl"), "w") as file:
            file.write(QUERY % (instances * 2))

    def log(self, start):
        try:
            with open(self.path("service/log")) as file:
                return sorted(line[len(start):].strip() for line in file if line.startswith(start))
        except FileNotFoundError:
            return []

    def forget_log(self):
        if self.exists("service/log"):
            os.remove(self.path("service/log"))

    def things(self):
        """Ids of the objects of the service."""
        folder = self.path("service/things")
        return set(os.listdir(folder)) if os.path.isdir(folder) else set()

    def address(self, thing):
        with open(os.path.join(self.path("service/things"), thing)) as file:
            return f"depot_thing.thing[{json.load(file)['name'].removeprefix('thing-')}]"

    def known(self):
        """Ids in the state."""
        instances = (i for r in self.state()["resources"] if r["mode"] == "managed" for i in r["instances"])
        return {instance["attributes"]["id"] for instance in instances}


def check_keys(project):
    opened, closed = project.log("open "), project.log("close ")
    check(opened == closed, f"{len(opened)} keys were opened, {len(closed)} closed")


def check_rest(project):
    check(not project.exists(".terraform.tfstate.lock.info"), "the lock is left")
    check(not project.exists("errored.tfstate"), "there is an errored.tfstate")
    journal = project.exists(".terraform.tfstate.journal")
    lost = project.things() - project.known()
    out, err = project.run(["plan", "-out=next"])
    uncertain = {line[4:].strip() for line in (out + err).splitlines() if line.startswith("  - ")}
    if journal:
        check(uncertain, f"a journal is left, and nothing is uncertain:\n{out[-2000:]}{err}")
    unnamed = {project.address(thing) for thing in lost} - uncertain
    check(not unnamed, f"objects exist and are not in the state: {sorted(unnamed)}\n{err}")
    return bool(uncertain), lost


def one(project, command, moment):
    project.restore()
    project.forget_log()
    before = project.things()
    code, out, err, sent = interrupted(project, COMMANDS[command], moment, None)
    ended = check_end(command, code, out, err, sent)
    check_keys(project)
    made, notes = project.things() - before, len(project.log("note "))
    if command == "apply" and ended:
        check(notes == len(made), f"{len(made)} objects were made, and {notes} actions invoked")
    if command == "apply" and code == 1:
        check(notes <= len(made), f"{len(made)} objects were made, and {notes} actions invoked")
        missing = len(made) - notes
        check(missing == 0 or "action" in err.lower(), f"{missing} actions were not invoked, and no message says so:\n{err}")
    if command in ("plan", "query"):
        check(project.things() == before, f"{command} changes objects")
    uncertain, lost = check_rest(project)
    for thing in lost:
        os.remove(os.path.join(project.path("service/things"), thing))
    project.forget_log()
    project.run(["apply", "-auto-approve"])
    check(len(project.known()) == project.instances, "the next apply comes to another end")
    check(project.things() == project.known(), "objects and state differ in the end")
    check_keys(project)
    return ended, uncertain, sent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("provider")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--instances", type=int, default=1000)
    parser.add_argument("--only", default="plan,apply,destroy,query")
    options = parser.parse_args()
    random.seed(options.seed)
    wrong = []
    for command in options.only.split(","):
        folder = tempfile.mkdtemp(prefix="terrane-interrupt-")
        project = Depot(os.path.abspath(options.program), os.path.abspath(options.provider), folder, options.instances)
        project.run(["init"])
        if command in ("destroy", "query"):
            project.run(["apply", "-auto-approve"])
        project.save()
        started = time.monotonic()
        project.run(COMMANDS[command])
        length = time.monotonic() - started
        wrong += rounds(command, options.rounds, length, lambda moment: one(project, command, moment))
        shutil.rmtree(folder)
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
