"""Debian packages unpacked aside: fetched by name through apt's own tools and unpacked into a folder of this checkout.

Nothing is installed, and the system's package lists, state and architectures stay as they are: lists and downloads
have folders of their own. Works as any user, on Debian and its relatives of the x86-64 kind.
"""

import contextlib
import os
import re
import shutil
import subprocess
from pathlib import Path

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Unavailable(Exception):
    """The packages cannot be had here; the text says why. Not a fault of what was to be tested."""


@contextlib.contextmanager
def locked(path):
    """One process at a time, as long as the block runs."""
    import fcntl

    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


class Archive:
    """Package lists of the system's Debian mirror, kept in `folder`."""

    def __init__(self, folder, architectures, release=None):
        """`release` is another release of Debian than the system's, from the same mirror."""
        for program in ("apt-get", "apt-cache", "dpkg-deb"):
            if shutil.which(program) is None:
                raise Unavailable(f"{program} is not there; only Debian and its relatives have these packages")
        self.folder = folder
        for name in ("lists/partial", "cache/archives/partial", "sources"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        status = folder / "status"
        status.touch()
        settings = {
            "Dir::State::Lists": folder / "lists",
            "Dir::State::status": status,
            "Dir::Cache": folder / "cache",
            # Some systems keep no parsed lists, which makes every call slow.
            "Dir::Cache::pkgcache": "packages.bin",
            "Dir::Cache::srcpkgcache": "sources.bin",
            "Acquire::Languages": "none",
            "APT::Sandbox::User": "root",
            "Debug::NoLocking": "1",
        }
        self.options = [f"-o{name}={value}" for name, value in settings.items()]
        self.options += [f"-oAPT::Architectures::={name}" for name in architectures]
        if release is not None:
            source = folder / "sources/debian.list"
            source.write_text(f"deb [signed-by={KEYRING}] {mirror(folder / 'lists')} {release} main\n")
            self.options += ["-oDir::Etc::sourcelist=/dev/null", f"-oDir::Etc::sourceparts={source.parent}"]
        self.apt("update", "-qq")

    def apt(self, *words):
        done = subprocess.run(["apt-get", *self.options, *words], capture_output=True, text=True, cwd=self.debs())
        if done.returncode != 0:
            raise Unavailable(f"apt-get {' '.join(words)}: {(done.stderr or done.stdout).strip()}")

    def debs(self):
        return self.folder / "cache/archives"

    def dependencies(self, names):
        """What each of `names`, and all that they need, depends on: a list for each package."""
        words = ["apt-cache", *self.options, "depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts"]
        words += ["--no-breaks", "--no-replaces", "--no-enhances", *names]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            raise Unavailable(f"no packages {' '.join(names)}: {done.stderr.strip()}")
        found, depends = {}, []
        for line in done.stdout.splitlines():
            if not line.startswith(" "):
                depends = found.setdefault(line, [])
            elif match := re.match(r" [ |]Depends: ([^<\s]+)", line):
                depends.append(match[1])
        return found

    def closure(self, roots, kept):
        """The packages `roots`, and what they depend on as far as the pattern `kept` names it."""
        depends, names, wanted = self.dependencies(roots), [], list(roots)
        while wanted:
            name = wanted.pop()
            if name not in names:
                names.append(name)
                wanted += [found for found in depends.get(name, ()) if re.search(kept, found)]
        return names

    def download(self, names):
        self.apt("download", *names)

    def download_whole(self, names):
        """With everything that they depend on, the C library included."""
        self.apt("install", "--yes", "--download-only", "--no-install-recommends", *names)

    def unpack(self, target):
        """All that was downloaded, without its documentation."""
        for deb in sorted(self.debs().glob("*.deb")):
            tar = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE)
            words = ["tar", "-x", "-C", target, "--exclude=./usr/share/doc", "--exclude=./usr/share/man"]
            words += ["--exclude=./usr/share/icons", "--exclude=./lib/modules", "--exclude=./usr/lib/modules"]
            unpacked = subprocess.run(words + ["--no-same-owner"], stdin=tar.stdout).returncode
            if tar.wait() != 0 or unpacked != 0:
                raise Unavailable(f"{deb.name} cannot be unpacked")


def mirror(folder):
    """Where the system's own sources find Debian; nothing is fetched to know it."""
    words = ["apt-get", f"-oDir::State::Lists={folder}", "--print-uris", "update"]
    found = subprocess.run(words, capture_output=True, text=True).stdout
    addresses = re.findall(r"^'(\S+/debian/?)dists/[a-z]+/InRelease'", found, re.MULTILINE)
    if not addresses:
        raise Unavailable("the system's package sources name no Debian mirror")
    return addresses[0]


def set_up(target, version, fill):
    """Makes the folder `target` by `fill(archive_folder, partial_folder)`, once for each `version`; it is there whole or not at all."""
    stamp = target / "version"
    with locked(target.with_suffix(".lock")):
        if stamp.is_file() and stamp.read_text() == version:
            return
        partial, scratch = target.with_suffix(".partial"), target.with_suffix(".apt.partial")
        for folder in (target, partial, scratch):
            shutil.rmtree(folder, ignore_errors=True)
        partial.mkdir(parents=True)
        fill(scratch, partial)
        (partial / "version").write_text(version)
        os.rename(partial, target)
        shutil.rmtree(scratch, ignore_errors=True)


def root():
    """The checkout."""
    return Path(__file__).resolve().parent.parent
