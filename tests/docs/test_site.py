"""The site builds without a broken link, and needs nothing from elsewhere to be read."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support.commands import clean_environment
from support.network import NO_NETWORK
from support.pages import ROOT

LOADS = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href")}


class Loaded(HTMLParser):
    """The addresses that a browser loads for a page, besides the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if ("rel", "canonical") not in attrs:
            self.addresses += [value or "" for key, value in attrs if (tag, key) in LOADS]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT, env=clean_environment(PYTHONPATH=NO_NETWORK), capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return folder


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 15
    for page in pages:
        for address in Loaded(page.read_text("utf-8")).addresses:
            assert not re.match(r"(\w+:)?//", address), (page, address)
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//", sheet.read_text("utf-8")), sheet


def test_what_is_for_the_tests_is_not_shown(site: Path) -> None:
    text = (site / "commands" / "export.html").read_text("utf-8")
    assert "<!-- output" not in text
    assert '<pre><code class="language-sh">streamt-ol export --project-dir .' in text
    assert '<pre><code class="language-sh">' in (site / "from-zero.html").read_text("utf-8")
    assert "no-run" not in (site / "from-zero.html").read_text("utf-8")
    assert "<td><code>E501_PARSE_ERROR</code></td>" in (site / "codes.html").read_text("utf-8")
