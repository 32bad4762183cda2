"""The generator of what pages take from tables of the program: ``make pages``.

A page holds a region between ``<!-- generated: NAME -->`` and ``<!-- end -->``; the text between
the two is made by ``TABLES[NAME]``. A test holds the pages equal to what is generated.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from streamt_ol.cli.exits import of_code
from streamt_ol.codes import ERRORS, WARNINGS, Code
from streamt_ol.delivery.receivers import RECEIVERS
from streamt_ol.delivery.receivers.receiver import Parameter, Receiver
from streamt_ol.lineage.changes import KINDS
from streamt_ol.validation.rules import RULES

DOCS = Path(__file__).parent
REGION = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table of the column names ``head`` and of ``rows``."""
    lines = [list(head), ["---"] * len(list(head)), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def codes(which: Mapping[str, Code]) -> str:
    """Return the table of error or warning codes."""
    rows = [(f"`{code}`", row.meaning, of_code(code), row.remedy) for code, row in which.items()]
    return table(("code", "meaning", "exit", "what to do"), sorted(rows))


def rules() -> str:
    """Return the table of the rules of ``validate``."""
    return table(
        ("rule", "severity", "what holds", "where it comes from"),
        [(name, *row) for name, row in RULES.items()],
    )


def changes() -> str:
    """Return the table of the kinds of changes of ``diff``."""
    rows = [
        (f"`{kind}`", row.meaning, "yes" if row.breaking else "") for kind, row in KINDS.items()
    ]
    return table(("kind", "meaning", "may break others"), rows)


def receivers() -> str:
    """Return the table of the receivers."""
    rows = [
        (
            f"[{name}]({name}.md)",
            row.about,
            ", ".join(f"`{one.name}`" for one in row.parameters),
            row.others or "all kinds are taken",
        )
        for name, row in RECEIVERS.items()
    ]
    return table(("receiver", "what it takes", "`--param`", "what becomes of others"), rows)


def receiver(row: Receiver) -> str:
    """Return the facts in the row of one receiver."""
    facts = [
        *_FACTS[row.route](row),
        ("`--param`", ", ".join(_parameter(one) for one in row.parameters)),
        ("takes", _takes(row)),
        ("others", row.others),
        ("limit", _limits(row)),
        ("facets read", ", ".join(f"`{name}`" for name in sorted(row.reads))),
    ]
    return table(("", ""), [fact for fact in facts if fact[1]])


def _takes(row: Receiver) -> str:
    return row.about.rpartition(": ")[2] if row.others else "all three kinds"


def _limits(row: Receiver) -> str:
    """Return the sizes that the row knows: of a decoded event, of the body as it is sent."""
    event = getattr(row.acceptance, "max_bytes", None)
    found = [f"{event:,} bytes for each decoded event"] if event else []
    if row.max_body:
        found.append(f"{row.max_body:,} bytes for a body as it is sent")
    return "; ".join(found)


def _http_facts(row: Receiver) -> list[tuple[str, str]]:
    token = " or ".join(f"`{form}`" for form in row.tokens)
    return [
        ("server", f"`{row.url}`, or `--url`" if row.url else "`--url`"),
        ("endpoint", f"`{row.endpoint}`, or `--endpoint`" if row.endpoint else ""),
        ("headers", ", ".join(f"`{name}: {value}`" for name, value in row.headers)),
        ("token", f"`--token-env NAME`, sent as {token}" if token else "none"),
        ("compression", "`--gzip`" if row.may_gzip else "not offered"),
        ("batch form", _batch(row)),
    ]


def _batch(row: Receiver) -> str:
    form = row.batch
    return f"`--batch`: {form.size} events at a time, to `{form.endpoint}`" if form else ""


def _kafka_facts(_row: Receiver) -> list[tuple[str, str]]:
    return [
        ("brokers", "`--bootstrap HOST:PORT`"),
        ("topic", "`--topic`"),
        ("settings", "`--kafka-config FILE`, credentials too"),
    ]


_FACTS: dict[str, Callable[[Receiver], list[tuple[str, str]]]] = {
    "http": _http_facts,
    "kafka": _kafka_facts,
    "file": lambda _row: [("path", "`--path FILE`")],
    "config": lambda _row: [("transport", "`OPENLINEAGE_CONFIG`")],
}


def _parameter(one: Parameter) -> str:
    choices = f" ({', '.join(one.choices)})" if one.choices else ""
    default = f", `{one.default}` by default" if one.default else ""
    return f"`{one.name}=`{choices}{default}"


TABLES: dict[str, Callable[[], str]] = {
    "errors": lambda: codes(ERRORS),
    "warnings": lambda: codes(WARNINGS),
    "rules": rules,
    "changes": changes,
    "receivers": receivers,
    **{f"receiver-{name}": partial(receiver, row) for name, row in RECEIVERS.items()},
}


def generated(text: str) -> str:
    """Return the page ``text`` with its regions made anew; KeyError for an unknown table."""
    return REGION.sub(lambda region: region[1] + TABLES[region[2]]() + region[3], text)


def main(arguments: list[str]) -> int:
    """Write the pages that differ, and name them; with ``--check`` fail instead of writing."""
    status = 0
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text("utf-8")
        if (new := generated(text)) == text:
            continue
        if "--check" in arguments:
            status = 1
            sys.stdout.write(f"{page.relative_to(DOCS.parent)} is not current: run `make pages`\n")
        else:
            page.write_text(new, "utf-8")
            sys.stdout.write(f"{page.relative_to(DOCS.parent)} is written anew\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
