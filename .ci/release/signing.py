"""Signatures with the release key, by gpg. The key comes from outside:

TERRANE_SIGNING_FINGERPRINT  the whole fingerprint of the key
GNUPGHOME                    gpg's folder that has the key, or
TERRANE_SIGNING_KEY          a file with the secret key, which is imported into a folder that is deleted at the end
TERRANE_SIGNING_PASSPHRASE   a file with the passphrase, if the key has one and no agent asks for it
"""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import project


class Key:
    """The release key in a folder of gpg."""

    def __init__(self, home, fingerprint, passphrase=None):
        self.home, self.fingerprint, self.passphrase = home, fingerprint, passphrase

    def gpg(self, *arguments):
        """Runs gpg and returns the lines of its status; fails with what it printed."""
        command = ["gpg", "--homedir", self.home, "--batch", "--no-tty", "--status-fd", "1"]
        if self.passphrase:
            command += ["--pinentry-mode", "loopback", "--passphrase-file", self.passphrase]
        try:
            done = subprocess.run([*map(str, [*command, *arguments])], capture_output=True, text=True, check=False)
        except OSError as error:
            raise project.Failure(f"gpg cannot be run: {error.strerror}") from None
        if done.returncode:
            raise project.Failure(f"gpg failed: {done.stderr.strip()}")
        return done.stdout.splitlines()

    def require(self):
        """Fails if the folder does not have the secret key."""
        try:
            self.gpg("--list-secret-keys", self.fingerprint)
        except project.Failure as error:
            raise project.Failure(f"the key {self.fingerprint} is not there ({error})") from None

    def sign(self, path):
        """Writes the detached signature of a file to FILE.sig, in binary, and verifies it."""
        arguments = ["--digest-algo", "SHA512", "--local-user", self.fingerprint, "--output", f"{path}.sig"]
        pathlib.Path(f"{path}.sig").unlink(missing_ok=True)
        self.gpg(*arguments, "--detach-sign", path)
        self.verify(path)

    def verify(self, path):
        """Fails unless FILE.sig is a valid signature of the file by this key."""
        if not pathlib.Path(f"{path}.sig").is_file():
            raise project.Failure(f"{path} has no signature {path}.sig")
        try:
            status = self.gpg("--verify", f"{path}.sig", path)
        except project.Failure as error:
            raise project.Failure(f"the signature of {path} is not valid: {error}") from None
        good = any(line.startswith("[GNUPG:] GOODSIG ") for line in status)
        # The last word is the fingerprint of the primary key, if a subkey signed.
        valid = [line.split()[2:] for line in status if line.startswith("[GNUPG:] VALIDSIG ")]
        if not good or len(valid) != 1 or self.fingerprint not in (valid[0][0], valid[0][-1]):
            raise project.Failure(f"the signature of {path} is not one of the key {self.fingerprint}, or the key has expired")


@contextlib.contextmanager
def key():
    """The release key that the variables name. Fails if one is missing."""
    fingerprint = os.environ.get("TERRANE_SIGNING_FINGERPRINT", "").replace(" ", "").upper()
    if not re.fullmatch(r"[0-9A-F]{40}|[0-9A-F]{64}", fingerprint):
        raise project.Failure("no key to sign with: TERRANE_SIGNING_FINGERPRINT must be the whole fingerprint of the release key")
    file, home = os.environ.get("TERRANE_SIGNING_KEY"), os.environ.get("GNUPGHOME")
    passphrase = os.environ.get("TERRANE_SIGNING_PASSPHRASE")
    if not file and not home:
        raise project.Failure("no key to sign with: TERRANE_SIGNING_KEY must name a file with the key, or GNUPGHOME a folder of gpg")
    if not file:
        found = Key(home, fingerprint, passphrase)
        found.require()
        yield found
        return
    # Names of sockets are short: a folder deep in the file system would be too long.
    home = tempfile.mkdtemp(prefix="sign-")
    try:
        found = Key(home, fingerprint, passphrase)
        found.gpg("--import", file)
        found.require()
        yield found
    finally:
        subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False, capture_output=True)
        shutil.rmtree(home, ignore_errors=True)
