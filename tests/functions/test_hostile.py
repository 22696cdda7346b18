"""Hostile steps and claims, in every engine: each row has a twin that differs only in what makes it hostile.

A hostile row is refused with its step and the reason, and leaves no process behind that still works on it; its twin
renders. What a claim contains never adds anything to the output but values.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.dialects.crossplane import composition
from claimsmith.functions import pipeline, python, worker
from claimsmith.functions.pipeline import Rendered, Surroundings
from claimsmith.functions.registry import Bind
from tests.support.function_calls import XR, document
from tests.support.processes import children, rests

SECONDS = 3.0
"""The limit of a call that is refused, in time of its own; by the clock it is ten times as long."""
UNHURRIED = 3600.0
"""The limit of a call that is answered: by the clock, that takes long on a busy machine."""
SCRIPTS: dict[str, Bind] = {"function-python": python.of_code(python.Code())}


@pytest.fixture(autouse=True, scope="module")
def _stopped() -> Iterator[None]:
    yield
    worker.stop_all()


def rendered(
    function: str, data: dict[str, Any], spec: dict[str, Any] | None = None, *, seconds: float = UNHURRIED
) -> Rendered:
    klass, _ = composition.read(document(function, data))
    around = Surroundings(declared=SCRIPTS, timeout=seconds)
    return pipeline.render(klass, {**XR, "spec": {**XR["spec"], **(spec or {})}}, around=around)


def refusal(function: str, data: dict[str, Any], spec: dict[str, Any] | None = None) -> str:
    """Why a step is refused; it must be with step, place and fix. What is not refused in time would be answered."""
    with pytest.raises(EngineError) as caught:
        rendered(function, data, spec, seconds=SECONDS)
    problem = caught.value.problems[0]
    assert problem.what.startswith("step 'make': ")
    assert problem.where
    assert problem.fix
    return problem.what


# The inputs of each engine, around what a row is about


def template(body: str) -> tuple[str, dict[str, Any]]:
    head = "apiVersion: v1\nkind: Thing\nmetadata:\n  annotations:\n    {{ setResourceNameAnnotation `a` }}\n"
    text = f"{{{{ $spec := .observed.composite.resource.spec }}}}{head}spec:\n  value: {body}\n"
    return "function-go-templating", {"source": "Inline", "inline": {"template": text}}


def kcl(value: str, imports: str = "") -> tuple[str, dict[str, Any]]:
    thing = f'{{apiVersion = "v1", kind = "Thing", metadata.name = "a", spec.value = {value}}}'
    function = "_f = lambda n { 1 if n < 1 else _f(n - 1) + _f(n - 1) }"
    source = f'{imports}spec = option("params").oxr.spec\n{function}\nitems = [{thing}]'
    data = {"apiVersion": "krm.kcl.dev/v1alpha1", "kind": "KCLInput", "spec": {"source": source}}
    return "function-kcl", data


def kro(value: str) -> tuple[str, dict[str, Any]]:
    thing = {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"value": f"${{{value}}}"}}
    data = {"apiVersion": "kro.fn.crossplane.io/v1beta1", "kind": "ResourceGraph"}
    return "function-kro", {**data, "resources": [{"id": "thing", "template": thing}]}


def script(value: str, before: str = "pass") -> tuple[str, dict[str, Any]]:
    text = (
        "import ctypes, os, resource, socket, subprocess, sys, threading, time\n"
        "def f(n): return f(n - 1) if n else 0\n"
        "def compose(req, rsp):\n    spec = req.observed.composite.resource['spec']\n"
        f"    {before}\n    value = {value}\n"
        "    rsp.desired.resources['a'].resource.update("
        "{'apiVersion': 'v1', 'kind': 'Thing', 'metadata': {'name': 'a'}, 'spec': {'value': value}})\n"
    )
    return "function-python", {"apiVersion": "python.fn.crossplane.io/v1beta1", "kind": "Script", "script": text}


TEMPLATES = [
    ("loop", "{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}x", "{{ range until 9 }}{{ end }}x"),
    ("number", "{{ range 999999999 }}{{ end }}x", "{{ range 9 }}{{ end }}x"),
    (
        "recursion",
        "{{ define `t` }}{{ template `t` }}{{ end }}{{ template `t` }}x",
        "{{ define `t` }}{{ end }}{{ template `t` }}x",
    ),
    (
        "inclusion",
        "{{ define `i` }}{{ include `i` . }}{{ include `i` . }}{{ end }}{{ include `i` . }}x",
        "{{ define `i` }}{{ end }}{{ include `i` . }}x",
    ),
    (
        "output",
        "{{ range until 2000 }}{{ repeat 1000 `x` }}{{ end }}",
        "{{ range until 20 }}{{ repeat 10 `x` }}{{ end }}",
    ),
    ("text", "{{ repeat 999999999 `x` }}", "{{ repeat 9 `x` }}"),
    (
        "doubling",
        "{{ $x := `xx` }}{{ range until 60 }}{{ $x = print $x $x }}{{ end }}{{ len $x }}",
        "{{ print `x` `x` }}",
    ),
    ("width", "{{ printf `%999999999d` 1 | len }}", "{{ printf `%9d` 1 | len }}"),
    ("indent", "{{ indent 999999999 `x` | len }}", "{{ indent 9 `x` | len }}"),
    ("numbers", "{{ untilStep 0 999999999 1 | len }}", "{{ untilStep 0 9 1 | len }}"),
    ("sequence", "{{ seq 1 999999999 | len }}", "{{ seq 1 9 | len }}"),
    ("random", "{{ randAlphaNum 999999999 | len }}", "{{ randAlphaNum 9 | len }}"),
    ("aliases", "{{ fromYaml `a: &a [x]\nb: [*a, *a]` | len }}", "{{ fromYaml `a: [x]\nb: [x]` | len }}"),
    (
        "itself",
        "{{ $d := dict }}{{ $_ := set $d `d` $d }}{{ toJson $d }}",
        "{{ $d := dict }}{{ $_ := set $d `d` `d` }}{{ toJson $d }}",
    ),
    ("pattern", "{{ regexMatch (repeat 2000 `(a+)+`) `aaa` }}", "{{ regexMatch (repeat 20 `(a+)+`) `aaa` }}"),
    ("environment", "{{ env `HOME` }}", "{{ print `HOME` }}"),
    ("expansion", "{{ expandenv `$HOME` }}", "{{ print `$HOME` }}"),
    ("network", "{{ getHostByName `localhost` }}", "{{ print `localhost` }}"),
    ("clock", "{{ now }}", "{{ print `now` }}"),
    ("file", "{{ readFile `/etc/passwd` }}", "{{ base `/etc/passwd` }}"),
    ("code", "{{ tpl `{{ . }}` . }}", "{{ print `{{ . }}` | quote }}"),
    ("finite", "{{ addf `inf` 1 }}", "{{ addf `2` 1 }}"),
]
PROGRAMS = [
    ("loop", "len([i + j for i in range(99999) for j in range(99999)])", "len([i for i in range(9)])"),
    ("recursion", "_f(60)", "_f(3)"),
    ("output", '"a" * 30000000', '"a" * 30'),
    ("memory", "len([[0] * 9999999 for i in range(9999)])", "len([[0] * 9 for i in range(9)])"),
    ("whole", "9223372036854775807 + 1", "9223372036854775806 + 1"),
    ("depth", 'json.decode("[" * 120 + "]" * 120)', 'json.decode("[" * 12 + "]" * 12)'),
    ("file", 'file.read("/etc/passwd")', '"/etc/passwd"'),
    ("folder", 'file.glob("/etc/*")', '"/etc/*"'),
    ("write", 'file.write("/tmp/claimsmith-hostile", "x")', '"/tmp/claimsmith-hostile"'),
    ("plugin", "kcl_plugin.hello.add(1, 1)", "1 + 1"),
]
IMPORTS = {"file": "import file\n", "folder": "import file\n", "write": "import file\n", "depth": "import json\n"}
EXPRESSIONS = [
    (
        "loop",
        "lists.range(1000).map(a, lists.range(1000).map(b, lists.range(1000).map(c, 1))).size()",
        "lists.range(9).map(a, a).size()",
    ),
    ("nesting", "(" * 400 + "1" + ")" * 400, "(" * 4 + "1" + ")" * 4),
    ("length", "'" + "a" * 10_000 + "'", "'aaa'"),
    ("random", "random.seededString(999999999, 'a').size()", "random.seededString(9, 'a').size()"),
    ("finite", "double('inf')", "double('1')"),
    ("depth", f"json.unmarshal('{'[' * 150}{']' * 150}')", f"json.unmarshal('{'[' * 15}{']' * 15}')"),
    ("pattern", "'a'.find('" + "(a+)+" * 300 + "')", "'a'.find('(a+)+')"),
    ("type", "type(1)", "string(type(1) == int)"),
    ("environment", "env('HOME')", "'HOME'"),
]
CODE = [
    ("loop", ("[None for _ in iter(int, 1)]",), ("[None for _ in range(9)]",)),
    ("hang", ("1", "time.sleep(999)"), ("1", "time.sleep(0)")),
    ("recursion", ("f(-1)",), ("f(9)",)),
    ("output", ("'x' * (20 << 20)",), ("'x' * 20",)),
    ("memory", ("len('x' * (9 << 30))",), ("len('x' * 9)",)),
    ("finite", ("float('nan')",), ("float('1')",)),
    ("depth", ("__import__('functools').reduce(lambda v, _: [v], range(150), [])",), ("[[[[]]]]",)),
    ("file", ("open('/etc/passwd').read()",), ("'/etc/passwd'",)),
    ("write", ("open('/tmp/claimsmith-hostile', 'w').write('x')",), ("'/tmp/claimsmith-hostile'",)),
    ("tcp", ("str(socket.create_connection(('127.0.0.1', 9)))",), ("'127.0.0.1'",)),
    ("udp", ("socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",), ("len(b'x')",)),
    ("socket", ("str(socket.socket(socket.AF_UNIX))",), ("len(socket.socketpair())",)),
    ("fork", ("os.fork()",), ("os.getpid() > 0",)),
    ("program", ("subprocess.call([sys.executable, '-c', ''])",), ("len([sys.executable])",)),
    ("replace", ("os.execv(sys.executable, ['python'])",), ("len([sys.executable])",)),
    ("threads", ("[threading.Thread(target=time.sleep, args=(99,)).start() for _ in range(9999)]",), ("1",)),
    ("signal", ("os.kill(os.getppid(), 9)",), ("os.kill(os.getpid(), 0)",)),
    ("limits", ("resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",), ("resource.getrlimit(resource.RLIMIT_AS)[0]",)),
    ("exit", ("os._exit(0)",), ("1",)),
    ("system exit", ("sys.exit(0)",), ("1",)),
    ("crash", ("ctypes.string_at(0)",), ("1",)),
    ("name", ("1", "rsp.desired.resources['\\x1b[31m'].ready = 1"), ("1", "rsp.desired.resources['a'].ready = 1")),
]
ENGINES = [
    *(("go-templating", name, template(hostile), template(twin)) for name, hostile, twin in TEMPLATES),
    *(("kcl", n, kcl(h, IMPORTS.get(n, "")), kcl(t, IMPORTS.get(n, ""))) for n, h, t in PROGRAMS),
    *(("kro", name, kro(hostile), kro(twin)) for name, hostile, twin in EXPRESSIONS),
    *(("python", name, script(*hostile), script(*twin)) for name, hostile, twin in CODE),
]
both = pytest.mark.parametrize(
    ("hostile", "twin"), [pytest.param(h, t, id=f"{engine}-{name}") for engine, name, h, t in ENGINES]
)


@both
def test_hostile_steps(hostile: tuple[str, dict[str, Any]], twin: tuple[str, dict[str, Any]]) -> None:
    others = {pid for pid in children() if children(pid)}  # programs that other tests left running
    refusal(*hostile)
    # An engine that answered waits for the next call; all others are gone, and none has processes of its own.
    assert all(rests(pid) and not children(pid) for pid in children() if pid not in others)
    assert [document["kind"] for document in rendered(*twin).composed] == ["Thing"]
    assert not Path("/tmp/claimsmith-hostile").exists()


CLAIMS = [
    ("until", template("{{ until (int $spec.count) | len }}"), {"count": 99_999_999}),
    ("range", template("{{ range until (int $spec.count) }}x{{ end }}"), {"count": 2_000_000}),
    ("range over a number", template("{{ range int $spec.count }}{{ end }}x"), {"count": 999_999_999}),
    ("repeat", template("{{ repeat (int $spec.count) `x` }}"), {"count": 99_999_999}),
    ("width", template("{{ printf (printf `%%%sd` $spec.width) 1 | len }}"), {"width": "99999999"}),
    ("nindent", template("{{ nindent (int $spec.count) `x` | len }}"), {"count": 99_999_999}),
    ("pattern", template("{{ regexMatch $spec.pattern `a` }}"), {"pattern": "(a+)+" * 300}),
    ("repetition", template("{{ mustRegexMatch $spec.pattern `a` }}"), {"pattern": "((a{1000}){1000}){1000}"}),
    ("yaml", template("{{ fromYaml $spec.text | len }}"), {"text": "a: &a [x]\nb: [*a, *a]"}),
    ("kcl count", kcl("len([i + j for i in range(spec.count) for j in range(spec.count)])"), {"count": 999_999}),
    ("kcl text", kcl('"a" * spec.count'), {"count": 30_000_000}),
    ("kro count", kro("lists.range(schema.spec.count).map(a, a).size()"), {"count": 99_999_999}),
    ("kro random", kro("random.seededString(schema.spec.count, 'a')"), {"count": 99_999_999}),
    ("kro text", kro("schema.spec.a.replace('a', schema.spec.a)"), {"a": "a" * 200_000}),
    ("kro json", kro("json.unmarshal(schema.spec.text)"), {"text": "[" * 150 + "]" * 150}),
    ("kro pattern", kro("'a'.find(schema.spec.pattern)"), {"pattern": "(a+)+" * 300}),
    ("python count", script("'x' * int(spec['count'])"), {"count": 99_999_999}),
]
SMALL = {"count": 3, "width": "3", "pattern": "(a+)+$", "text": "[]", "a": "a"}


@pytest.mark.parametrize(
    ("step", "spec"), [pytest.param(step, spec, id=name.replace(" ", "-")) for name, step, spec in CLAIMS]
)
def test_hostile_claims(step: tuple[str, dict[str, Any]], spec: dict[str, Any]) -> None:
    refusal(*step, spec)
    assert all(rests(pid) for pid in children())
    assert [document["kind"] for document in rendered(*step, SMALL).composed] == ["Thing"]


SLOW_PATTERN = {"pattern": "(a+)+$", "text": "a" * 30_000 + "b"}


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(template("{{ regexMatch $spec.pattern $spec.text }}"), id="go-templating"),
        pytest.param(kro("schema.spec.text.matches(schema.spec.pattern)"), id="kro-matches"),
        pytest.param(kro("schema.spec.text.find(schema.spec.pattern)"), id="kro-find"),
        pytest.param(kcl("regex.match(spec.text, spec.pattern)", "import regex\n"), id="kcl"),
    ],
)
def test_no_pattern_takes_longer_than_its_text(step: tuple[str, dict[str, Any]]) -> None:
    """Backtracking would take longer than the world is old."""
    assert [document["kind"] for document in rendered(*step, SLOW_PATTERN).composed] == ["Thing"]


EVIL = {
    "document": "x\n---\napiVersion: v1\nkind: Evil\nmetadata: {name: evil}\n",
    "field": "x\n  evil: true",
    "outer-field": "x\nevil: true",
    "anchor": "&a x",
    "alias": "*a",
    "tag": "!!binary eA==",
    "comment": "x # evil",
    "mapping": "x: evil",
    "quote": '"x" evil',
    "quotes": """x" evil: 'x' """,
    "more-in-flow": "x, evil: true",
    "block": "|\n  x\nevil: true",
    "template": "{{ fail `evil` }}",
    "kcl": '"}]\nitems = [{apiVersion = "v1", kind = "Evil"}] #',
    "interpolation": "${1 + 1}",
    "cel": "' + schema.metadata.uid + '",
    "python": "'''\nimport os; os._exit(9)\n'''",
    "half": "x\n---\nkind: Evil\n\ud800",
}
OWN = ".observed.composite.resource.spec.text"
PRINTING = [
    ("bare", template("{{ $spec.text }}")),
    ("part", template("a-{{ $spec.text }}-b")),
    ("double quotes", template('"{{ $spec.text }}"')),
    ("single quotes", template("'{{ $spec.text }}'")),
    ("flow", template("{a: {{ $spec.text }}}")),
    ("printf", template("{{ printf `%s-%s` $spec.text `x` }}")),
    ("variable", template("{{ $t := print $spec.text }}{{ $t }}")),
    ("default", template("{{ default `x` $spec.text }}")),
    ("lower", template("{{ lower $spec.text }}")),
    ("split", template("{{ index (splitList `,` $spec.text) 0 }}")),
    ("join", template("[{{ join `, ` (list $spec.text `x`) }}]")),
    ("indented", template("|\n{{ indent 4 $spec.text }}")),
    ("not indented", template("|\n    {{ $spec.text }}")),
    ("quote", template("{{ $spec.text | quote }}")),
    ("squote", template("{{ $spec.text | squote }}")),
    ("toJson", template("{{ $spec.text | toJson }}")),
    ("toJson in quotes", template("'{{ dict `a` $spec.text | toJson }}'")),
    ("toYaml", template("{{ $spec.text | toYaml }}")),
    ("toYaml of an object", template("{{ dict `a` $spec.text | toYaml | nindent 4 }}")),
    ("include", template(f"{{{{ include `t` . | trim }}}}{{{{ define `t` }}}}{{{{ {OWN} }}}}{{{{ end }}}}")),
    ("fields", template(f"{{{{ include `t` . | nindent 4 }}}}{{{{ define `t` }}}}a: {{{{ {OWN} }}}}{{{{ end }}}}")),
    ("fromYaml", template("{{ printf `a: %s` $spec.text | fromYaml | toJson }}")),
    ("replace", template("{{ replace `x` `z` $spec.text }}")),
    ("regex", template("{{ regexReplaceAll `x` $spec.text `z` }}")),
    ("second field", template("x\n  name: {{ $spec.text }}")),
    ("kcl", kcl("spec.text")),
    ("kcl interpolation", kcl('"a-${spec.text}"')),
    ("kro", kro("schema.spec.text")),
    ("kro text", kro("'a-' + schema.spec.text")),
    ("python", script("spec['text']")),
]


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in EVIL.items()])
@pytest.mark.parametrize("step", [pytest.param(step, id=name.replace(" ", "-")) for name, step in PRINTING])
def test_a_claim_adds_nothing_but_values(step: tuple[str, dict[str, Any]], text: str) -> None:
    """The step renders one resource with a text in its place, or is refused: never anything else."""
    harmless = rendered(*step, {"text": "x"}).composed
    with suppress(EngineError):
        made = rendered(*step, {"text": text}).composed
        assert [shape(document) for document in made] == [shape(document) for document in harmless]


def shape(value: Any) -> Any:
    """A document without its texts."""
    match value:
        case dict():
            return {key: shape(item) for key, item in value.items()}
        case list():
            return [shape(item) for item in value]
        case _:
            return type(value)
