"""Composition functions' templates against Go: FACTS holds what the binary of function-go-templating (Go, sprig v3.3.0)
printed for an expression, then its type, then its JSON; REFUSED_BY_GO_TOO what it refused; the rest is ours."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.templating import gofunction

SPEC = {"n": 3, "f": 1.5, "l": ["a", 1], "li": [1, 2, 3], "s": "yes", "t": 1704067200}
DATA: dict[str, Any] = {"observed": {"composite": {"resource": {"spec": SPEC}}}}
SPEC_PATH = "$.observed.composite.resource.spec"

FACTS = [
    ('len "abc"', "3|int|3"),
    ('int "5"', "5|int|5"),
    ('int64 "5"', "5|int64|5"),
    ('atoi "5"', "5|int|5"),
    ("add 1 2", "3|int64|3"),
    ("biggest 1 2.7", "2|int64|2"),
    ("round 1.25 1 0.6", "1.2|float64|1.2"),
    ("eq 3 $S.n", "true|bool|true"),
    ("kindOf 1", 'int|string|"int"'),
    ('kindIs "int" 1', "true|bool|true"),
    ('kindIs "int64" 1', "false|bool|false"),
    ("typeOf 1", 'int|string|"int"'),
    ('typeIs "int" 1', "true|bool|true"),
    ('typeIsLike "*int" 1', "false|bool|false"),
    ("deepEqual 3 $S.n", "false|bool|false"),
    ("has 1 $S.li", "false|bool|false"),
    ("has 1 (list 1 2)", "true|bool|true"),
    ("without $S.li 1", "[1 2 3]|[]interface {}|[1,2,3]"),
    ("rest (list)", "[]|[]interface {}|null"),
    ("initial (list)", "[]|[]interface {}|null"),
    ("concat", "[]|[]interface {}|null"),
    ('slice (list 1 2 3) "1"', "[2 3]|[]interface {}|[2,3]"),
    ('abbrev 5 "hello world"', 'he...|string|"he..."'),
    ('abbrev 3 "hello world"', 'hello world|string|"hello world"'),
    ('abbrev 11 "hello world"', 'hello world|string|"hello world"'),
    ('abbrev 8 "héllo wörld"', 'héll...|string|"héll..."'),
    ('abbrevboth 5 10 "1234 5678 9123"', '...5678...|string|"...5678..."'),
    ('abbrevboth 0 10 "1234 5678 9123"', '1234 56...|string|"1234 56..."'),
    ('abbrevboth 20 10 "1234 5678 9123"', '...78 9123|string|"...78 9123"'),
    ('abbrevboth 5 6 "1234 5678 9123"', '1234 5678 9123|string|"1234 5678 9123"'),
    ('abbrevboth 5 7 "1234 5678 9123 4567"', '...5...|string|"...5..."'),
    ('abbrevboth 6 10 "1234 5678 9123 4567 8901"', '...678 ...|string|"...678 ..."'),
    ('abbrevboth 5 10 ""', '|string|""'),
    ('abbrevboth 5 3 "abcdefgh"', 'abcdefgh|string|"abcdefgh"'),
    ('wrapWith 5 "-" "hello world foo"', 'hello-world-foo|string|"hello-world-foo"'),
    ('wrapWith 5 "\\t" "Hello World"', 'Hello\tWorld|string|"Hello\\tWorld"'),
    ('wrapWith 3 "-" "helloworld"', 'hel-low-orl-d|string|"hel-low-orl-d"'),
    ('wrapWith 3 "-" "hello world"', 'hel-lo-wor-ld|string|"hel-lo-wor-ld"'),
    ('wrapWith 0 "-" "abc"', 'a-b-c|string|"a-b-c"'),
    ('wrapWith 4 "-" "  a bc  def ghijklm"', 'a bc-def-ghij-klm|string|"a bc-def-ghij-klm"'),
    ('wrapWith 5 "" "hello world"', 'hello\nworld|string|"hello\\nworld"'),
    ('fromJson "5"', "5|float64|5"),
    ('fromJson "x"', "<no value>|<nil>|null"),
    ('(fromJson "{\\"a\\":12345678}").a', "1.2345678e+07|float64|12345678"),
    ('b64dec "YQ"', 'illegal base64 data at input byte 0|string|"illegal base64 data at input byte 0"'),
    ('b64dec "!!"', 'illegal base64 data at input byte 0|string|"illegal base64 data at input byte 0"'),
    ('b32dec "ME======"', 'a|string|"a"'),
    ('b32dec "ME"', 'illegal base32 data at input byte 0|string|"illegal base32 data at input byte 0"'),
    ('regexMatch "(" "cat"', "false|bool|false"),
    ('semver "1.2.3"', '1.2.3|*semver.Version|"1.2.3"'),
    ('semver "v1.2.3-beta.1+b2"', '1.2.3-beta.1+b2|*semver.Version|"1.2.3-beta.1+b2"'),
    ('semver "1.2"', '1.2.0|*semver.Version|"1.2.0"'),
    ('(semver "1.2.3-a").Prerelease', 'a|string|"a"'),
    ('(semver "1.2.3+b").Metadata', 'b|string|"b"'),
    ('(semver "v1.2").Original', 'v1.2|string|"v1.2"'),
    ('(semver "1.2.3").Compare (semver "1.2.4")', "-1|int|-1"),
    ('semver "1.2.3" | kindOf', 'ptr|string|"ptr"'),
    ('(semver "1.2.3" | (semver "1.2.4").Compare)', "1|int|1"),
    ('(semver "1.2.3").LessThan (semver "1.2.4")', "true|bool|true"),
    ('semverCompare "^1.2" "1.3.0"', "true|bool|true"),
    ('dir "a/b"', 'a|string|"a"'),
    ('dir "a"', '.|string|"."'),
    ('dir "/a"', '/|string|"/"'),
    ('dir ""', '.|string|"."'),
    ('dir "a/b/"', 'a/b|string|"a/b"'),
    ('dir "//a"', '/|string|"/"'),
    ('clean "a//b/../c"', 'a/c|string|"a/c"'),
    ('clean ""', '.|string|"."'),
    ('clean "//a"', '/a|string|"/a"'),
    ('clean "/../a"', '/a|string|"/a"'),
    ('osBase "a/b"', 'b|string|"b"'),
    ('osDir "a/b/c"', 'a/b|string|"a/b"'),
    ('osClean "a//b"', 'a/b|string|"a/b"'),
    ('osExt "a/b.c"', '.c|string|".c"'),
    ('osIsAbs "/a"', "true|bool|true"),
    ('osIsAbs "a"', "false|bool|false"),
    ('urlJoin (dict "host" "h" "scheme" "http")', 'http://h|string|"http://h"'),
    (
        'urlJoin (dict "host" "h:80" "scheme" "https" "path" "a b" "query" "x=1" "fragment" "f g" "userinfo" "u:p")',
        'https://u:p@h:80/a%20b?x=1#f%20g|string|"https://u:p@h:80/a%20b?x=1#f%20g"',
    ),
    ("urlJoin (dict)", '|string|""'),
    ('urlJoin (dict "path" "/p")', '/p|string|"/p"'),
    ('urlJoin (dict "path" "a:b")', './a:b|string|"./a:b"'),
    ('urlJoin (dict "scheme" "mailto" "opaque" "a@b")', 'mailto:a@b|string|"mailto:a@b"'),
    (
        'urlJoin (urlParse "https://u:p@h:1/p%20x?q=1#f")',
        'https://u:p@h:1/p%20x?q=1#f|string|"https://u:p@h:1/p%20x?q=1#f"',
    ),
    ('urlJoin (dict "scheme" "http" "path" "/p")', 'http:///p|string|"http:///p"'),
    ('urlJoin (dict "scheme" "http" "path" "//p")', 'http:////p|string|"http:////p"'),
    ('urlJoin (dict "host" "h" "path" "p" "userinfo" "a@b")', '//a%40b@h/p|string|"//a%40b@h/p"'),
    ("hello", 'Hello!|string|"Hello!"'),
    ('toDate "2006-01-02" "2024-01-02"', '2024-01-02 00:00:00 +0000 UTC|time.Time|"2024-01-02T00:00:00Z"'),
    ('toDate "2006-01-02" "x"', '0001-01-01 00:00:00 +0000 UTC|time.Time|"0001-01-01T00:00:00Z"'),
    (
        'toDate "2006-01-02T15:04:05Z07:00" "2024-01-02T03:04:05+02:00"',
        '2024-01-02 03:04:05 +0200 +0200|time.Time|"2024-01-02T03:04:05+02:00"',
    ),
    (
        'toDate "2006-01-02T15:04:05Z07:00" "2024-01-02T03:04:05Z"',
        '2024-01-02 03:04:05 +0000 UTC|time.Time|"2024-01-02T03:04:05Z"',
    ),
    (
        'toDate "2006-01-02T15:04:05.000Z" "2024-01-02T03:04:05.123Z"',
        '2024-01-02 03:04:05.123 +0000 UTC|time.Time|"2024-01-02T03:04:05.123Z"',
    ),
    (
        'toDate "2006-01-02T15:04:05Z" "2024-01-02T03:04:05.5Z"',
        '2024-01-02 03:04:05.5 +0000 UTC|time.Time|"2024-01-02T03:04:05.5Z"',
    ),
    (
        'toDate "Jan _2 2006 3:04PM" "Feb  3 2024 4:05AM"',
        '2024-02-03 04:05:00 +0000 UTC|time.Time|"2024-02-03T04:05:00Z"',
    ),
    (
        'toDate "Monday, 02-Jan-06 15:04:05 MST" "Tuesday, 02-Jan-24 15:04:05 UTC"',
        '2024-01-02 15:04:05 +0000 UTC|time.Time|"2024-01-02T15:04:05Z"',
    ),
    (
        'toDate "Monday, 02-Jan-06 15:04:05 MST" "Tuesday, 02-Jan-24 15:04:05 CET"',
        '2024-01-02 15:04:05 +0000 CET|time.Time|"2024-01-02T15:04:05Z"',
    ),
    (
        'toDate "Mon, 02 Jan 2006 15:04:05 -0700" "Tue, 02 Jan 2024 15:04:05 +0100"',
        '2024-01-02 15:04:05 +0100 +0100|time.Time|"2024-01-02T15:04:05+01:00"',
    ),
    ('toDate "2006-01-02" "2024-02-30"', '0001-01-01 00:00:00 +0000 UTC|time.Time|"0001-01-01T00:00:00Z"'),
    ('toDate "2006-01-02" "2024-13-01"', '0001-01-01 00:00:00 +0000 UTC|time.Time|"0001-01-01T00:00:00Z"'),
    ('toDate "2006-01-02" "2024-01-02x"', '0001-01-01 00:00:00 +0000 UTC|time.Time|"0001-01-01T00:00:00Z"'),
    ('toDate "2006-002" "2024-060"', '2024-02-29 00:00:00 +0000 UTC|time.Time|"2024-02-29T00:00:00Z"'),
    ('mustToDate "2006-01-02" "2024-01-02"', '2024-01-02 00:00:00 +0000 UTC|time.Time|"2024-01-02T00:00:00Z"'),
    ('date "2006-01-02" (toDate "2006-01-02" "2024-01-02")', '2024-01-02|string|"2024-01-02"'),
    (
        'date "Mon Jan _2 15:04:05 2006" (toDate "2006-01-02" "2024-01-02")',
        'Tue Jan  2 00:00:00 2024|string|"Tue Jan  2 00:00:00 2024"',
    ),
    (
        'date "Monday January 2 3:4:5 pm PM 06 02 002 __2 .000 .999 -'
        '07:00 Z0700 MST" (toDate "2006-01-02T15:04:05.999" "2024-01-02T13:04:05.120")',
        "Tuesday January 2 1:4:5 pm PM 24 02 002   2 .120 .12 +00:00 "
        'Z UTC|string|"Tuesday January 2 1:4:5 pm PM 24 02 002   2 .120 .12 +00:00 Z UTC"',
    ),
    (
        'date "2006-01-02T15:04:05.000000Z07:00" 1704067200',
        '2024-01-01T00:00:00.000000Z|string|"2024-01-01T00:00:00.000000Z"',
    ),
    ('date "2006-01-02" $S.t', '2024-01-01|string|"2024-01-01"'),
    ('date "2006-01-02" 0', '1970-01-01|string|"1970-01-01"'),
    ('dateInZone "2006-01-02 15:04 MST" 0 "UTC"', '1970-01-01 00:00 UTC|string|"1970-01-01 00:00 UTC"'),
    ('dateInZone "2006-01-02 15:04 MST" $S.t "America/New_York"', '2023-12-31 19:00 EST|string|"2023-12-31 19:00 EST"'),
    (
        'dateInZone "2006-01-02 15:04 MST -0700" $S.t "Europe/Berlin"',
        '2024-01-01 01:00 CET +0100|string|"2024-01-01 01:00 CET +0100"',
    ),
    ('dateInZone "2006-01-02 15:04 MST" $S.t "Nope/Zone"', '2024-01-01 00:00 UTC|string|"2024-01-01 00:00 UTC"'),
    ('dateInZone "2006-01-02 15:04 MST" $S.t ""', '2024-01-01 00:00 UTC|string|"2024-01-01 00:00 UTC"'),
    ('date_in_zone "2006" 0 "UTC"', '1970|string|"1970"'),
    ("htmlDate 0", '1970-01-01|string|"1970-01-01"'),
    ("htmlDate $S.t", '2024-01-01|string|"2024-01-01"'),
    ('htmlDateInZone 0 "UTC"', '1970-01-01|string|"1970-01-01"'),
    ('htmlDateInZone (toDate "2006-01-02" "2024-01-02") "UTC"', '2024-01-02|string|"2024-01-02"'),
    (
        'dateModify "1h" (toDate "2006-01-02" "2024-01-01")',
        '2024-01-01 01:00:00 +0000 UTC|time.Time|"2024-01-01T01:00:00Z"',
    ),
    (
        'dateModify "-1.5h" (toDate "2006-01-02" "2024-01-01")',
        '2023-12-31 22:30:00 +0000 UTC|time.Time|"2023-12-31T22:30:00Z"',
    ),
    (
        'dateModify "x" (toDate "2006-01-02" "2024-01-01")',
        '2024-01-01 00:00:00 +0000 UTC|time.Time|"2024-01-01T00:00:00Z"',
    ),
    (
        'mustDateModify "24h" (toDate "2006-01-02" "2024-01-01")',
        '2024-01-02 00:00:00 +0000 UTC|time.Time|"2024-01-02T00:00:00Z"',
    ),
    (
        'date_modify "1h" (toDate "2006-01-02" "2024-01-01")',
        '2024-01-01 01:00:00 +0000 UTC|time.Time|"2024-01-01T01:00:00Z"',
    ),
    (
        'must_date_modify "1h" (toDate "2006-01-02" "2024-01-01")',
        '2024-01-01 01:00:00 +0000 UTC|time.Time|"2024-01-01T01:00:00Z"',
    ),
    ('unixEpoch (toDate "2006-01-02" "2024-01-01")', '1704067200|string|"1704067200"'),
    ('unixEpoch (toDate "2006-01-02T15:04:05Z07:00" "2024-01-02T03:04:05+02:00")', '1704157445|string|"1704157445"'),
    ('duration "95"', '1m35s|string|"1m35s"'),
    ("duration 95", '0s|string|"0s"'),
    ("duration $S.n", '3s|string|"3s"'),
    ("duration $S.t", '473352h0m0s|string|"473352h0m0s"'),
    ('duration "x"', '0s|string|"0s"'),
    ("duration nil", '0s|string|"0s"'),
    ("duration 1.5", '0s|string|"0s"'),
    ("duration 0", '0s|string|"0s"'),
    ('duration "-95"', '-1m35s|string|"-1m35s"'),
    ('duration "3600"', '1h0m0s|string|"1h0m0s"'),
    ('durationRound "2h10m5s"', '2h|string|"2h"'),
    ('durationRound "2400h10m5s"', '3mo|string|"3mo"'),
    ('durationRound "1m"', '60s|string|"60s"'),
    ('durationRound "-5m"', '5m|string|"5m"'),
    ('durationRound "x"', '0s|string|"0s"'),
    ("durationRound 5", '0s|string|"0s"'),
    ("durationRound $S.t", '1s|string|"1s"'),
    ("durationRound (int64 7200000000001)", '2h|string|"2h"'),
    ('durationRound "400h"', '16d|string|"16d"'),
    ('durationRound "800h"', '1mo|string|"1mo"'),
    ('durationRound "8761h"', '1y|string|"1y"'),
    ('durationRound "1.5s"', '1s|string|"1s"'),
    ('durationRound "1ms"', '0s|string|"0s"'),
    ('toDate "2006-01-02" "2024-01-02" | kindOf', 'struct|string|"struct"'),
    ('toDate "2006-01-02" "2024-01-02" | typeOf', 'time.Time|string|"time.Time"'),
    (
        'toDate "2006-01-02" "2024-01-02" | quote',
        '"2024-01-02 00:00:00 +0000 UTC"|string|"\\"2024-01-02 00:00:00 +0000 UTC\\""',
    ),
    (
        'toDate "2006-01-02" "2024-01-02" | toString',
        '2024-01-02 00:00:00 +0000 UTC|string|"2024-01-02 00:00:00 +0000 UTC"',
    ),
    (
        'list (toDate "2006-01-02" "2024-01-02")',
        '[2024-01-02 00:00:00 +0000 UTC]|[]interface {}|["2024-01-02T00:00:00Z"]',
    ),
    ('empty (toDate "2006-01-02" "x")', "false|bool|false"),
    ('(toDate "2006-01-02" "2024-01-02").Year', "2024|int|2024"),
    ('(toDate "2006-01-02" "2024-01-02").Unix', "1704153600|int64|1704153600"),
    ('(toDate "2006-01-02" "2024-01-02").Format "2006"', '2024|string|"2024"'),
    ('((toDate "2006-01-02" "2024-01-02").AddDate 0 1 0).Format "2006-01-02"', '2024-02-02|string|"2024-02-02"'),
    ('(toDate "2006-01-02" "2024-01-02").IsZero', "false|bool|false"),
    ("addf 1.5 2", "3.5|float64|3.5"),
    ("addf", "0|float64|0"),
    ("addf 0.1 0.2", "0.3|float64|0.3"),
    ("subf 5.5 1 2", "2.5|float64|2.5"),
    ("subf 0.3 0.1", "0.2|float64|0.2"),
    ("divf 3 2", "1.5|float64|1.5"),
    ("divf 1 3", "0.3333333333333333|float64|0.3333333333333333"),
    ("divf 10 4 2", "1.25|float64|1.25"),
    ("mulf 1.1 1.1", "1.21|float64|1.21"),
    ('mulf 1.5 "2"', "3|float64|3"),
    (
        'html "<a href=\\"x\\">\'&"',
        '&lt;a href=&#34;x&#34;&gt;&#39;&amp;|string|"\\u0026lt;a href'
        '=\\u0026#34;x\\u0026#34;\\u0026gt;\\u0026#39;\\u0026amp;"',
    ),
    ("html nil", '&lt;no value&gt;|string|"\\u0026lt;no value\\u0026gt;"'),
    ('js "a\'b<\\n\\""', 'a\\\'b\\u003C\\u000A\\"|string|"a\\\\\'b\\\\u003C\\\\u000A\\\\\\""'),
    ('printf "%v %T" 1 1', '1 int|string|"1 int"'),
    ('printf "%s" 1', '%!s(int=1)|string|"%!s(int=1)"'),
    ("toYaml 1.0", '1\n|string|"1\\n"'),
    ('(fromYaml "a: 1").a | typeOf', 'int|string|"int"'),
]

REFUSED_BY_GO_TOO = [
    "until $S.n",
    'plural "a" "b" $S.n',
    "eq 3 3.0",
    "chunk 0 (list 1 2)",
    'mustFromJson "x"',
    'mustRegexMatch "(" "cat"',
    'semver "x"',
    'urlJoin (dict "host" 1)',
    'urlJoin (dict "host" nil)',
    'mustToDate "2006-01-02" "x"',
    'dateModify "1h" "2024-01-01"',
    'mustDateModify "x" (toDate "2006-01-02" "2024-01-01")',
    "unixEpoch 1",
    "divf 1 0",
    "set (getComposedResource $ `x`) `a` 1",
]


def render(expression: str) -> str:
    """The value of an expression, its type and its JSON."""
    template = f'{{{{ $x := {expression} }}}}{{{{ $x }}}}|{{{{ printf "%T" $x }}}}|{{{{ toJson $x }}}}'
    return gofunction.render(template.replace("$S", SPEC_PATH), DATA, file="t", seed="s").text


@pytest.mark.parametrize(("expression", "want"), FACTS, ids=[expression for expression, _ in FACTS])
def test_as_go_prints_it(expression: str, want: str) -> None:
    assert render(expression) == want


@pytest.mark.parametrize("expression", REFUSED_BY_GO_TOO)
def test_refused_as_go_refuses_it(expression: str) -> None:
    with pytest.raises(EngineError) as caught:
        render(expression)
    assert all(problem.fix and problem.where for problem in caught.value.problems)


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("now", id="now"),
        pytest.param("ago $S.t", id="ago"),
        pytest.param('date "2006" "2024-01-01"', id="date-of-a-text"),
        pytest.param("htmlDate $S.f", id="date-of-a-float"),
        pytest.param("htmlDate nil", id="date-of-null"),
        pytest.param('durationRound (toDate "2006" "2024")', id="duration-since-a-time"),
        pytest.param('genPrivateKey "rsa"', id="key"),
        pytest.param('getHostByName "localhost"', id="network"),
        pytest.param('(toDate "2006" "2024").Local', id="unknown-method"),
        pytest.param('dateModify "2000000h" (toDate "2006" "9900")', id="after-the-year-9999"),
    ],
)
def test_refused_on_purpose(expression: str) -> None:
    with pytest.raises(EngineError) as caught:
        render(expression)
    assert all(problem.fix and problem.where for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("template", "want"),
    [
        pytest.param('{{ range $i, $e := list "a" "b" }}{{ typeOf $i }}{{ end }}', "intint", id="index-of-a-loop"),
        pytest.param("{{ range $i := until 2 }}{{ typeOf $i }}{{ end }}", "intint", id="until"),
        pytest.param("{{ range $i := $.n }}{{ typeOf $i }} {{ end }}", "int64 " * 3, id="number"),
        pytest.param("{{ range $i := 2 }}{{ typeOf $i }} {{ end }}", "int int ", id="literal"),
        pytest.param("{{ randInt 1 2 | typeOf }}", "int", id="randInt"),
    ],
)
def test_integers_of_loops(template: str, want: str) -> None:
    assert gofunction.render(template, {"n": 3}, file="t", seed="s").text == want


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param('dict "t" (list (dict "a" 1 "b" 2))', "t:\n    - a: 1\n      b: 2\n", id="item"),
        pytest.param('list (dict "a" (list 1 2) "b" 2)', "- a:\n    - 1\n    - 2\n  b: 2\n", id="list-of-an-item"),
        pytest.param(
            'dict "a" (list (dict "b" (dict "c" 1 "d" (list 1))))',
            "a:\n    - b:\n        c: 1\n        d:\n            - 1\n",
            id="object-of-an-item",
        ),
        pytest.param("list (list 1 2) (list 3)", "- - 1\n  - 2\n- - 3\n", id="lists"),
    ],
)
def test_columns_of_to_yaml(value: str, want: str) -> None:
    assert gofunction.render(f"{{{{ toYaml ({value}) }}}}", {}, file="t").text == want
