"""Makes docs/pictures/sandbox.webp: a crash, a lapsed lease and a refused zombie in the sandbox.

`make film` builds the sandbox first. Needs a Chromium of the system. A frame lasts as long as it
was seen, so the film is as fast as the page was.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests")]

from support.browser import chromium, served  # noqa: E402

BUILT = ROOT / "build" / "sandbox"
FILM = ROOT / "docs" / "pictures" / "sandbox.webp"
WINDOW = {"width": 1180, "height": 940}
WIDTH, HEIGHT = 885, 705  # of a frame
FRAME_S = 0.25  # at least, between two frames
READ_S = 3.0  # a line of text stays so long
PATIENCE_S = 120.0
MOST_BYTES = 2_000_000
MOST_S = 60.0
# Leaves room for the three cards, so that no click scrolls the page.
HIDE = """document.querySelectorAll("h1, .lead, .examples, .prompt, .grid, p:has(> #cheat)")
  .forEach((one) => { one.hidden = true; one.style.display = "none"; })"""
# What the tour asks for, until each step is done.
CLICKS = {
    1: ("#tour .start", '[data-state="working"] .crash'),
    2: (),
    3: ('[data-state="working"] .zombie',),
    4: ('[data-state="frozen"] .zombie',),
}


class Film:
    """Frames of a page, and how long each was seen."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frames: list[Image.Image] = []
        self.shown_s: list[float] = []
        self._at = time.monotonic()

    def frame(self) -> None:
        """Take one frame."""
        shot = Image.open(io.BytesIO(self.page.screenshot(type="png"))).convert("RGB")
        self.frames.append(shot.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS))
        now = time.monotonic()
        self.shown_s.append(max(FRAME_S, now - self._at))
        self._at = now
        self.page.wait_for_timeout(1000 * FRAME_S)

    def until(self, done: Callable[[], bool]) -> None:
        """Take frames until it is done."""
        deadline = time.monotonic() + PATIENCE_S
        while not done():
            if time.monotonic() > deadline:
                sys.exit("the sandbox did not do what the film is about")
            self.frame()

    def rest(self, seconds: float) -> None:
        """Take frames for some seconds, so that people can read."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end)

    def save(self) -> None:
        """Write the file."""
        FILM.parent.mkdir(exist_ok=True)
        self.frames[0].save(
            FILM, save_all=True, append_images=self.frames[1:], loop=0, lossless=True, method=3,
            duration=[round(1000 * seconds) for seconds in self.shown_s],
        )  # fmt: skip


def take(page: Page, film: Film) -> None:
    """Play the first four steps of the tour."""
    for step, clicks in CLICKS.items():
        for target in clicks:
            film.until(page.locator(target).first.is_visible)
            film.rest(1.0)
            page.locator(target).first.click()
        film.until(page.locator(f'#tour[data-step="{step}"][data-state="done"]').is_visible)
        film.rest(READ_S)
        page.locator("#tour .next").click() if step < len(CLICKS) else film.rest(READ_S)


def main() -> None:
    """Make the film."""
    app = Starlette(routes=[Mount("/", StaticFiles(directory=BUILT, html=True))])
    with served(app) as address, chromium() as browser:
        page = browser.new_page(viewport=WINDOW, color_scheme="light", reduced_motion="reduce")
        page.goto(address)
        page.locator('.worker[data-state="asleep"]').nth(2).wait_for(timeout=60_000)
        page.select_option("#pace", "calm")
        page.evaluate(HIDE)
        film = Film(page)
        take(page, film)
        film.save()
    size, seconds = FILM.stat().st_size, sum(film.shown_s)
    print(f"{FILM.relative_to(ROOT)}: {size:,} bytes, {seconds:.0f} s, {len(film.frames)} frames")
    if size > MOST_BYTES or seconds > MOST_S:
        sys.exit(f"the film is too long: at most {MOST_BYTES:,} bytes and {MOST_S:.0f} s")


if __name__ == "__main__":
    main()
