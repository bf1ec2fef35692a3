"""Additions of mkdocs to the site of the documentation besides building it: the README is its first
page, links from the documents to the code lead to the repository, and the search works from a disk.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
# Files outside docs/ that the site has too, and where.
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "bench/results/peers.png": "pictures/peers.png",
    "sql/definition.schema.json": "reference/definition.schema.json",
}
DECISIONS = "adr"
SANDBOX = ROOT / "build" / "sandbox"
# The picture of the page, and the sentence below it.
PICTURE = re.compile(r"!\[[^\]]*\]\(docs/pictures/overview-light\.png\)\n\n\*[^\n]+\*\n")
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
# The search runs in a worker, which browsers refuse to start from a disk without this. The theme
# would fetch it from another server.
SHIM = ROOT / "sandbox" / "node_modules" / "iframe-worker" / "shim" / "index.js"
SHIM_URL = "https://unpkg.com/iframe-worker/shim"
SHIM_URI = "assets/iframe-worker.js"


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add what the site has besides docs/: also the sandbox and the shim, if they were built."""
    for name, uri in OUTSIDE.items():
        if uri.endswith(".md"):
            text = (ROOT / name).read_text(encoding="utf-8")
            if uri == "index.md":
                text = _picture_first(text)
            files.append(File.generated(config, uri, content=_relinked(text, name, config)))
        else:
            files.append(File.generated(config, uri, abs_src_path=str(ROOT / name)))
    files.append(File.generated(config, f"{DECISIONS}/index.md", content=_decisions()))
    more = {f"sandbox/{f.relative_to(SANDBOX)}": f for f in SANDBOX.rglob("*") if f.is_file()}
    if SHIM.is_file():
        more[SHIM_URI] = SHIM
    for uri, file in sorted(more.items()):
        files.append(File.generated(config, uri, abs_src_path=str(file)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Rewrite the links of a document in docs/."""
    if page.file.src_uri in OUTSIDE.values():
        return markdown  # on_files has done it
    return _relinked(markdown, f"docs/{page.file.src_uri}", config)


def on_post_page(output: str, *, page: Page, **_: Any) -> str:
    """Take the shim from the site itself."""
    return output.replace(SHIM_URL, os.path.relpath(SHIM_URI, Path(page.file.dest_uri).parent))


def on_post_template(output: str, *, template_name: str, **_: Any) -> str:
    """The same for pages that are no document, such as 404.html."""
    return output.replace(SHIM_URL, f"/{SHIM_URI}")


def _picture_first(readme: str) -> str:
    """The README with the picture of the page before its first code, in the colours of the reader.
    In the repository the code comes first: there the picture is one click away."""
    found = PICTURE.search(readme)
    if found is None:
        raise ValueError("README.md has no picture of the overview")
    light = found[0]
    dark = light.replace("overview-light.png", "overview-dark.png#only-dark", 1)
    light = light.replace("overview-light.png", "overview-light.png#only-light", 1)
    dark = dark.partition("\n")[0]
    rest = readme.replace(found[0], "", 1)
    before, code, after = rest.partition("```")
    return f"{before}{dark}\n{light}\n\n{code}{after}"


def _decisions() -> str:
    """A page that lists the decisions, for the links to their folder."""
    found = sorted((ROOT / "docs" / DECISIONS).glob("*.md"))
    titles = (file.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ") for file in found)
    lines = (f"- [{title}]({file.name})" for title, file in zip(titles, found, strict=True))
    return "\n".join(["# Decisions", "", *lines, ""])


def _relinked(markdown: str, document: str, config: MkDocsConfig) -> str:
    """The text of a document, with its links as they are in the site: to another page, or to a file
    in the repository."""
    page = OUTSIDE.get(document, document.removeprefix("docs/"))
    repository = config.extra["repository"]

    def target(found: re.Match[str]) -> str:
        path, mark, anchor = found[2].partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return found[0]
        file = os.path.normpath(Path(document).parent / path)
        if file in OUTSIDE or file.startswith("docs/"):
            there = OUTSIDE.get(file, file.removeprefix("docs/"))
            there += "/index.md" if there == DECISIONS else ""
            return f"{found[1]}{os.path.relpath(there, Path(page).parent)}{mark}{anchor}{found[3]}"
        return f"{found[1]}{repository}/{file}{mark}{anchor}{found[3]}"

    return LINK.sub(target, markdown)
