"""Checks the folder of --allow-commands: a body that can write there decides what runs next."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

log = logging.getLogger("qwf_agent")

MAX_FILES = 1000  # that are looked at


class UnsafeCommands(Exception):
    """Bodies write into the folder of the commands. The message says what to do."""


def check_commands(folder: Path, out_root: Path) -> None:
    """Warn if the agent's user, or others, can change what is in the folder. Raises UnsafeCommands
    if bodies write there."""
    refuse_inside(folder, out_root)
    found = next(_changeable(folder.resolve()), None)
    if found is not None:
        path, who = found
        log.warning(
            "--allow-commands %s: %s can be changed by %s, and so can what runs; "
            "let root own it, and nobody else write to it", folder, path, who,
        )  # fmt: skip


def refuse_inside(folder: Path, out_root: Path) -> None:
    """Raise UnsafeCommands if bodies write into the folder of the commands."""
    commands, out = folder.resolve(), out_root.resolve()
    if commands == out or commands in out.parents or out in commands.parents:
        raise UnsafeCommands(
            f"--allow-commands {folder} and --out-root {out_root} are one inside the other: a file "
            "that a body writes could run as a command. Give two folders apart"
        )


def _changeable(folder: Path) -> Iterator[tuple[Path, str]]:
    """Entries of the folder that others than root can change, and who can."""
    own = os.geteuid()
    for path in (folder, *islice(folder.rglob("*"), MAX_FILES)):
        try:
            status = path.stat()
        except OSError:  # a broken link, or removed just now
            continue
        if status.st_mode & (stat.S_IWOTH | stat.S_IWGRP):
            yield path, "others" if status.st_mode & stat.S_IWOTH else f"group {status.st_gid}"
        elif status.st_uid not in (0, own):
            yield path, f"user {status.st_uid}"
        elif own != 0 and (status.st_uid == own or os.access(path, os.W_OK)):
            yield path, "the agent's own user, as which bodies run"
