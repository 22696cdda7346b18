"""Opaque templates: what both engines promise, and the jinja2 engine. The go-sprig engine is in test_gotemplate."""

from __future__ import annotations

import ast
import copy
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import claimsmith
from claimsmith import templating
from claimsmith.base.errors import ComposeError
from claimsmith.templating import ENGINES, TemplateError, jinja_functions, limits

CLAIM = {
    "apiVersion": "database.example.org/v1alpha1",
    "kind": "MySQLInstance",
    "metadata": {"name": "sql", "uid": "u-1", "labels": {"a/b": "c"}},
    "spec": {
        "version": "5.7",
        "n": 3,
        "f": 2.5,
        "t": True,
        "nul": None,
        "e": "",
        "list": ["b", "a", "c"],
        "map": {"z": 1, "items": "own"},
        "people": [{"name": "x", "age": 2}, {"name": "y", "age": 1}],
    },
}

SEED = """\
apiVersion: database.azure.crossplane.io/v1beta1
kind: MySQLServer
spec:
  forProvider:
    administratorLogin: myadmin
    resourceGroupNameSelector:
      matchComposite: true
    location: West US
    sslEnforcement: Disabled
    version: "{{ spec.version }}"
    sku:
      tier: Basic
      capacity: 1
      family: Gen5
    storageProfile:
      storageMB: 20480
  writeConnectionSecretToRef:
    namespace: crossplane-system
    name: {{ .metadata.uid }}
  providerRef:
    name: example
  reclaimPolicy: Delete
"""


def render(template: str, data: object = None) -> str:
    return templating.render("jinja2", template, CLAIM if data is None else data)  # type: ignore[arg-type]


def outcome(template, data):
    """The text or the problems."""
    try:
        return render(template, data), ()
    except TemplateError as error:
        return "", error.problems


# Both engines


def test_example_of_the_design():
    document = templating.render_document("go-sprig", SEED, CLAIM)
    assert document["kind"] == "MySQLServer"
    assert document["spec"]["forProvider"]["version"] == "5.7"
    assert document["spec"]["writeConnectionSecretToRef"] == {"namespace": "crossplane-system", "name": "u-1"}


def test_example_of_the_design_has_one_warning():
    [finding] = templating.check("go-sprig", SEED)
    assert finding.severity == "warning"
    assert finding.where is not None
    assert finding.where.line == 10
    assert ".spec.version" in finding.fix


def test_example_of_the_design_reads_two_fields():
    assert templating.fields_read("go-sprig", SEED) == ["spec.version", "metadata.uid"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        pytest.param("", 1, "one resource, not none", id="nothing"),
        pytest.param("# a comment\n---\n", 1, "one resource, not none", id="empty-documents"),
        pytest.param("apiVersion: v1\nkind: A\n---\napiVersion: v1\nkind: B\n", 4, "one resource, not 2", id="two"),
        pytest.param("apiVersion: v1\nspec: {}\n", 1, "no kind", id="no-kind"),
        pytest.param("kind: A\n", 1, "no apiVersion", id="no-apiVersion"),
        pytest.param("apiVersion: v1\nkind: 5\n", 2, "kind must be text", id="kind-is-a-number"),
        pytest.param("- apiVersion: v1\n", 1, "must be a mapping", id="list"),
        pytest.param("just text", 1, "must be a mapping", id="text"),
        pytest.param("apiVersion: v1\nkind: [\n", 3, "not valid YAML", id="not-yaml"),
        pytest.param("apiVersion: v1\nkind: A\nkind: B\n", 3, "occurs twice", id="key-twice"),
    ],
)
def test_output_that_is_no_resource(engine, text, line, what):
    with pytest.raises(TemplateError, match=what) as caught:
        templating.render_document(engine, text, CLAIM, file="class.yaml")
    [problem] = caught.value.problems
    assert problem.where is not None
    assert (problem.where.file, problem.where.line) == ("class.yaml (output)", line)
    assert problem.fix


@pytest.mark.parametrize("engine", ENGINES)
def test_several_documents(engine):
    text = "apiVersion: v1\nkind: A\n---\n---\napiVersion: v1\nkind: B\n"
    assert [d["kind"] for d in templating.render_documents(engine, text, CLAIM)] == ["A", "B"]
    assert templating.render_documents(engine, "", CLAIM) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_plain_text_is_itself(engine):
    assert templating.render(engine, "a: é\nb: $x % #", {}) == "a: é\nb: $x % #"


@pytest.mark.parametrize("engine", ["go-spring", "mustache", ""])
def test_unknown_engine(engine):
    with pytest.raises(TemplateError, match="no template engine") as caught:
        templating.render(engine, "", {})
    assert "go-sprig" in caught.value.problems[0].fix
    assert [finding.severity for finding in templating.check(engine, "")] == ["error"]


def test_is_an_error_of_composing():
    assert issubclass(TemplateError, ComposeError)


def test_core_is_pure():
    folder = Path(claimsmith.__file__).parent / "templating"
    outside = {
        "os",
        "io",
        "time",
        "datetime",
        "random",
        "secrets",
        "socket",
        "subprocess",
        "pulumi",
        "typer",
        "pathlib",
    }
    trees = [ast.parse(path.read_text()) for path in folder.rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    imported = {alias.name.split(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module).split(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}
    assert imported & outside == set()
    assert "open" not in {
        node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def test_subset_table_is_one_table():
    lines = templating.subset_table().splitlines()
    assert {line.count(" | ") for line in lines} == {2}
    assert any("`nindent`" in line for line in lines)
    assert any("`tojson`" in line for line in lines)


# What jinja2 templates give


@pytest.mark.parametrize(
    ("template", "want"),
    [
        pytest.param("{{ spec.version }}-{{ metadata.uid }}", "5.7-u-1", id="fields"),
        pytest.param("{{ metadata.labels['a/b'] }}", "c", id="subscript"),
        pytest.param("{{ spec.list[0] }}{{ spec.list[-1] }}", "bc", id="index"),
        pytest.param("{{ spec.list[:2]|join }}{{ spec.version[0:1] }}", "ba5", id="slice"),
        pytest.param("{{ spec.map.items }}", "own", id="fields-come-before-methods"),
        pytest.param("{{ spec.map['items'] }}", "own", id="subscript-of-a-field-named-like-a-method"),
        pytest.param("{{ metadata.get('name') }}{{ metadata.get('x', 'y') }}", "sqly", id="get"),
        pytest.param(
            "{{ 1 + 2 * 3 - 4 }} {{ 7 // 2 }} {{ 7 / 2 }} {{ 7 % 4 }} {{ 2 ** 10 }}", "3 3 3.5 3 1024", id="numbers"
        ),
        pytest.param("{{ 'a' + 'b' }}{{ 'ab' * 2 }}{{ 'v' ~ 1 ~ true }}", "ababab" + "v1True", id="text-operators"),
        pytest.param("{{ ([1] + [2])|tojson }}{{ ([1] * 2)|tojson }}", "[1,2][1,1]", id="list-operators"),
        pytest.param("{{ 'a' in spec.list }}{{ 'q' not in spec.list }}", "TrueTrue", id="in"),
        pytest.param("{{ 1 < 2 <= 2 }}{{ spec.n == 3 and not spec.t }}", "TrueFalse", id="comparisons"),
        pytest.param("{{ 'big' if spec.n > 2 else 'small' }}", "big", id="if-expression"),
        pytest.param("{% if spec.n > 5 %}a{% elif spec.t %}b{% else %}c{% endif %}", "b", id="if"),
        pytest.param("{% for x in spec.list %}{{ x }}{% endfor %}", "bac", id="for"),
        pytest.param("{% for x in [] %}x{% else %}none{% endfor %}", "none", id="for-else"),
        pytest.param("{% for x in spec.list if x != 'a' %}{{ loop.index }}{{ x }}{% endfor %}", "1b2c", id="for-if"),
        pytest.param("{% for k in metadata.labels %}{{ k }}{% endfor %}", "a/b", id="for-over-keys"),
        pytest.param(
            "{% for k, v in metadata.labels.items() %}{{ k }}={{ v }}{% endfor %}", "a/b=c", id="for-over-items"
        ),
        pytest.param("{% for x in spec.list %}{{ x }}{{ ',' if not loop.last }}{% endfor %}", "b,a,c", id="loop-last"),
        pytest.param("{% for x in spec.list %}{{ loop.cycle('o', 'e') }}{% endfor %}", "oeo", id="loop-cycle"),
        pytest.param(
            "{% for i in range(3) %}{% for j in range(i) %}{{ j }}{% endfor %}{% endfor %}", "001", id="nested"
        ),
        pytest.param("{% set x = spec.n %}{% set a, b = 1, 2 %}{{ x + a + b }}", "6", id="set"),
        pytest.param("{% with x = 1 %}{{ x }}{% endwith %}", "1", id="with"),
        pytest.param("{% raw %}{{ x }}{% endraw %}{# c #}", "{{ x }}", id="raw-and-comment"),
        pytest.param("a\n  {%- if 1 %} b{% endif -%}\n c", "a bc", id="trimmed"),
        pytest.param("{{ spec.nope|default('d') }}{{ nope|default('e') }}", "de", id="default"),
        pytest.param("{{ spec.e|default('d', true) }}", "d", id="default-for-empty"),
        pytest.param(
            "{{ spec.nope is defined }}{{ spec.nul is none }}{{ spec.n is odd }}", "FalseTrueTrue", id="tests"
        ),
        pytest.param(
            "{{ spec.version.split('.')[0] }}{{ 'x'.upper() }}{{ '-'.join(spec.list) }}", "5Xb-a-c", id="methods"
        ),
        pytest.param("{{ spec.version|replace('.', '-') }}{{ 'a'|upper }}{{ ' b '|trim }}", "5-7Ab", id="text-filters"),
        pytest.param("{{ spec.list|sort|join(',') }} {{ spec.list|reverse|first }}", "a,b,c c", id="list-filters"),
        pytest.param("{{ spec.list|map('upper')|join }}", "BAC", id="map-filter"),
        pytest.param("{{ spec.people|map(attribute='name')|join }}", "xy", id="map-attribute"),
        pytest.param("{{ spec.people|selectattr('age', 'gt', 1)|map(attribute='name')|first }}", "x", id="selectattr"),
        pytest.param("{{ (spec.people|sort(attribute='age')|first).name }}", "y", id="sort-attribute"),
        pytest.param("{{ spec.people|sum(attribute='age') }}", "3", id="sum"),
        pytest.param("{{ spec.map|dictsort|tojson }}", '[["items","own"],["z",1]]', id="dictsort"),
        pytest.param(
            "{{ spec.map|tojson }}{{ spec.nul|tojson }}{{ '<a>'|tojson }}",
            '{"items":"own","z":1}null"\\u003ca\\u003e"',
            id="tojson",
        ),
        pytest.param("{{ '%s-%03d'|format('a', 5) }}", "a-005", id="format"),
        pytest.param("{{ 'a\nb'|indent(2) }}", "a\n  b", id="indent"),
        pytest.param("{{ range(3)|list|tojson }}{{ range(1, 6, 2)|join }}", "[0,1,2]135", id="range"),
        pytest.param("{{ {'a': [1, {'b': (2, 3)}]}['a'][1].b|last }}", "3", id="literals"),
        pytest.param(
            "{{ spec.f }} {{ 3.0 }} {{ 1e3 }} {{ spec.t }}", "2.5 3.0 1000.0 True", id="printed-as-python-prints"
        ),
        pytest.param("a\n", "a", id="last-line-end-goes"),
    ],
)
def test_jinja_renders(template, want):
    assert render(template) == want


@pytest.mark.parametrize(
    ("template", "what", "fix"),
    [
        pytest.param("{{ spec.vresion }}", "'vresion' is not defined in an object", "'version'", id="misspelt-field"),
        pytest.param("{{ spce.version }}", "'spce' is not defined", "'spec'", id="misspelt-name"),
        pytest.param("{{ spec.a.b }}", "'a' is not defined", "one of", id="field-of-nothing"),
        pytest.param("{{ spec['a'] }}", "'a' is not defined", "one of", id="subscript-of-nothing"),
        pytest.param("{{ spec.list[7] }}", "'7' is not defined in a list", "default", id="index-of-nothing"),
        pytest.param("{{ spec.a + 1 }}", "'a' is not defined", "one of", id="nothing-plus-one"),
        pytest.param("{{ [spec.a]|tojson }}", "'a' is not defined", "one of", id="nothing-in-a-list"),
        pytest.param("{% for x in spec.a %}{% endfor %}", "'a' is not defined", "one of", id="loop-over-nothing"),
        pytest.param("{% if spec.a %}{% endif %}", "'a' is not defined", "one of", id="condition"),
        pytest.param("{{ spec.a|upper }}", "'a' is not defined", "one of", id="filter-of-nothing"),
        pytest.param("{{ spec.a() }}", "'a' is not defined", "one of", id="call-of-nothing"),
        pytest.param("{{ spec.nul }}", "null cannot be printed", "default", id="null-printed"),
        pytest.param("{{ 'a' ~ spec.nul }}", "null cannot be printed", "default", id="null-joined"),
        pytest.param("{{ spec.list }}", "a list cannot be printed", "tojson", id="list-printed"),
        pytest.param("{{ spec.map }}", "an object cannot be printed", "tojson", id="object-printed"),
        pytest.param("{{ 1 + 'a' }}", "the template failed: unsupported operand", "kind", id="wrong-kinds"),
        pytest.param("{{ 1 / 0 }}", "division by zero", "kind", id="division-by-zero"),
        pytest.param("{{ spec.n() }}", "a number cannot be called", "filter", id="call-of-a-number"),
        pytest.param("{% for x in 5 %}{% endfor %}", "cannot loop over a number", "range", id="loop-over-a-number"),
        pytest.param("{{ 5[1:2] }}", "a number cannot be sliced", "list", id="slice-of-a-number"),
        pytest.param("{% for x in y", "unexpected end of template", "fix", id="syntax"),
        pytest.param("{% nope %}", "unknown tag 'nope'", "fix", id="unknown-tag"),
    ],
)
def test_jinja_refuses_mistakes(template, what, fix):
    with pytest.raises(TemplateError) as caught:
        templating.render("jinja2", "\n\n" + template, CLAIM, file="class.yaml")
    [problem] = caught.value.problems
    assert what in problem.what
    assert fix in problem.fix
    assert problem.where is not None
    assert (problem.where.file, problem.where.line) == ("class.yaml", 3)


@pytest.mark.parametrize(
    "template",
    [
        pytest.param("{{ ''.__class__.__mro__ }}", id="class"),
        pytest.param("{{ ''['__class__'] }}", id="class-by-subscript"),
        pytest.param("{{ ''|attr('__class__') }}", id="class-by-filter"),
        pytest.param("{{ [spec]|map(attribute='__class__')|list }}", id="class-by-map"),
        pytest.param("{{ [spec]|map('attr', '__class__')|list }}", id="class-by-map-of-a-filter"),
        pytest.param("{{ [spec]|selectattr('__class__')|list|tojson }}", id="class-by-selectattr"),
        pytest.param("{{ [spec, spec]|sort(attribute='__class__')|tojson }}", id="class-by-sort"),
        pytest.param("{{ '{0.__class__}'.format(1) }}", id="class-by-format"),
        pytest.param("{{ '%(a.__class__)s'|format(a=1) }}", id="class-by-format-filter"),
        pytest.param("{{ spec.get.__globals__ }}", id="globals-of-a-method"),
        pytest.param("{{ range.function }}", id="function-of-range"),
        pytest.param("{{ spec.get['function'] }}", id="function-of-a-method"),
        pytest.param("{% for x in [1] %}{{ loop._iterator }}{% endfor %}", id="inside-of-loop"),
        pytest.param("{% for x in [1] %}{{ loop['_iterator'] }}{% endfor %}", id="inside-of-loop-by-subscript"),
        pytest.param("{{ self }}", id="self"),
        pytest.param("{{ lipsum() }}", id="lipsum"),
        pytest.param("{{ cycler('a') }}", id="cycler"),
        pytest.param("{{ joiner() }}", id="joiner"),
        pytest.param("{{ namespace() }}", id="namespace"),
        pytest.param("{{ dict(a=1) }}", id="dict"),
        pytest.param("{{ open('/etc/passwd') }}", id="file"),
        pytest.param("{{ environ }}", id="environment"),
        pytest.param("{{ now() }}", id="clock"),
        pytest.param("{{ spec.list|random }}", id="randomness"),
        pytest.param("{% include 'x' %}", id="include"),
        pytest.param("{% import 'x' as y %}", id="import"),
        pytest.param("{% from 'x' import y %}", id="from-import"),
        pytest.param("{% extends 'x' %}", id="extends"),
        pytest.param("{% block a %}{% endblock %}", id="block"),
        pytest.param("{% macro a() %}{% endmacro %}", id="macro"),
        pytest.param("{% set x %}a{% endset %}", id="set-block"),
        pytest.param("{% filter upper %}a{% endfilter %}", id="filter-block"),
        pytest.param("{% call x() %}{% endcall %}", id="call-block"),
        pytest.param("{% for x in [] recursive %}{% endfor %}", id="recursive-loop"),
        pytest.param("{{ spec.list.append(1) }}", id="append"),
        pytest.param("{{ spec.map.update({}) }}", id="update"),
        pytest.param("{{ range(*spec.list) }}", id="star-arguments"),
        pytest.param("{{ 'a'|escape }}", id="escape"),
        pytest.param("{{ 'a'|safe }}", id="safe"),
        pytest.param("{{ '%s' % 'a' }}", id="percent"),
        pytest.param("{{ ['a']|map('!loop', -1000000000)|list|tojson }}", id="hidden-filter-by-map"),
        pytest.param("{{ ['a']|select('!loop')|list|tojson }}", id="hidden-filter-by-select"),
    ],
)
def test_jinja_refuses_ways_out(template):
    with pytest.raises(TemplateError) as caught:
        render(template)
    assert all(problem.fix and problem.where for problem in caught.value.problems)


LARGE = {"spec": {"list": [*range(20_000)], "text": "ab " * 100_000}}


@pytest.mark.parametrize(
    "template",
    [
        pytest.param("{% for i in range(10**9) %}{% endfor %}", id="range"),
        pytest.param("{% for i in spec.list %}{% for j in spec.list %}{% endfor %}{% endfor %}", id="nested-loops"),
        pytest.param("{% for i in spec.list %}{{ i in spec.list }}{% endfor %}", id="search-in-a-loop"),
        pytest.param(
            "{% for i in spec.list %}{{ spec.text == spec.text ~ 'x' }}{% endfor %}", id="comparison-in-a-loop"
        ),
        pytest.param("{% for i in spec.list %}{{ spec.text[1:]|length }}{% endfor %}", id="slice-in-a-loop"),
        pytest.param("{% for i in spec.list %}" + "x" * 1000 + "{% endfor %}", id="output"),
        pytest.param("{{ 'x' * 10**9 }}", id="text-repeated"),
        pytest.param("{{ [[1] * 1000] * 1000 }}", id="list-repeated"),
        pytest.param("{{ 9 ** 999999999 }}", id="power"),
        pytest.param("{{ 10**18 * 10**18 }}", id="beyond-64-bits"),
        pytest.param("{{ 'x'|center(10**9) }}", id="center"),
        pytest.param("{{ ['x']|map('center', 10**9)|list }}", id="center-by-map"),
        pytest.param("{{ 'x'|indent(10**9) }}", id="indent"),
        pytest.param("{{ '%999999999d'|format(1) }}", id="format-width"),
        pytest.param("{{ '%*d'|format(999999999, 1) }}", id="format-star"),
        pytest.param("{{ spec.list|join(spec.text) }}", id="join"),
        pytest.param("{{ spec.text.join(spec.text) }}", id="join-method"),
        pytest.param("{{ spec.text|replace('', spec.text) }}", id="replace"),
        pytest.param("{{ spec.list|slice(10**9) }}", id="slice"),
        pytest.param("{{ spec.list|batch(10**9, 1) }}", id="batch"),
        pytest.param("{{ 2|round(10**9) }}", id="round"),
        pytest.param("{% set a = 'x' %}" + "{% set a = a ~ a %}" * 60, id="text-doubled"),
        pytest.param("{% set a = [1] %}" + "{% set a = [a, a] %}" * 60, id="list-doubled"),
        pytest.param("{{ " + "(" * 500 + "1" + ")" * 500 + " }}", id="parentheses"),
        pytest.param("{{ " + "1 + " * 2000 + "1 }}", id="long-sum"),
        pytest.param("{{ a" + ".a" * 2000 + " }}", id="long-chain"),
        pytest.param("{% if 1 %}" * 90 + "{% endif %}" * 90, id="blocks"),
        pytest.param("{% for i in [1] %}" * 30 + "{% endfor %}" * 30, id="loops-beyond-python's-limit"),
        pytest.param("{{ " + "9" * 5000 + " }}", id="long-number"),
        pytest.param("x" * (limits.MAX_TEMPLATE + 1), id="template"),
    ],
)
def test_jinja_refuses_too_much(template):
    with pytest.raises(TemplateError) as caught:
        render(template, LARGE)
    assert all(problem.fix for problem in caught.value.problems)


def test_jinja_leaves_the_data_as_it_is():
    data = copy.deepcopy(CLAIM)
    render("{{ spec.list|sort|join }}{% set spec = 1 %}", data)
    assert data == CLAIM


@pytest.mark.parametrize(
    ("template", "want"),
    [
        pytest.param(
            "{{ spec.version }}{{ metadata.uid }}{{ spec.version }}", ["spec.version", "metadata.uid"], id="once"
        ),
        pytest.param("{% for x in spec.list %}{{ x.name }}{% endfor %}{{ spec.b }}", ["spec.list", "spec.b"], id="for"),
        pytest.param("{% set v = spec.a %}{{ v }}", ["spec.a"], id="set"),
        pytest.param("{{ metadata.labels['a.b'] }}", ["metadata.labels[a.b]"], id="subscript"),
        pytest.param("{{ spec.get('x') }}{{ spec.y.upper() }}", ["spec.x", "spec.y"], id="methods"),
        pytest.param("{{ spec.people[0].name }}", ["spec.people"], id="index"),
        pytest.param(
            "{{ spec.a|default(spec.b) }}{% if spec.c %}{% endif %}", ["spec.a", "spec.b", "spec.c"], id="everywhere"
        ),
        pytest.param("{{ range(3)|join }}plain", [], id="none"),
    ],
)
def test_jinja_fields_read(template, want):
    assert templating.fields_read("jinja2", template) == want


@pytest.mark.parametrize(
    ("template", "lines"),
    [
        pytest.param("{{ spec.a|upper }}", [], id="good"),
        pytest.param("{{ a }}\n{% include 'x' %}\n{{ a|nope }}{{ a.__b__ }}", [2, 3, 3], id="all-at-once"),
        pytest.param("\n{{ a", [2], id="syntax"),
        pytest.param("{{ a is nope }}", [1], id="unknown-test"),
    ],
)
def test_jinja_check(template, lines):
    found = templating.check("jinja2", template)
    assert [finding.where.line if finding.where else 0 for finding in found] == lines
    assert all(finding.fix and finding.severity == "error" for finding in found)


WORDS = st.sampled_from(
    [
        *[f"|{name}" for name in jinja_functions.FILTERS],
        *[f" is {name}" for name in jinja_functions.TESTS],
        *[f".{name}(" for methods in jinja_functions.METHODS.values() for name in methods],
        *[
            "spec",
            "spec.list",
            "spec.n",
            "nope",
            "loop",
            "range",
            "1",
            "-2.5",
            "'a'",
            "[1, 'b']",
            "{'a': 1}",
            "none",
            "true",
        ],
        *[
            "(",
            ")",
            "[",
            "]",
            ",",
            "+",
            "*",
            "**",
            "%",
            "~",
            "==",
            " in ",
            " and ",
            " if ",
            " else ",
            ":",
            ".",
            "__class__",
        ],
        *["{{", "}}", "{%", "%}", "{% for x in ", " %}", "{% endfor %}", "{% set x = ", "{% if ", "{% endif %}", "\n"],
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(
    template=st.lists(WORDS, max_size=12).map("".join)
    | st.lists(WORDS, max_size=8).map(lambda words: "{{ spec" + "".join(words) + " }}")
    | st.text(max_size=40),
    spec=st.dictionaries(st.sampled_from(["n", "list", "a"]), VALUES),
)
def test_jinja_text_or_template_error(template, spec):
    text, problems = outcome(template, {"spec": spec})
    assert len(text) <= limits.MAX_OUTPUT
    assert all(problem.fix for problem in (*problems, *templating.check("jinja2", template)))


@settings(max_examples=300, deadline=None)
@given(
    name=st.sampled_from([*jinja_functions.FILTERS]),
    value=VALUES,
    arguments=st.lists(VALUES | st.sampled_from([0, 1, -1, 10**9, 2**63 - 1, 1e308, "a", "%s"]), max_size=3),
)
def test_jinja_filters_give_text_or_refuse(name, value, arguments):
    written = ", ".join(f"a[{index}]" for index in range(len(arguments)))
    _, problems = outcome(f"{{{{ v|{name}({written})|tojson }}}}", {"v": value, "a": arguments})
    assert all(problem.fix for problem in problems)
