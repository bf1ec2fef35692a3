"""Gets pgTAP as one SQL file: from Debian's package, installed or not, else from npm's.

`python tests/support/get_pgtap.py` prints where it is. Nothing is installed: it lands in build/.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

TARGET = Path(__file__).resolve().parents[2] / "build" / "pgtap.sql"
SCRIPT = re.compile(r"pgtap--(\d+)\.(\d+)\.(\d+)\.sql$")
NPM_PACKAGE = "@electric-sql/pglite-pgtap@0.0.15"


def get() -> Path:
    """The file, fetched on first use. Raises RuntimeError."""
    if TARGET.is_file():
        return TARGET
    failures = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, source in enumerate((installed, debian, npm)):
            folder = Path(scratch, str(number))
            folder.mkdir()
            try:
                found = newest(source(folder))
            except (OSError, subprocess.SubprocessError, tarfile.TarError) as error:
                failures.append(f"{source.__name__}: {error}")
                continue
            if found:
                return keep(found)
            failures.append(f"{source.__name__}: nothing there")
    raise RuntimeError(
        "no pgTAP (install Debian's postgresql-15-pgtap, or npm): " + "; ".join(failures)
    )


def installed(scratch: Path) -> Path:
    """Debian's package, if it is installed."""
    return Path("/usr/share/postgresql")


def debian(scratch: Path) -> Path:
    """Debian's package, downloaded and unpacked, not installed: no root, only package lists."""
    search = ("apt-cache", "search", "--names-only", "^postgresql-[0-9]+-pgtap$")
    packages = call(scratch, *search).split()
    if not packages and os.geteuid() == 0:  # a container image comes without lists
        call(scratch, "apt-get", "update")
        packages = call(scratch, *search).split()
    if not packages:
        raise FileNotFoundError("apt knows no pgTAP")
    call(scratch, "apt-get", "download", packages[0])
    for package in scratch.glob("*.deb"):
        call(scratch, "dpkg-deb", "-x", str(package), str(scratch))
    return scratch


def npm(scratch: Path) -> Path:
    """The npm package of pgTAP for PGlite: a tar file in a tar file."""
    call(scratch, "npm", "pack", "--silent", NPM_PACKAGE)
    for outer in scratch.glob("*.tgz"):
        unpack(outer, scratch)
    for inner in scratch.rglob("pgtap.tar.gz"):
        unpack(inner, scratch)
    return scratch


def newest(folder: Path) -> Path | None:
    """The install script of the newest version below a folder."""
    found = [
        (tuple(map(int, m.groups())), p)
        for p in folder.rglob("*.sql")
        if (m := SCRIPT.search(p.name))
    ]
    return max(found)[1] if found else None


def keep(script: Path) -> Path:
    """Move the script into place atomically: several test processes may do so at once."""
    TARGET.parent.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=TARGET.parent, delete=False) as draft:
        draft.write(script.read_bytes())
    Path(draft.name).chmod(0o644)
    return Path(draft.name).replace(TARGET)


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the SQL files of an archive, and archives in it, flat into a folder."""
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            content = tar.extractfile(member)
            if content and member.name.endswith((".sql", ".tar.gz")):
                (folder / Path(member.name).name).write_bytes(content.read())


def call(cwd: Path, *argv: str) -> str:
    """Run a tool and return what it prints."""
    if shutil.which(argv[0]) is None:
        raise FileNotFoundError(f"no {argv[0]} here")
    return subprocess.run(argv, cwd=cwd, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    try:
        print(get())
    except RuntimeError as error:
        sys.exit(str(error))
