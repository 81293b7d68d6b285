#!/usr/bin/env python3
"""Makes the container images of a release from the static archives (linux_amd64_musl, linux_arm64_musl) in DIST.

terrane_VERSION_image_ARCH.tar has the program, certificates of authorities, and a user. If there is a root file system, made by `rootfs` beside
this script, there is also terrane_VERSION_image-ci_ARCH.tar: the same on top of it. Each file is an OCI layout, which `docker load` reads too.
The same inputs give the same bytes; times are those of the program in the archive.

Needs no container tool, no root and no network.
"""

import argparse
import collections
import hashlib
import io
import json
import pathlib
import re
import sys
import tarfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "release"))

import project
import reproducible

TARGETS = {"amd64": "linux_amd64_musl", "arm64": "linux_arm64_musl"}
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
USER = 1000
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DOCUMENTS = "usr/share/doc/terrane"
INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+gzip"

# A file or, without a content, a folder of a layer.
Entry = collections.namedtuple("Entry", "mode owner content")
Blob = collections.namedtuple("Blob", "digest content")
# `difference` is the digest of the layer before it was compressed.
Layer = collections.namedtuple("Layer", "blob difference")


def folder(mode=0o755, owner=0):
    return Entry(mode, owner, None)


def file(content, mode=0o644, owner=0):
    return Entry(mode, owner, content)


def blob(content):
    return Blob(hashlib.sha256(content).hexdigest(), content)


def json_blob(value):
    return blob(json.dumps(value, separators=(",", ":")).encode())


def layer(tar):
    return Layer(blob(reproducible.compressed(tar)), hashlib.sha256(tar).hexdigest())


def pack(entries, seconds):
    """A tar archive of entries by path, sorted; folders above them are made."""
    parents = {parent.as_posix() for path in entries for parent in pathlib.PurePosixPath(path).parents if parent.name}
    entries = {**{path: folder() for path in parents}, **entries}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(entries):
            mode, owner, content = entries[path]
            made = tarfile.TarInfo(path)
            made.mode, made.uid, made.gid, made.mtime = mode, owner, owner, seconds
            if content is None:
                made.type = tarfile.DIRTYPE
                archive.addfile(made)
            else:
                made.size = len(content)
                archive.addfile(made, io.BytesIO(content))
    return out.getvalue()


def released(dist, target):
    """The program and the licences in an archive, as entries of a layer, and the time of the program."""
    path, top = project.archive_path(dist, target), project.stem(target)
    entries, seconds = {}, None
    with tarfile.open(path) as archive:
        for member in archive:
            name = member.name[len(top) + 1 :]
            if member.isfile() and name == project.PROGRAM:
                entries["usr/local/bin/terrane"] = file(archive.extractfile(member).read(), 0o755)
                seconds = int(member.mtime)
            elif member.isfile() and (name in ("LICENSE", "THIRD-PARTY.md") or name.startswith("licences/")):
                entries[f"{DOCUMENTS}/{name}"] = file(archive.extractfile(member).read())
    if seconds is None:
        raise project.Failure(f"{path} has no {top}/{project.PROGRAM}")
    return entries, seconds


def accounts(passwd, group, shell):
    """The files of accounts with the image's user added."""
    passwd += f"terrane:x:{USER}:{USER}::/home/terrane:{shell}\n"
    group += f"terrane:x:{USER}:\n"
    return {"etc/passwd": file(passwd.encode()), "etc/group": file(group.encode())}


def own_folders():
    return {"home/terrane": folder(0o700, USER), "work": folder(0o755, USER), "tmp": folder(0o1777)}


def static_layers(entries, certificates, seconds):
    users = accounts("root:x:0:0::/root:/sbin/nologin\n", "root:x:0:\n", "/sbin/nologin")
    entries = {**entries, **own_folders(), **users}
    entries["etc/ssl/certs/ca-certificates.crt"] = file(certificates)
    return [layer(pack(entries, seconds))]


def layers_on(root, entries, seconds):
    """The layers of a root file system in a tar file and of what is ours, with the accounts of both."""
    tar = root.read_bytes()
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        members = {member.name.lstrip("./"): member for member in archive if member.isfile()}
        both = [archive.extractfile(members[name]).read().decode() for name in ("etc/passwd", "etc/group")]
        if "etc/ssl/certs/ca-certificates.crt" not in members:
            raise project.Failure(f"{root} has no certificates of authorities")
    return [layer(tar), layer(pack({**entries, **own_folders(), **accounts(*both, "/bin/bash")}, seconds))]


def config(arch, layers, seconds, title):
    labels = {
        "title": title,
        "version": project.version(),
        "source": project.repository(),
        "url": project.repository(),
        "licenses": "MPL-2.0",
    }
    return json_blob(
        {
            "created": project.rfc3339(seconds),
            "architecture": arch,
            "os": "linux",
            "config": {
                "User": f"{USER}:{USER}",
                "Env": [f"PATH={PATH}"],
                "Entrypoint": ["/usr/local/bin/terrane"],
                "WorkingDir": "/work",
                "Labels": {f"org.opencontainers.image.{name}": value for name, value in labels.items()},
            },
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{each.difference}" for each in layers]},
            "history": [{"created": project.rfc3339(seconds), "created_by": title} for _ in layers],
        }
    )


def described(kind, made, **more):
    return {"mediaType": kind, "digest": f"sha256:{made.digest}", "size": len(made.content), **more}


def image(arch, layers, seconds, variant):
    """An OCI layout with one image, as the bytes of a tar file. `manifest.json` is for versions of Docker that do not know the layout."""
    title = f"{project.PROGRAM}{variant}"
    tag = f"{project.version()}{variant}"
    made = config(arch, layers, seconds, title)
    manifest = json_blob(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "config": described(CONFIG_TYPE, made),
            "layers": [described(LAYER_TYPE, each.blob) for each in layers],
        }
    )
    # containerd stores the name as it is here, and Docker on top of it finds only whole names: it resolves `terrane` to this one.
    names = {"io.containerd.image.name": f"docker.io/library/{project.PROGRAM}:{tag}", "org.opencontainers.image.ref.name": tag}
    platform = {"architecture": arch, "os": "linux"}
    entry = described(MANIFEST_TYPE, manifest, platform=platform, annotations=names)
    blobs = [manifest, made, *(each.blob for each in layers)]
    paths = {each.digest: f"blobs/sha256/{each.digest}" for each in blobs}
    of_docker = {
        "Config": paths[made.digest],
        "RepoTags": [f"{project.PROGRAM}:{tag}"],
        "Layers": [paths[each.blob.digest] for each in layers],
    }
    entries = {
        "oci-layout": file(b'{"imageLayoutVersion":"1.0.0"}'),
        "index.json": file(json_blob({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": [entry]}).content),
        "manifest.json": file(json_blob([of_docker]).content),
        **{paths[each.digest]: file(each.content) for each in blobs},
    }
    return pack(entries, seconds)


def write(dist, arch, layers, seconds, variant):
    path = dist / f"{project.PROGRAM}_{project.version()}_image{variant}_{arch}.tar"
    path.write_bytes(image(arch, layers, seconds, variant))
    print(f"{path}: {path.stat().st_size:,} bytes")


def debian_packages(root):
    """Names and versions of the packages in a root file system; empty if it has no list of them."""
    with tarfile.open(root) as archive:
        lists = [archive.extractfile(each).read().decode() for each in archive if each.name.lstrip("./") == "var/lib/dpkg/status"]
    form = re.compile(r"^Package: (\S+)\n(?:.+\n)*?Version: (\S+)$", re.MULTILINE)
    return [f"{name} {version}" for text in lists for name, version in form.findall(text)]


def tools(certificates, roots):
    """What is in the images and not in the repository, and what made their bytes, for the provenance."""
    return {
        "certificates": {"sha256": hashlib.sha256(certificates).hexdigest()},
        "roots": {arch: {"sha256": reproducible.sha256(path), "packages": debian_packages(path)} for arch, path in sorted(roots.items())},
        **project.archiver(),
    }


def root_argument(text):
    arch, _, path = text.partition("=")
    if arch not in TARGETS or not path:
        raise argparse.ArgumentTypeError(f"{text!r} is not ARCH=FILE with one of {', '.join(TARGETS)}")
    return arch, pathlib.Path(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dist", type=pathlib.Path, help="the folder of the release")
    default = "a root file system (default: DIST/stage/rootfs_ARCH.tar, if it is there)"
    parser.add_argument("--root", type=root_argument, action="append", default=[], metavar="ARCH=FILE", help=default)
    parser.add_argument("--certificates", type=pathlib.Path, default=CERTIFICATES, metavar="FILE", help=f"default: {CERTIFICATES}")
    arguments = parser.parse_args()
    made = {arch: arguments.dist / "stage" / f"rootfs_{arch}.tar" for arch in TARGETS}
    roots = {**{arch: path for arch, path in made.items() if path.is_file()}, **dict(arguments.root)}
    there = [arch for arch, target in TARGETS.items() if project.archive_path(arguments.dist, target).is_file()]
    if not there or set(roots) - set(there):
        raise project.Failure(f"{arguments.dist} lacks an archive of {' or '.join(TARGETS.values())}")
    try:
        certificates = arguments.certificates.read_bytes()
    except OSError as error:
        raise project.Failure(f"{arguments.certificates} cannot be read: {error.strerror}") from None
    project.write_json(project.tools_path(arguments.dist, "images"), tools(certificates, roots))
    for arch in there:
        entries, seconds = released(arguments.dist, TARGETS[arch])
        write(arguments.dist, arch, static_layers(entries, certificates, seconds), seconds, "")
        if arch in roots:
            write(arguments.dist, arch, layers_on(roots[arch], entries, seconds), seconds, "-ci")


project.main(main)
