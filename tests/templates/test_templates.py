"""The Jinja of models: the fast path, the sandbox, and that the two agree."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.templates import refused

from streamt_ol.problems import INVALID, PARSE, StreamtOlError
from streamt_ol.templates import (
    Call,
    Renderer,
    calls,
    one_process,
    plain_calls,
    render,
)

RAW = Call("source", "raw")
CLEAN = Call("ref", "clean")
JSON = '{"a": ["a", "b"], "b": [1, null, true]}'


@pytest.fixture(autouse=True, scope="module")
def _one_process() -> Iterator[None]:
    with one_process():
        yield


class TestCalls:
    @pytest.mark.parametrize(
        ("sql", "expected"),
        [
            ("SELECT 1", []),
            ('SELECT * FROM {{ source("raw") }}', [RAW]),
            ("SELECT * FROM {{ref('clean')}} JOIN {{- source( 'raw' ) -}}", [CLEAN, RAW]),
            ('{{ source("raw") }} {{ ref("clean") }} {{ source("raw") }}', [RAW, CLEAN, RAW]),
            ("{{\n  source(\n'raw'\n)\n}}", [RAW]),
            ('{# {{ ref("x") }} #}{{ source("raw") }}', [RAW]),
            ('{% raw %}{{ ref("x") }}{% endraw %}{{ source("raw") }}', [RAW]),
            ('{% if false %}{{ ref("x") }}{% else %}{{ source("raw") }}{% endif %}', [RAW]),
            ("{% for n in ['clean', 'clean'] %}{{ ref(n) }}{% endfor %}", [CLEAN, CLEAN]),
            ("{% set n = 'ra' ~ 'w' %}{{ source(n) }}", [RAW]),
            (r'{{ source("ra\x77") }}', [RAW]),
            ('{{ source("a b/ü") }}', [Call("source", "a b/ü")]),
            ("""{{ source("it's") }}{{ ref('"') }}""", [Call("source", "it's"), Call("ref", '"')]),
            ("{{ source('}}') }}", [Call("source", "}}")]),
            ("{ { }} {{ source('raw') }}}", [RAW]),
            ("{% macro m(n) %}{{ ref(n) }}{% endmacro %}{{ m('clean') }}", [CLEAN]),
        ],
    )
    def test_are_those_printed_by_rendering(self, sql: str, expected: list[Call]) -> None:
        assert calls(sql) == expected

    @pytest.mark.parametrize(
        ("sql", "expected"),
        [
            ("{% set x = source('raw') %}SELECT 1", []),
            ("{% set x = source('raw') %}{{ ref('clean') }}{{ x }}", [CLEAN, RAW]),
            ("{% set x %}{{ source('raw') }}{% endset %}SELECT 1", []),
            ("{% set x %}{{ source('raw') }}{% endset %}{{ x }}{{ x }}", [RAW, RAW]),
            ("{% if source('raw') %}{{ ref('clean') }}{% endif %}", [CLEAN]),
            ("{% macro m() %}{{ ref('clean') }}{% endmacro %}{% set x = m() %}", []),
            ("{% set all = [source('raw'), ref('clean')] %}{{ all[1] }}", [CLEAN]),
            ("{{ [source('raw'), ref('clean')] | join(', ') }}", [RAW, CLEAN]),
            ("{{ source('raw')|length }} {{ source('raw')[:3] }}", []),
            ("{{ source('raw')|upper }} {{ ref('clean')|tojson }}", [RAW, CLEAN]),
            ("{{ '%20s'|format(source('raw')) }}1{{ ref('clean') }}2", [RAW, CLEAN]),
            ("{% filter upper %}{{ source('raw') }}{% endfilter %}", [RAW]),
            ("-- {{ source('raw') }}\n{# {{ ref('clean') }} #}{% set n = 1 %}", [RAW]),
        ],
    )
    def test_what_is_not_printed_is_no_dependency(self, sql: str, expected: list[Call]) -> None:
        assert calls(sql) == expected

    @given(
        st.lists(
            st.sampled_from(
                [
                    '{{ source("raw") }}',
                    "{{ref('clean')}}",
                    "{{- source(\t'a\"b' ) -}}",
                    "{{ ref('ü {') }}",
                    "{{ source('a\\n') }}",
                    "{{ source('') }}",
                    "{{ source }}",
                    "{# c #}",
                    "{% if 1 %}x{% endif %}",
                    "{",
                    "}}",
                    "'",
                    '"',
                    "\n",
                    "%}",
                    "text",
                ]
            ),
            max_size=6,
        )
    )
    def test_fast_path_and_jinja_agree(self, pieces: list[str]) -> None:
        sql = "".join(pieces)
        found = plain_calls(sql)
        if found is not None:
            assert found == render(sql).calls

    @given(st.text(alphabet="{}%#-\"'() sourcef", max_size=30))
    def test_fast_path_and_jinja_agree_on_noise(self, noise: str) -> None:
        sql = f'{noise}{{{{ source("a") }}}}{noise}'
        found = plain_calls(sql)
        if found is not None:
            assert found == render(sql).calls

    def test_plain_calls_do_not_import_jinja(self) -> None:
        code = (
            "import sys; from streamt_ol.templates import calls; "
            "calls('{{ source(\"raw\") }}'); print('jinja2' in sys.modules)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout == "False\n"


class TestRendering:
    def test_gives_names_as_words_that_are_no_keywords(self) -> None:
        assert render('FROM {{ source("join") }} JOIN {{ ref("a-b c") }}').text == (
            "FROM t_join JOIN t_a_b_c"
        )

    def test_takes_params_and_loads_other_templates(self) -> None:
        others = {"lib.j2": "{% macro pick(n) %}{{ ref(n) }}{% endmacro %}", "x.j2": "({{ n }})"}
        template = "{% import 'lib.j2' as lib with context %}{{ lib.pick(n) }}{% include 'x.j2' %}"
        renderer = Renderer(others.get)
        for _ in range(2):
            assert renderer.render(template, {"n": "clean"}) == ("t_clean(clean)", [CLEAN])

    def test_imported_templates_call_too_each_time(self) -> None:
        macro = "{% macro m() %}{{ ref('clean') }}{% endmacro %}"
        renderer = Renderer({"lib.j2": "{% set raw = source('raw') %}" + macro}.get)
        for _ in range(2):
            found = renderer.render("{% import 'lib.j2' as lib %}{{ lib.raw }} {{ lib.m() }}")
            assert found == ("t_raw t_clean", [RAW, CLEAN])

    def test_nothing_stays_from_one_rendering_to_the_next(self) -> None:
        renderer = Renderer()
        costly = "{% for i in range(100000) %}{% endfor %}"
        for _ in range(4):
            assert renderer.render(costly).text == ""
        assert renderer.render("{% set x = ref('clean') %}{{ x }}").calls == [CLEAN]
        with pytest.raises(StreamtOlError):
            renderer.render("{{ source('raw') }}{{ x }}")
        assert renderer.render("y").calls == []

    def test_params_cannot_replace_the_calls(self) -> None:
        assert render("{{ source('raw') }}", params={"source": "x", "ref": "y"}).calls == [RAW]

    @pytest.mark.parametrize(
        ("template", "text"),
        [
            ("{% for c in cols %}{{ c|upper }}{{ ', ' if not loop.last }}{% endfor %}", "A, B"),
            ("{{ cols|join(', ') }} {{ cols|map('upper')|list|length }}", "a, b 2"),
            ("{{ '{} {:05d}'.format('x', 3) }} {{ '%s-%03d' % ('x', 3) }}", "x 00003 x-003"),
            ("{{ cols == ['a', 'b'] }} {{ 'a' in cols }} {{ 'a' ~ 1 }}", "True True a1"),
            ("{% set a, b = cols %}{{ b }}{{ a }} {{ [1, 2]|sum }}", "ba 3"),
            ("{% for k, v in {'k': 'v'}.items() %}{{ k }}={{ v }}{% endfor %}", "k=v"),
            (
                "{% set o = [] %}{% for c in cols %}{% set _ = o.append(c) %}{% endfor %}"
                "{{ o|length }}",
                "2",
            ),
            ("{{ missing|default('x') }} {{ missing is defined }}", "x False"),
            ("{{ 'a.b'.replace('.', '_').upper() }} {{ 'x'.center(3) }}|", "A_B  x |"),
            ("{{ [{'n': 'x'}, {'n': 'y'}]|join('+', attribute='n') }}", "x+y"),
            ("{{ 'aa'|replace('a', 'b', count=1) }} {{ '.'.join(cols|map('upper')) }}", "ba A.B"),
            ("{{ range(3)|length }} {{ range(3) is sequence }} {{ range(3)|last }}", "3 True 2"),
            ("{{ {'k': 1}.items()|list }} {{ dict(a=1).keys()|first }}", "[('k', 1)] a"),
            ("{% for c in cols if c != 'a' %}{{ c }}{% endfor %} {{ 7 // 2 }}", "b 3"),
            ("{{ {'b': [1, none, true], 'a': cols}|tojson }}", JSON),
            (
                "{{ '<\u00e9>'|tojson }} {{ [1]|tojson(indent=2) }}",
                '"\\u003c\\u00e9\\u003e" [\n  1\n]',
            ),
            ("{{ cols|map('tojson')|join(', ') }} {{ ('x'|safe).ljust(3) }}|", '"a", "b" x  |'),
            (
                "{% macro m() %}{{ caller(1) }}{% endmacro %}"
                "{% call(x) m() %}<{{ x }}>{% endcall %}",
                "<1>",
            ),
        ],
    )
    def test_ordinary_jinja_works(self, template: str, text: str) -> None:
        assert render(template, params={"cols": ["a", "b"]}).text == text

    @pytest.mark.parametrize(
        ("template", "says"),
        [
            ("a\n{{ nope }}", "'nope' is not defined (line 2)"),
            ("{{ x.nope }}", "it uses something undefined"),
            ("{% if %}", "its Jinja has a syntax error (line 1)"),
            ("\n{% if 1 %}", "its Jinja has a syntax error (line 2)"),
            ("{{ ''.__class__.__mro__ }}", "the sandbox does not allow"),
            ("{{ source.__globals__ }}", "the sandbox does not allow"),
            ("{{ '{0.__class__}'.format(1) }}", "the sandbox does not allow"),
            ("{{ [1]|map(attribute='__class__')|first }}", "the sandbox does not allow"),
            ("{{ cycler.__init__.__globals__ }}", "the sandbox does not allow"),
            ("{{ self._TemplateReference__context }}", "the sandbox does not allow"),
            ("{{ dict.mro() }}", "the sandbox does not allow"),
            ("{% include '../secrets' %}", "there is no template '../secrets'"),
            ("{{ ref(1) }}", "source() and ref() take one name"),
            ("{{ ref('a', 'b') }}", "source() and ref() take one name"),
            ("{{ source(' ') }}", "source() and ref() take one name"),
            ("{{ ref(nope) }}", "'nope' is not defined"),
            ("{{ 1 / 0 }}", "it fails with ZeroDivisionError"),
            ("{{ lipsum() }}", "'lipsum' is not defined"),
            ("\n{{ [1, 2]|random }}", "the filter 'random' is not available (line 2)"),
            ("{{ nope|tojson }}", "'nope' is not defined (line 1)"),
            ("{{ source|tojson }}", "it fails with TypeError (line 1)"),
            ("{{ x|nofilter }}", "the filter 'nofilter' is not available (line 1)"),
            ("{{ x|a.b }}", "the filter 'a.b' is not available (line 1)"),
            ("{{ x|\u00e4 }}", "the filter '\u00e4' is not available (line 1)"),
            ("{% if true %}\n{{ x|nofilter }}{% endif %}", "'nofilter' is not available (line 2)"),
            ("{{ [x]|map('nofilter')|list }}", "the filter 'nofilter' is not available"),
            ("{% filter nofilter %}{% endfilter %}", "the filter 'nofilter' is not available"),
            ("{{ x is nosuch }}", "the test 'nosuch' is not available (line 1)"),
            ("{{ [x]|select('nosuch')|list }}", "the test 'nosuch' is not available"),
            ("{% include 5 %}", "it fails with TypeError (line 1)"),
            ("{% include 'x' * 5000 %}", "there is no template 'xxx"),
            ("{{ open('/etc/passwd') }}", "'open' is not defined"),
            ("{{ joiner.__init__.__globals__['os'] }}", "the sandbox does not allow"),
            ("{% do source('x') %}", "syntax error (line 1)"),
            ("{% block b %}{% endblock %}{% block b %}{% endblock %}", "syntax error (line 1)"),
        ],
    )
    def test_what_cannot_be_rendered(self, template: str, says: str) -> None:
        assert says in refused(template, x="")

    @pytest.mark.parametrize(
        ("template", "says"),
        [
            ("{% include 'd' %}", "'nope' is not defined (macros/d:4)"),
            ("\n{% include 'c' %}", "'nope' is not defined (macros/d:4)"),
            ("{% import 'm' as m %}{{ m.f() }}", "ZeroDivisionError (macros/m:2)"),
            ("{% include 'bad' %}", "its Jinja has a syntax error (macros/bad:3)"),
            ("{% include 'filter' %}", "the filter 'nofilter' is not available (macros/filter:2)"),
            ("{% include 'gone' %}", "no template 'none' in macros/ (macros/gone:1)"),
            ("{% include 'm?password=hunter2' %}", "is not defined (macros/m?password=***:1)"),
            ("\n{{ nope }}", "'nope' is not defined (macros/first.sql.j2:2)"),
            ("\n\n{% if %}", "its Jinja has a syntax error (macros/first.sql.j2:3)"),
        ],
    )
    def test_the_file_and_line_that_fail(self, template: str, says: str) -> None:
        others = {
            "c": "{% include 'd' %}",
            "d": "\n\n\n{{ nope }}",
            "m": "{% macro f() %}\n{{ 1 / 0 }}{% endmacro %}",
            "bad": "\n\n{% if %}",
            "filter": "\n{{ 1|nofilter }}",
            "gone": "{% include 'none' %}",
            "m?password=hunter2": "{{ nope }}",
        }
        renderer = Renderer(others.get)
        for _ in range(2):  # the second time from what is compiled
            with pytest.raises(StreamtOlError) as caught:
                renderer.render(template, {}, "here", "macros/first.sql.j2")
            assert (caught.value.code, caught.value.location) == (INVALID, "here")
            assert caught.value.message.endswith(says)

    def test_a_template_that_cannot_be_loaded_keeps_its_error(self) -> None:
        def load(_: str) -> str | None:
            raise StreamtOlError(PARSE, "it is not UTF-8", location="macros/x:1")

        with pytest.raises(StreamtOlError, match="it is not UTF-8") as caught:
            Renderer(load).render("{% include 'x' %}", {}, "here")
        assert (caught.value.code, caught.value.location) == (PARSE, "macros/x:1")

    def test_messages_quote_no_template_text(self) -> None:
        for template in ("{{ nope['hunter2'] }}", "hunter2 {% if %}", "{{ ('hunter2' + 1) }}"):
            assert "hunter2" not in refused(template)
