#!/usr/bin/env python3
"""Records the pictures of the documentation: runs the program in a pseudo terminal on docs/examples/shop, and draws what it showed.

    docs/pictures/record.py target/release/terrane                        # all pictures but that of the page
    docs/pictures/record.py target/release/terrane apply summary          # these
    docs/pictures/record.py target/release/terrane page --chromium PATH

Nothing is drawn that the program did not write, except for the prompts of the shell and the commands behind them. Look at the pictures before
you commit them: `record.py look` makes PNGs of them with Chromium, in light and dark pages and at several times.

Needs only Python. The program runs in a temporary folder with its own home; everything it uses is built into it.
"""

import argparse
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import drawing
import terminal
from browser import Browser

EXAMPLE = HERE.parent / "examples/shop"
COLUMNS = 94
ROWS = 33

# A picture on the first page is loaded by all readers.
LARGEST = {"apply.svg": 150_000, "page.png": 200_000}


class Workplace:
    """The example in a folder of its own, with the program."""

    def __init__(self, program):
        self.root = tempfile.TemporaryDirectory()
        root = pathlib.Path(self.root.name)
        self.folder = root / "shop"
        shutil.copytree(EXAMPLE, self.folder)
        self.program = str(pathlib.Path(program).resolve())
        (root / "rc").write_text("provider_installation {\n  builtin {}\n}\n")
        # Nothing of the caller's: neither settings nor estimates of earlier runs.
        self.environment = {
            "PATH": os.defpath,
            "HOME": str(root),
            "XDG_STATE_HOME": str(root / "state"),
            "TF_CLI_CONFIG_FILE": str(root / "rc"),
            "CHECKPOINT_DISABLE": "1",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }
        self.is_applied = False

    def __enter__(self):
        self.quiet("init")
        return self

    def __exit__(self, *_):
        self.root.cleanup()

    def quiet(self, *arguments):
        """Runs a command that is not shown. Gives its output."""
        command = [self.program, *arguments]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, check=True)
        return done.stdout.decode()

    def apply(self):
        """The shop as the configuration says."""
        if not self.is_applied:
            self.quiet("apply", "-auto-approve")
            self.is_applied = True

    def plan(self):
        """A file with the plan of the next release."""
        self.apply()
        self.quiet("plan", "-var-file=next.tfvars", "-out=next")
        return "next"

    def record(self, arguments, rows, answers=(), code=0):
        """Records a command behind a prompt, to the prompt behind it."""
        recording = terminal.Recording(COLUMNS, rows)
        recording.prompt()
        recording.wait(0.5)
        recording.type("terrane " + " ".join(arguments))
        found = recording.run([self.program, *arguments], self.folder, self.environment, answers)
        if found != code:
            sys.exit(f"terrane {' '.join(arguments)} ended with {found}:\n{recording.text()[-2000:]}")
        shown = recording.text()
        for private in (self.root.name, str(pathlib.Path.home()), socket.gethostname()):
            if private in shown and len(private) > 3:
                sys.exit(f"the picture would show {private}")
        return recording


def apply(place):
    """The moving picture of the first page."""
    # The times of an earlier run are what the estimates are made of; these are only kept where there is a status area.
    earlier = terminal.Recording(COLUMNS, ROWS)
    for arguments in (["apply", "-auto-approve"], ["destroy", "-auto-approve"]):
        if earlier.run([place.program, *arguments], place.folder, place.environment):
            sys.exit(earlier.text()[-2000:])
    answers = [("Enter a value:", 1.8, "yes")]
    recording = place.record(["apply", "-summary"], ROWS, answers)
    place.is_applied = True
    recording.prompt()
    title = "An apply in a terminal"
    description = (
        "The command terrane apply -summary shows a table of 13 objects to be created and asks for approval. After the answer yes, the log of the "
        "apply scrolls by. Below it, a status area shows how many of the 13 changes are done, the objects that are being created with their times, "
        "and how much time is left. At the end stands: Apply complete! Resources: 13 added, 0 changed, 0 destroyed."
    )

    frames = recording.frames

    def time_of_area(index):
        """How long a frame shows the area of an apply that has made some of its changes, and knows how much time is left."""
        text = "".join(char for line in frames[index].lines for char, _ in line)
        found = re.search(r"Applying: (\d+) of 13 changes \[\d+s\] about", text)
        return frames[index + 1].time - frames[index].time if found and int(found[1]) >= 5 else 0

    telling = max(range(len(frames) - 1), key=time_of_area)
    return drawing.animation(frames, COLUMNS, ROWS, 2.2, telling, title, description)


def summary(place):
    """The short plan."""
    place.apply()
    recording = place.record(["plan", "-summary", "-diff-only", "-var-file=next.tfvars"], 60)
    title = "A short plan in a terminal"
    description = (
        "A table of the changes by action, with their counts, modules and types. Two objects are deleted and three replaced, each with the line of "
        "its block and the reason. One is updated and two are created. Below: Plan: 5 to add, 1 to change, 5 to destroy."
    )
    return drawing.still(recording.frames[-1], COLUMNS, title, description)


def denied(place):
    """A plan that policies deny."""
    place.apply()
    arguments = ["plan", "-summary", "-diff-only", "-var-file=next.tfvars", "-policies=policies"]
    recording = place.record(arguments, 80, code=1)
    title = "A denied plan in a terminal"
    description = (
        "A short plan, and below it two errors, each with the file of the policy, its condition and its message: the database must not be deleted, "
        "and machines may only be small or medium."
    )
    return drawing.still(recording.frames[-1], COLUMNS, title, description)


def graph(place):
    """The objects and what they need."""
    return place.quiet("graph", "-format=svg")


def page(place, chromium):
    """The page of the plan, with a change open, as a PNG."""
    path = place.folder / "next.html"
    path.write_text(place.quiet("show", "-html", place.plan()))
    with Browser(chromium, 1000, 2000) as browser:
        browser.set_media(prefers_color_scheme="light")
        browser.open(path.as_uri())
        browser.run("document.querySelectorAll('#list details')[4].open = true")
        browser.run("new Promise(done => setTimeout(done, 300))")
        return browser.picture(1000, browser.run("document.querySelectorAll('#list > li')[6].getBoundingClientRect().top"))


def look(names, chromium, folder):
    """PNGs of pictures, as a light and a dark page show them. Of a moving one, several times, and as readers see it who want no motion."""
    for name in names:
        path = HERE / name
        for scheme, colour in (("light", "#ffffff"), ("dark", "#0d1117")):
            with Browser(chromium, 840, 900) as browser:
                browser.set_media(prefers_color_scheme=scheme)
                html = folder / f"{name}-{scheme}.html"
                html.write_text(f'<body style="background:{colour};margin:16px"><img src="{path.as_uri()}" style="max-width:100%">')
                browser.open(html.as_uri())
                waits = (0, 2, 3, 3, 2, 2, 2) if name == "apply.svg" else (0.3,)
                for index, wait in enumerate(waits):
                    browser.run(f"new Promise(done => setTimeout(done, {wait * 1000}))")
                    (folder / f"{name}-{scheme}-{index}.png").write_bytes(browser.picture())
                if len(waits) > 1:
                    browser.set_media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
                    browser.open(html.as_uri())
                    browser.run("new Promise(done => setTimeout(done, 300))")
                    (folder / f"{name}-{scheme}-still.png").write_bytes(browser.picture())
                html.unlink()


PICTURES = {"apply.svg": apply, "summary.svg": summary, "denied.svg": denied, "graph.svg": graph, "page.png": page}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help='the program, or "look"')
    parser.add_argument("pictures", nargs="*", help="their names without endings; by default all that can be made")
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="for the picture of the page, and to look at all")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("target/pictures"), help="where `look` puts its PNGs")
    arguments = parser.parse_args()
    unknown = set(arguments.pictures) - {name.partition(".")[0] for name in PICTURES}
    if unknown:
        parser.error(f"there are no pictures of these names: {', '.join(sorted(unknown))}")
    asked = [name for name in PICTURES if not arguments.pictures or name.partition(".")[0] in arguments.pictures]
    if arguments.program == "look":
        arguments.folder.mkdir(parents=True, exist_ok=True)
        return look(asked, arguments.chromium, arguments.folder.resolve())
    with Workplace(arguments.program) as place:
        for name in asked:
            if name == "page.png":
                if not arguments.chromium:
                    print("page.png: needs --chromium", file=sys.stderr)
                    continue
                content = page(place, arguments.chromium)
            else:
                content = PICTURES[name](place).encode()
            if len(content) > LARGEST.get(name, 150_000):
                sys.exit(f"{name}: {len(content):,} bytes are too many")
            (HERE / name).write_bytes(content)
            print(f"{HERE / name}: {len(content):,} bytes")


main()
