"""The results of the demo: prints where they are, and writes one page that shows them."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import click

from qwf_agent.cli import output
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection

STYLE = "body{background:#16181d;color:#e6e6e6;font-family:sans-serif;margin:2em}a{color:#00c2d1}"


def report(
    conn: Connection, statuses: list[dict[str, Any]], names: dict[int, str], folder: Path
) -> bool:
    """Print where the results are; True if every run completed and left its files."""
    made: dict[str, list[Path]] = {}
    for status in statuses:
        files = _files(conn, status)
        if files:
            made[names[status["run"]["id"]]] = files
        else:
            output.show(draw.run(status))
    for name, files in made.items():
        click.echo(f"{name}: {', '.join(file.name for file in files)}\n  in {files[0].parent}")
    if made:
        page = folder / "index.html"
        page.write_text(_gallery(made), encoding="utf-8")
        click.echo(f"\n{len(made)} of {len(statuses)} runs completed. All results on one page:")
        click.echo(page.as_uri())
    return len(made) == len(statuses)


def _files(conn: Connection, status: dict[str, Any]) -> list[Path]:
    """The files that the last node of a completed run names, if all of them exist."""
    if status["run"]["status"] != "completed":
        return []
    result = connection.call(conn, "result", job_id=status["nodes"][-1]["job_id"])["output"]
    files = [Path(path) for path in result.get("made", [])]
    return files if all(file.is_file() for file in files) else []


def _gallery(made: dict[str, list[Path]]) -> str:
    lines = [
        "<!doctype html><meta charset=utf-8><title>qwf demo</title>",
        f"<style>{STYLE}</style>",
    ]
    for name, files in made.items():
        lines.append(f"<h2>{html.escape(name)}</h2>")
        for file in files:
            shown = f'<img src="{file.as_uri()}" alt="">' if file.suffix in {".png", ".gif"} else ""
            lines.append(f'<a href="{file.as_uri()}">{shown or html.escape(file.name)}</a>')
    return "\n".join(lines) + "\n"
