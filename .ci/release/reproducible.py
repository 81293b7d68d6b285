"""Archives whose bytes depend on nothing but the names and contents of their files: sorted, one owner, one time.

The same zlib is needed for the same bytes: zlib-ng, which some Pythons have, compresses in another way.
Entries are a dictionary: path in the archive with slashes -> (mode, content).
"""

import gzip
import hashlib
import io
import stat
import tarfile
import time
import zipfile

FILE, PROGRAM, FOLDER = 0o644, 0o755, 0o755


def compressed(content):
    """Gzip without a name and a time."""
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=out, mtime=0) as stream:
        stream.write(content)
    return out.getvalue()


def folders(names):
    """The folders of paths, each with a slash at the end."""
    parts = [name.split("/") for name in names]
    return {"/".join(each[:length]) + "/" for each in parts for length in range(1, len(each))}


def tar_gz(entries, seconds):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted({*entries, *folders(entries)}):
            made = tarfile.TarInfo(name.rstrip("/"))
            made.mtime, made.uname, made.gname = seconds, "root", "root"
            if name.endswith("/"):
                made.type, made.mode = tarfile.DIRTYPE, FOLDER
                archive.addfile(made)
            else:
                made.mode, content = entries[name]
                made.size = len(content)
                archive.addfile(made, io.BytesIO(content))
    return compressed(out.getvalue())


def zipped(entries, seconds):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in sorted({*entries, *folders(entries)}):
            made = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
            # Python writes the number of the system that it runs on.
            made.create_system = 3
            if name.endswith("/"):
                made.external_attr = (stat.S_IFDIR | FOLDER) << 16 | 0x10
                archive.writestr(made, b"")
            else:
                mode, content = entries[name]
                made.external_attr = (stat.S_IFREG | mode) << 16
                archive.writestr(made, content, zipfile.ZIP_DEFLATED, 9)
    return out.getvalue()


def pack(kind, entries, seconds):
    """An archive; `kind` is `tar.gz` or `zip`."""
    return zipped(entries, seconds) if kind == "zip" else tar_gz(entries, seconds)


def members(path):
    """The files of an archive: name -> content. Empty for files that are no archives."""
    if str(path).endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            return {each.filename: archive.read(each) for each in archive.infolist() if not each.is_dir()}
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            return {each.name: archive.extractfile(each).read() for each in archive if each.isfile()}
    return {}


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()
