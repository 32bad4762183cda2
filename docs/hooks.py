"""The hook of MkDocs: what the pages say to their tests is not for a reader of the site."""

from __future__ import annotations

import re
from typing import Any

FLAGS = re.compile(r"^(```\w+) no-run$", re.MULTILINE)
COMMENTS = re.compile(
    r"^<!-- (?:output|output of: .*|end|(?:file|generated): [\w./-]+) -->$", re.MULTILINE
)


def on_page_markdown(markdown: str, **_more: Any) -> str:
    """Return the page without flags of blocks and comments for the tests."""
    return COMMENTS.sub("", FLAGS.sub(r"\1", markdown))
