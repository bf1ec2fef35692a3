"""Makes docs/pictures: pages of `qwf web` on a seeded database, as a browser shows them.

Needs a Chromium of the system (see tests/web/conftest.py); a server of its own is started for it.
"""

from __future__ import annotations

import contextlib
import io
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
from support import lively  # noqa: E402
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
        with psycopg.connect(dsn, autocommit=True) as db:
            lively.fill(db)
            (asked,) = db.execute(ASKED).fetchone() or (0,)
        who = access.TokenAccess(dsn, TOKEN)
        address = stack.enter_context(served(build(dsn, who, access.LOCAL_HOSTS)))
        play = stack.enter_context(sync_playwright())
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, path, window, theme in PICTURES:
            take(browser, address, name, path.format(asked=asked), window, theme)


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
