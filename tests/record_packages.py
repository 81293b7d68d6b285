#!/usr/bin/env python3
"""What the reference makes of provider archives with odd entries: the `h1:` that it locks, or its error.

Prints the answers that the table in src/install/package/archive/tests.rs holds. Needs `terraform` 1.11.4 on PATH.
"""

import os
import re
import stat
import subprocess
import tempfile
import warnings
import zipfile

PROGRAM = "terraform-provider-foo_v1.0.0"
FILE, LINK, FOLDER = stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR
CONFIGURATION = """terraform {
  required_providers {
    foo = {
      source = "example.com/t/foo"
    }
  }
}
"""


def entry(name, mode, content):
    made = zipfile.ZipInfo("x")
    made.filename, made.create_system, made.external_attr = name, 3, mode << 16
    return made, content


program = entry(PROGRAM, FILE | 0o755, b"#!")
CASES = {
    "plain": [program],
    "folders": [
        program,
        entry("d/e/f.txt", FILE | 0o600, b"x"),
        entry("d/", FOLDER | 0o755, b""),
        entry("empty/", FOLDER | 0o700, b""),
    ],
    "dots": [entry("./" + PROGRAM, FILE | 0o755, b"#!"), entry("./d/./g", FILE | 0o755, b"y")],
    "two slashes": [program, entry("d//g", FILE | 0o755, b"y")],
    "backslash": [program, entry("d\\g", FILE | 0o755, b"y")],
    "link inside": [program, entry("lnk", LINK | 0o777, PROGRAM.encode())],
    "dots in a name": [program, entry("a..b", FILE | 0o755, b"x")],
    "not ASCII": [program, entry("h\u00e9", FILE | 0o755, b"x")],
    "up": [program, entry("../evil", FILE | 0o755, b"x")],
    "another's name": [entry("terraform-provider-foobar", FILE | 0o755, b"#!")],
    "no program": [entry("README", FILE | 0o644, b"x")],
}

warnings.simplefilter("ignore")
for case, entries in CASES.items():
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, "mirror/example.com/t/foo")
        os.makedirs(folder)
        archive = os.path.join(folder, "terraform-provider-foo_1.0.0_linux_amd64.zip")
        with zipfile.ZipFile(archive, "w") as out:
            for made, content in entries:
                out.writestr(made, content, compress_type=zipfile.ZIP_DEFLATED)
        with open(os.path.join(top, "main.tf"), "w") as out:
            out.write(CONFIGURATION)
        settings = os.path.join(top, "settings.tfrc")
        with open(settings, "w") as out:
            out.write(f'provider_installation {{\n  filesystem_mirror {{\n    path = "{top}/mirror"\n  }}\n}}\n')
        environment = dict(os.environ, CHECKPOINT_DISABLE="1", TF_CLI_CONFIG_FILE=settings)
        ran = subprocess.run(
            ["terraform", "init", "-no-color"], cwd=top, env=environment, capture_output=True, text=True
        )
        lock = os.path.join(top, ".terraform.lock.hcl")
        text = open(lock).read() if os.path.exists(lock) else ""
        hashes = re.findall(r'"(h1:.*)"', text)
        print(f"{case}: {' '.join(hashes) or ' '.join(ran.stderr.split())}")
