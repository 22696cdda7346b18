"""What would grow without end is refused with a reason: a row for each way that was tried.

Each row is also watched for memory: a refusal that comes after the text was made is none.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from claimsmith import generate, templating
from claimsmith.base import fieldpath
from claimsmith.base.documents import read_documents
from claimsmith.base.errors import EngineError, nearest
from claimsmith.base.transform import parse_transform
from claimsmith.compose.plan import Plan
from claimsmith.patching import patches, transforms
from claimsmith.project.load import MAX_BYTES
from claimsmith.project.project import Project
from tests.support import platform_documents as build
from tests.support.paths import ROOT
from tests.support.samples import BUCKET, catalog_of, class_data, patch, table, write_files

MIB = 1024 * 1024
Attempt = Callable[[], Any]


def yaml_of(text: str) -> Attempt:
    return lambda: read_documents(text, file="f.yaml")


def transformed(value: Any, transform: dict[str, Any]) -> Attempt:
    return lambda: transforms.apply(parse_transform(transform), value)


def string(value: Any, **options: Any) -> Attempt:
    return transformed(value, {"type": "string", "string": options})


def converted(value: Any, to_type: str, text_format: str = "none") -> Attempt:
    return transformed(value, {"type": "convert", "convert": {"toType": to_type, "format": text_format}})


def class_of(*steps: dict[str, Any], to: str = "spec.b") -> Attempt:
    return lambda: catalog_of([class_data("c", {"base": BUCKET, "patches": [patch("spec.a", to, *steps)]})])


def pattern(text: str) -> Attempt:
    return class_of({"type": "string", "string": {"type": "Regexp", "regexp": {"match": text}}})


def rendered(engine: str, text: str) -> Attempt:
    data = {"spec": {"list": ["a"] * 10, "text": "a" * 1000, "n": 7}}
    return lambda: templating.render(engine, text, data)


def jinja(text: str) -> Attempt:
    return rendered("jinja2", text)


def go(text: str) -> Attempt:
    return rendered("go-sprig", text)


def bomb(levels: int, leaf: str = "x", width: int = 10) -> str:
    lines = [f"a0: &a0 [{', '.join([leaf] * width)}]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * width)}]" for i in range(1, levels)]
    return "\n".join(lines) + "\n"


def flow(root: Path, levels: int) -> Plan:
    """Composed resources, each with twice what the one before it has."""
    folder = ROOT / "tests" / "golden" / "crossplane-namespaced"
    platform = list(yaml.safe_load_all((folder / "platform.yaml").read_text(encoding="utf-8")))
    claim = yaml.safe_load((folder / "claim.yaml").read_text(encoding="utf-8"))
    given = platform[1]["spec"]["pipeline"][0]["input"]
    del given["writeConnectionSecretToRef"]
    given["resources"] = [
        {
            "name": f"r{i}",
            "base": {"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "v"}, "x": {"s": "a"}},
            "patches": [
                *({"fromFieldPath": f"status.a{i - 1}", "toFieldPath": f"x.{side}"} for side in "lr" if i),
                {"type": "ToCompositeFieldPath", "fromFieldPath": "x", "toFieldPath": f"status.a{i}"},
            ],
        }
        for i in range(levels)
    ]
    return build.plan_of(root, platform, [claim])


REFUSED = [
    # YAML
    pytest.param(yaml_of(bomb(9)), "too large", id="yaml-alias-bomb"),
    pytest.param(
        yaml_of(f"a: &a {'x' * MIB}\nb: [{', '.join(['*a'] * 1000)}]"), "too large", id="yaml-alias-of-long-text"
    ),
    pytest.param(
        yaml_of(f"a: &a {{k: {'x' * MIB}}}\nb: [{', '.join(['*a'] * 9)}]"), "too large", id="yaml-alias-of-object"
    ),
    pytest.param(yaml_of("a: &a [*a]"), "too deep", id="yaml-alias-of-itself"),
    pytest.param(yaml_of("a: &a {b: *a}"), "too deep", id="yaml-alias-of-its-parent"),
    pytest.param(yaml_of("a: " + "[" * 20_000), "too deep", id="yaml-deep-list"),
    pytest.param(yaml_of("a: " + "{b: " * 20_000), "too deep", id="yaml-deep-object"),
    pytest.param(yaml_of("- " * 20_000 + "x"), "too deep", id="yaml-deep-block"),
    pytest.param(yaml_of("".join(f"{' ' * i}a:\n" for i in range(1500))), "too deep", id="yaml-deep-indentation"),
    pytest.param(yaml_of("a: !!python/object/apply:os.system [x]"), "python", id="yaml-tag-of-a-language"),
    pytest.param(yaml_of("a: !!python/name:os.system"), "python", id="yaml-tag-of-a-name"),
    pytest.param(yaml_of("a: !!binary aGk="), "binary", id="yaml-tag-of-bytes"),
    pytest.param(yaml_of("a: !!set {b, c}"), "!!set", id="yaml-tag-of-a-set"),
    pytest.param(yaml_of("a: !include /etc/passwd"), "!include", id="yaml-tag-of-a-file"),
    pytest.param(yaml_of("%TAG ! tag:example.org,2026:\n---\na: !x b"), "example.org", id="yaml-tag-with-a-handle"),
    pytest.param(yaml_of("b: &b {x: 1}\na: {<<: *b}"), "merge keys", id="yaml-merge"),
    pytest.param(yaml_of("a: \ud800"), "half of a character", id="yaml-half-of-a-character"),
    # formats
    pytest.param(string("x", type="Format", fmt="%999999999s"), "too large", id="format-width"),
    pytest.param(string("x", type="Format", fmt="%" + "9" * 5000 + "s"), "too large", id="format-width-of-many-digits"),
    pytest.param(string(1.5, type="Format", fmt="%.999999999f"), "too large", id="format-precision"),
    pytest.param(string("x", type="Format", fmt="%10000[1]s" * 1000), "longer than", id="format-many-widths"),
    pytest.param(string("x" * 10_000, type="Format", fmt="%[1]s" * 10_000), "longer than", id="format-many-times"),
    pytest.param(string(["x"] * 1000, type="Format", fmt="%10000v"), "longer than", id="format-width-of-each-item"),
    pytest.param(
        string([[["x"] * 100] * 100] * 100, type="Format", fmt="%5v"), "longer than", id="format-nested-lists"
    ),
    pytest.param(string(10**400, type="Format", fmt="%d"), "64 bits", id="format-huge-integer"),
    # other transforms
    pytest.param(
        string("a" * MIB, type="Replace", replace={"search": "a", "replace": "b" * 1000}), "longer than", id="replace"
    ),
    pytest.param(string(["a"] * 2000, type="Join", join={"separator": "b" * 1000}), "longer than", id="join"),
    pytest.param(string([["a"] * 99] * 9999, type="Join", join={"separator": ""}), "longer than", id="join-of-lists"),
    pytest.param(transformed(2**70, {"type": "math", "math": {"multiply": 2}}), "64 bits", id="math-huge-integer"),
    pytest.param(converted("9" * 5000, "int64"), "as an integer", id="convert-huge-integer"),
    pytest.param(converted("1e" + "9" * 5000, "float64"), "as a number", id="convert-huge-exponent"),
    pytest.param(converted("0x1p" + "9" * 5000, "float64"), "as a number", id="convert-huge-hexadecimal-exponent"),
    pytest.param(converted("1e999999999", "float64", "quantity"), "as a quantity", id="quantity-exponent"),
    pytest.param(converted("9" * 200, "float64", "quantity"), "as a quantity", id="quantity-digits"),
    pytest.param(converted("9" * 5000 + "Ei", "float64", "quantity"), "as a quantity", id="quantity-digits-and-suffix"),
    pytest.param(converted("[" * 100_000, "array", "json"), "nested too deeply", id="json-deep"),
    pytest.param(converted('{"a": ' + "9" * 5000 + "}", "object", "json"), "out of range", id="json-huge-integer"),
    # regular expressions
    pytest.param(pattern("((a{100}){100}){100}"), "repetition", id="pattern-repeated-repetitions"),
    pytest.param(pattern("a{1001}"), "repetition", id="pattern-large-repetition"),
    pytest.param(pattern("(" * 3000 + ")" * 3000), "longer than", id="pattern-deep"),
    pytest.param(pattern("(a|b)" * 1000), "longer than", id="pattern-long"),
    pytest.param(pattern("(?=a)"), "regular expression", id="pattern-that-looks-ahead"),
    pytest.param(pattern(r"(a)\1"), "regular expression", id="pattern-that-refers-back"),
    pytest.param(go('{{ regexMatch "((a{100}){100}){100}" "a" }}'), "repetition", id="go-pattern"),
    pytest.param(go("{{ regexMatch (repeat 5000 `a`) `a` }}"), "too long", id="go-pattern-made"),
    # field paths
    pytest.param(lambda: fieldpath.put({}, "a[4294967295]", 1), "max allowed index", id="path-huge-index"),
    pytest.param(lambda: fieldpath.put({}, "a[1025]", 1), "max allowed index", id="path-large-index"),
    pytest.param(lambda: fieldpath.parse("a." * 100_000 + "a"), "steps", id="path-of-many-steps"),
    pytest.param(lambda: fieldpath.parse("a" + "[1024]" * 200), "steps", id="path-of-many-indexes"),
    pytest.param(class_of(to="spec" + "[0]" * 200), "steps", id="path-of-a-patch"),
    pytest.param(lambda: patches.write({"a": []}, "a[*]", 1), "matches nothing", id="path-wildcard-over-nothing"),
    # templates
    pytest.param(jinja("{{ 'a' * 99999999999 }}"), "weigh more", id="jinja-repeat"),
    pytest.param(jinja("{{ [0] * 99999999999 }}"), "weigh more", id="jinja-repeat-a-list"),
    pytest.param(jinja("{{ 9 ** 9 ** 9 ** 9 }}"), "64 bits", id="jinja-power"),
    pytest.param(jinja("{{ '%999999999s' | format('a') }}"), "is refused", id="jinja-format"),
    pytest.param(jinja("{{ 'a' | center(999999999) }}"), "too large", id="jinja-center"),
    pytest.param(jinja("{{ spec.list | batch(999999999, 'x') | list }}"), "too large", id="jinja-batch"),
    pytest.param(jinja("{{ spec.text | indent(999999999) }}"), "too large", id="jinja-indent"),
    pytest.param(jinja("{{ range(0, 10 ** 18) | length }}"), "weigh more", id="jinja-range"),
    pytest.param(jinja("{{ spec.text | replace('a', spec.text * 1000) }}"), "weigh more", id="jinja-replace"),
    pytest.param(
        jinja("{% for a in range(999) %}{% for b in range(999) %}x{% endfor %}{% endfor %}"),
        "steps",
        id="jinja-loops",
    ),
    pytest.param(jinja("{{ " + "(" * 10_000 + "1" + ")" * 10_000 + " }}"), "deeply", id="jinja-parentheses"),
    pytest.param(jinja("{{ " + "-" * 10_000 + "1 }}"), "deeply", id="jinja-signs"),
    pytest.param(jinja("{% if 1 %}" * 500 + "{% endif %}" * 500), "deeply", id="jinja-blocks"),
    pytest.param(jinja("{{ " + "9" * 5000 + " }}"), "cannot be read", id="jinja-huge-integer"),
    pytest.param(jinja("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"), "outside the subset", id="jinja-recursion"),
    pytest.param(jinja("{% include '/etc/passwd' %}"), "is refused", id="jinja-include"),
    pytest.param(jinja("{{ ''.__class__.__mro__ }}"), "cannot be read", id="jinja-dunder"),
    pytest.param(jinja("x" * 300_000), "longer than", id="jinja-long"),
    pytest.param(go('{{ repeat 999999999 "a" }}'), "weigh more", id="go-repeat"),
    pytest.param(go('{{ printf "%999999999s" "a" }}'), "too large", id="go-format"),
    pytest.param(go("{{ indent 999999999 .spec.text }}"), "weigh more", id="go-indent"),
    pytest.param(go("{{ " + "(" * 10_000 + "1" + ")" * 10_000 + " }}"), "deeply", id="go-parentheses"),
    pytest.param(go("{{ if 1 }}" * 500 + "{{ end }}" * 500), "deeply", id="go-blocks"),
    pytest.param(go('{{ define "t" }}{{ template "t" . }}{{ end }}{{ template "t" . }}'), "outside", id="go-recursion"),
    pytest.param(go("{{ " + "9" * 5000 + " }}"), "64 bits", id="go-huge-integer"),
    pytest.param(go("{{ 0x1p999999999 }}"), "as a number", id="go-huge-exponent"),
    pytest.param(go("{{ round 1.5 999999999 }}"), "places", id="go-round"),
    pytest.param(go('{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ toJson $d }}'), "in itself", id="go-object-in-itself"),
    pytest.param(go("{{ regexReplaceAll `a` .spec.text (repeat 100000 `b`) }}"), "weigh more", id="go-replace"),
    pytest.param(go('{{ readFile "/etc/passwd" }}{{ env "HOME" }}'), "is refused", id="go-file"),
    pytest.param(go("x" * 300_000), "longer than", id="go-long"),
]


@pytest.mark.parametrize(("attempt", "words"), REFUSED)
def test_refused(attempt: Attempt, words: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(EngineError) as caught:
            attempt()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    problem = caught.value.problems[0]
    assert words in problem.what
    assert problem.fix
    assert len(str(caught.value)) < 6000
    assert peak < 64 * MIB


@pytest.mark.parametrize(
    ("attempt", "want"),
    [
        pytest.param(string("x", type="Format", fmt="%10000s"), 10_000, id="format-width"),
        pytest.param(string("a" * MIB, type="Replace", replace={"search": "a", "replace": "b"}), MIB, id="replace"),
        pytest.param(string(["a" * 1000] * 1000, type="Join", join={"separator": ""}), 1_000_000, id="join"),
        pytest.param(string("a" * MIB, type="Regexp", regexp={"match": "(a*)*(a*)*(a*)*$"}), MIB, id="pattern-linear"),
        pytest.param(jinja("{{ 'a' * 100000 }}"), 100_000, id="jinja-repeat"),
        pytest.param(go("{{ repeat 100000 `a` }}"), 100_000, id="go-repeat"),
    ],
)
def test_what_is_large_and_useful_is_taken(attempt: Attempt, want: int) -> None:
    assert len(attempt()) == want


def test_patches_that_double(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="too large or too deep") as caught:
        flow(tmp_path, 40)
    assert caught.value.problems[0].fix


def test_patches_that_double_a_few_times_are_fine(tmp_path: Path) -> None:
    assert len(flow(tmp_path, 6).claims[0].children) == 6


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        pytest.param("stacks/dev/claims/c.yaml", "#" * (MAX_BYTES + 1), "larger than", id="file"),
        pytest.param("stacks/dev/claims/c.yaml", b"a: \xff\xfe", "cannot be read", id="no-text"),
        pytest.param("components/x/class.yaml", bomb(9), "too large", id="alias-bomb"),
        pytest.param("components/references.yaml", bomb(9), "too large", id="alias-bomb-in-a-table"),
        pytest.param("stacks/dev/bindings.yaml", bomb(9), "too large", id="alias-bomb-in-the-bindings"),
        pytest.param("Pulumi.yaml", bomb(9), "too large", id="alias-bomb-in-the-project"),
    ],
)
def test_files(tmp_path: Path, name: str, text: str | bytes, words: str) -> None:
    root = write_files(tmp_path, {"stacks/dev/claims/d.yaml": "", name: text})
    with pytest.raises(EngineError, match=words):
        Project(root).plan("dev", unrecorded_ok=True)


def test_a_long_word_is_compared_with_nothing() -> None:
    assert nearest("a" * MIB, ["a" * MIB, "b"]) is None
    assert nearest("smal", ["small", "a" * MIB]) == "small"


def test_a_class_of_many_children_is_generated() -> None:
    classes = catalog_of([class_data("c", *({"base": BUCKET, "name": f"n{i}"} for i in range(300)))]).classes
    assert generate.generate(list(classes.values()), table(), source="x").count("self.child(") == 300
