"""Makes docs/pictures: pages of `qwf web` on a seeded database, as a browser shows them.

`--look FOLDER` takes every page instead, whole, on a desk and on a phone, light and dark, for
somebody who looks at all of them; it says which of them scroll sideways or complain.

Needs a Chromium of the system (see tests/web/conftest.py); a server of its own is started for it.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import shutil
import sys
from pathlib import Path

import psycopg
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests")]

from qwf_agent import embedded  # noqa: E402
from qwf_agent.web.app import build  # noqa: E402
from qwf_agent.web.site import access  # noqa: E402
from support import lively_fleet  # noqa: E402
from support.browser import served  # noqa: E402
from support.servers import deployed, own_server  # noqa: E402
from support.visitors import TOKEN  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"
PROGRAMS = ("chromium-headless-shell", "chromium")
COLOURS = 256
MOST_BYTES = 150_000
DESK, PHONE = (1280, 800), (390, 844)
PICTURES = (  # name, path, window, theme
    ("overview-light", "/", DESK, "light"),
    ("overview-dark", "/", DESK, "dark"),
    ("overview-phone", "/", PHONE, "light"),
    ("run-light", "/runs/1", DESK, "light"),
    ("job-light", "/jobs/1", DESK, "light"),
    ("fleet-light", "/fleet", DESK, "light"),
    ("failures-light", "/failures", DESK, "light"),
    ("question-phone", "/inputs/{asked}", PHONE, "dark"),
)
EVERY = (
    *("/", "/runs", "/jobs", "/jobs?status=failed", "/inputs", "/inputs/{asked}", "/failures"),
    *(
        "/runs/1",
        "/runs/1?show=tracked",
        "/runs/1/nodes/inspect%2Fdetect",
        "/runs/43",
        "/runs/43?show=timeline",
        "/runs/45",
    ),
    *(
        "/runs/43?show=outputs",
        "/runs/43?show=history",
        "/runs/43?show=retry",
        "/jobs/1",
        "/jobs/1/beside",
    ),
    *("/fleet", "/fleet/box-a", "/fleet/box-c", "/queues", "/queues/shop", "/schedules"),
    *("/schedules/nightly", "/alerts", "/events", "/audit", "/workflows", "/doctor"),
    *("/workflows/nightly-report", "/workflows/nightly-report?show=nodes", "/search?q=photo"),
)
ASKED = "select id from qwf.jobs where status = 'awaiting_input' order by id limit 1"


def main() -> None:
    """Make all pictures."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        sys.exit(f"no browser: install one of {', '.join(PROGRAMS)}")
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(own_server(embedded.binaries()))
        template = stack.enter_context(deployed(server)).template_dbname
        stack.enter_context(server.database("pictures", template))
        dsn = server.dsn("pictures")
        db = stack.enter_context(psycopg.connect(dsn, autocommit=True))
        lively_fleet.fill(db)
        (asked,) = db.execute(ASKED).fetchone() or (0,)
        who = access.TokenAccess(dsn, TOKEN)
        address = stack.enter_context(served(build(dsn, who, access.LOCAL_HOSTS)))
        play = stack.enter_context(sync_playwright())
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        if sys.argv[1:2] == ["--look"]:
            look(browser, address, Path(sys.argv[2]), asked, db)
            return
        for name, path, window, theme in PICTURES:
            lively_fleet.keep_alive(db)
            take(browser, address, name, path.format(asked=asked), window, theme)


def look(browser: Browser, address: str, folder: Path, asked: int, db: lively_fleet.Db) -> None:
    """Write a picture of every page, and say what is wrong with it."""
    folder.mkdir(parents=True, exist_ok=True)
    for window, theme in itertools.product((DESK, PHONE), ("light", "dark")):
        page = browser.new_page(
            viewport={"width": window[0], "height": window[1]},
            color_scheme="dark" if theme == "dark" else "light",
            reduced_motion="reduce",
        )
        wrong: list[str] = []
        page.on("pageerror", lambda error, wrong=wrong: wrong.append(str(error)))
        page.on(
            "console", lambda said, wrong=wrong: said.type == "error" and wrong.append(said.text)
        )
        page.goto(f"{address}/?token={TOKEN}")
        for path in EVERY:
            wrong.clear()
            lively_fleet.keep_alive(db)
            page.goto(address + path.format(asked=asked))
            page.wait_for_timeout(1500)
            sideways = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            name = re.sub(r"[^a-z0-9]+", "-", path.strip("/")) or "overview"
            page.screenshot(path=folder / f"{name}-{window[0]}-{theme}.png", full_page=True)
            print(
                path, window[0], theme, *([f"{sideways} px sideways"] if sideways else []), *wrong
            )
        page.close()


def take(
    browser: Browser, address: str, name: str, path: str, window: tuple[int, int], theme: str
) -> None:
    """Write one picture, with few colours so that the file is small."""
    context = browser.new_context(
        viewport={"width": window[0], "height": window[1]},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
        timezone_id="UTC",
        locale="en-GB",
    )
    page = context.new_page()
    page.goto(f"{address}/?token={TOKEN}")
    page.goto(address + path)
    page.wait_for_timeout(1500)  # graphs and charts are drawn
    shown = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    file = FOLDER / f"{name}.png"
    shown.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
    context.close()
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size:,} bytes")
    if file.stat().st_size > MOST_BYTES:
        sys.exit(f"{file.name} has more than {MOST_BYTES:,} bytes")


if __name__ == "__main__":
    main()
