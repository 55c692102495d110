# SPDX-License-Identifier: Apache-2.0
"""Pages can be read and used in a browser: by mouse and keyboard, in any width."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, browse, find_browser
from process import LEGATE_OPTIONS, run

APPS = Path(__file__).parents[2] / "scripts" / "apps"
PROGRAMS = {
    "channel_flow.py": ("--size", "40", "--sweeps", "5", "--iterations", "3"),
    "kmeans.py": ("--size", "2000", "--iterations", "3"),
}
MAX_BYTES = 5_000_000

# The least contrast of a text with what is behind it (WCAG 2.1, 1.4.3).
LEAST_CONTRAST = """
(() => {
  const parse = text => {
    const parts = text.match(/[\\d.]+%?/g).map(parseFloat);
    return [...parts.slice(0, 3), parts.length > 3 ? parts[3] : 1];
  };
  const over = (top, below) =>
    [0, 1, 2].map(c => top[c] * top[3] + below[c] * (1 - top[3])).concat(1);
  const behind = element => {
    if (!element) return [255, 255, 255, 1];
    const colour = parse(getComputedStyle(element).backgroundColor);
    return colour[3] == 1 ? colour : over(colour, behind(element.parentElement));
  };
  const luminance = colour => {
    const [r, g, b] = colour.slice(0, 3).map(c => c / 255).map(
      c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  let least = 21;
  for (const element of document.body.querySelectorAll("*")) {
    const texts = [...element.childNodes].filter(
      node => node.nodeType == Node.TEXT_NODE && node.data.trim());
    if (!texts.length || !element.checkVisibility()) continue;
    const paper = behind(element);
    const [a, b] = [over(parse(getComputedStyle(element).color), paper), paper]
      .map(luminance);
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return least;
})()
"""
SHADES = """
new Set([...document.querySelectorAll("details.line")].map(
  line => getComputedStyle(line).backgroundColor)).size
"""
OPEN_ALL = 'document.querySelectorAll("details").forEach(one => { one.open = true; })'
FIRST_LINE = 'document.querySelector(".source details.line")'


@pytest.fixture(scope="module", params=PROGRAMS)
def page(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    program: str = request.param
    target = tmp_path_factory.mktemp("pages") / "report.html"
    command = (sys.executable, "-m", "legate_diffuse", "explain", "--html", str(target))
    arguments = (str(APPS / program), *PROGRAMS[program], "--batches", "2")
    done = run(*command, *LEGATE_OPTIONS, *arguments)
    assert done.returncode == 0, done.stderr
    assert target.stat().st_size < MAX_BYTES
    return target


@pytest.fixture
def browser(page: Path, tmp_path: Path) -> Iterator[Browser]:
    """Return a browser that shows the page."""
    command = find_browser()
    if command is None:
        pytest.skip("there is no Chromium; scripts/browser gets one")
    with browse(command, tmp_path) as opened:
        opened.show(1000, 800)
        opened.open(page)
        yield opened
        assert opened.complaints == []


def test_the_keyboard_opens_and_closes_a_line(browser: Browser) -> None:
    for _ in range(100):
        browser.press("Tab")
        if browser.ask(f"document.activeElement.parentElement == {FIRST_LINE}"):
            break
    assert browser.ask("document.activeElement.matches('summary:focus-visible')")
    for shown in (True, False):
        browser.press("Enter")
        assert browser.ask(f"{FIRST_LINE}.open") == shown
        details = f"{FIRST_LINE}.querySelector('.details').checkVisibility()"
        assert browser.ask(details) == shown


def test_a_click_opens_a_line(browser: Browser) -> None:
    browser.ask(f"{FIRST_LINE}.scrollIntoView()")
    box = f"{FIRST_LINE}.getBoundingClientRect()"
    browser.click(browser.ask(f"{box}.x") + 50, browser.ask(f"{box}.y") + 5)
    assert browser.ask(f"{FIRST_LINE}.open")


def test_a_link_leads_to_its_line(browser: Browser) -> None:
    assert browser.ask('document.querySelectorAll("section a").length') > 0
    browser.ask('document.querySelector("section a").click()')
    assert browser.ask('document.querySelector("details.line:target") != null')


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [400, 1000])
def test_all_can_be_read(browser: Browser, width: int, dark: bool) -> None:
    browser.show(width, 800, dark=dark)
    browser.ask(OPEN_ALL)
    paper = browser.ask("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") != dark
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.ask(LEAST_CONTRAST) >= 4.5
    assert browser.ask(SHADES) > 1
