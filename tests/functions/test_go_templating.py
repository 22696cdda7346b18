"""function-go-templating: what its templates see, what their output means, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from claimsmith.base.documents import read_documents
from claimsmith.base.errors import EngineError
from claimsmith.dialects.crossplane import composition as compositions
from claimsmith.functions import pipeline
from claimsmith.functions.protocol import Ready, Target
from claimsmith.functions.requirements import Sources
from tests.support.crossplane_documents import XR, document, piped, step

NAMED = "gotemplating.fn.crossplane.io/composition-resource-name"
GROUP = "gotemplating.fn.crossplane.io/v1beta1"
META = "meta.gotemplating.fn.crossplane.io/v1alpha1"


def resource(name: str, spec: str, *more: str) -> str:
    lines = ["---", "apiVersion: example.org/v1", "kind: Thing", "metadata:", "  annotations:", f"    {NAMED}: {name}"]
    return "\n".join([*lines, *(f"    {line}" for line in more), "spec:", f"  value: {spec}", ""])


def template(text: str, **more: Any) -> dict[str, Any]:
    inline = {"source": "Inline", "inline": {"template": text}, **more}
    return step("function-go-templating", name="render", apiVersion=GROUP, kind="GoTemplate", **inline)


def run(*steps: dict[str, Any], composite: Mapping[str, Any] = XR, **more: Any) -> pipeline.Rendered:
    return pipeline.render(compositions.read(document(piped(*steps)))[0], composite, **more)


def value_of(text: str, **more: Any) -> Any:
    """What a template's expression is in a resource."""
    [made] = run(template(resource("a", text), **more)).composed
    return made["spec"]["value"]


def observed(name: str, **more: Any) -> dict[str, Any]:
    annotations = {"crossplane.io/composition-resource-name": name}
    head = {"apiVersion": "example.org/v1", "kind": "Thing"}
    return {**head, "metadata": {"name": "real", "annotations": annotations}, **more}


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("{{ .observed.composite.resource.spec.region }}", "us", id="composite"),
        pytest.param("{{ .observed.composite.resource.spec.a.b.c }}", "<no value>", id="missing-fields-are-no-value"),
        pytest.param('{{ .a.b.c | default "x" }}', "x", id="missing-fields-have-defaults"),
        pytest.param('"{{ range .a.b }}x{{ end }}"', "", id="a-missing-list-is-empty"),
        pytest.param("{{ (getCompositeResource .).metadata.name }}", "my", id="getCompositeResource"),
        pytest.param('{{ (urlParse "https://u@h.example:80/a%20b?x=1#f").hostname }}', "h.example", id="urlParse"),
        pytest.param(
            '{{ (urlParse "https://u@h/a%20b?x=1#f") | values | sortAlpha | join "," | quote }}',
            ",/a b,f,h,h,https,u,x=1",
            id="urlParse-parts",
        ),
        pytest.param('{{ getComposedResource . "a" | empty }}', True, id="getComposedResource-absent"),
        pytest.param('{{ index (getComposedConnectionDetails . "a") "user" }}', "<no value>", id="details-absent"),
        pytest.param('{{ len (getExtraResources . "a") }}', 0, id="getExtraResources-absent"),
        pytest.param('{{ eq (getComposedResource . "a") nil }}', True, id="getComposedResource-is-nil"),
        pytest.param('{{ getComposedResource . "a" | toJson }}', None, id="getComposedResource-as-json"),
        pytest.param('{{ (getResourceCondition "Ready" .observed).Status }}', "Unknown", id="condition-absent"),
        pytest.param('{{ define "n" }}{{ .x }}{{ end }}{{ include "n" (dict "x" 3) }}', 3, id="include"),
        pytest.param('{{ define "n" }}{{ . }}{{ end }}{{ template "n" 4 }}', 4, id="template"),
        pytest.param('{{ block "n" 5 }}{{ . }}{{ end }}', 5, id="block"),
        pytest.param("{{ range $i, $e := until 3 }}x{{ $i }}{{ end }}", "x0x1x2", id="until-with-two-variables"),
        pytest.param('{{ (fromYaml "a: {b: [1, 2]}").a.b | toJson }}', [1, 2], id="fromYaml"),
        pytest.param('{{ dict "a" (list 1 "yes") | toYaml | nindent 4 }}', {"a": [1, "yes"]}, id="toYaml"),
        pytest.param("{{ mustToJson 1 }}", 1, id="must-is-the-same"),
        pytest.param("[N, yes, off, 010]", [False, True, False, 8], id="plain-texts-of-yaml-1.1"),
        pytest.param("{{ .desired.resources.x | empty }}", True, id="desired"),
    ],
)
def test_expressions(text: str, want: Any) -> None:
    assert value_of(text) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("0440", 288, id="mode-of-a-file"),
        pytest.param("0x1F", 31, id="hexadecimal"),
        pytest.param("1_000", 1000, id="underscores"),
        pytest.param("1e3", 1000, id="exponent"),
        pytest.param("1.10", 1.1, id="a-version-is-a-number"),
        pytest.param("08", 8, id="no-octal-digit"),
        pytest.param("yes", True, id="yes"),
        pytest.param("Off", False, id="off"),
        pytest.param("yEs", "yEs", id="no-spelling-of-yes"),
        pytest.param('"yes"', "yes", id="quoted"),
        pytest.param("!!str 5", "5", id="tagged-as-text"),
        pytest.param("!!binary aGk=", "hi", id="binary"),
        pytest.param("!own x", "x", id="unknown-tag"),
        pytest.param("2024-01-01", "2024-01-01", id="date"),
        pytest.param("{on: 1, 0x10: 2, '010': 3}", {"true": 1, "16": 2, "010": 3}, id="keys"),
        pytest.param("{<<: {a: 1, b: 2}, a: 3}", {"a": 3, "b": 2}, id="merge-key"),
        pytest.param("{<<: [{a: 1}, {a: 2, b: 2}]}", {"a": 1, "b": 2}, id="merge-key-of-several"),
        pytest.param('{{ fromYaml "[yes, 0o17, 1e3]" | toJson }}', ["yes", 15, 1000], id="fromYaml-is-newer"),
    ],
)
def test_output_is_read_as_kubernetes_reads_it(text: str, want: Any) -> None:
    made = value_of(text)
    assert (made, type(made)) == (want, type(want)) or made == pytest.approx(want)


def test_to_yaml_is_written_as_the_function_writes_it() -> None:
    assert value_of('{{ dict "a" (list "true") "b" (dict "c" 1) | toYaml | toJson }}') == (
        'a:\n    - "true"\nb:\n    c: 1\n'
    )


def test_delimiters_and_options() -> None:
    assert value_of("[[ .observed.composite.resource.kind ]]", delims={"left": "[[", "right": "]]"}) == "XBucket"
    with pytest.raises(EngineError):
        value_of("{{ .a }}", options=["missingkey=error"])


def test_what_exists_is_seen() -> None:
    there = observed("a", status={"conditions": [{"type": "Ready", "status": "True"}], "arn": "arn:1"})
    text = '{{ with getComposedResource . "a" }}{{ .status.arn }}{{ (getResourceCondition "Ready" .).Status }}{{ end }}'
    [made] = run(template(resource("b", text)), observed=[there]).composed
    assert made["spec"]["value"] == "arn:1True"


def test_ready_status_and_details() -> None:
    status = "---\napiVersion: example.org/v1\nkind: XBucket\nstatus:\n  a: {b: 1}\n"
    details = f"---\napiVersion: {META}\nkind: CompositeConnectionDetails\ndata:\n  password: c2VjcmV0\n"
    made = run(template(resource("a", "1", 'gotemplating.fn.crossplane.io/ready: "True"') + status + details))
    desired = made.outcome.desired
    assert desired.resources["a"].ready is Ready.true
    assert desired.composite.details == {"password": b"secret"}
    assert made.composite["status"]["a"] == {"b": 1}
    assert made.composite["status"]["conditions"][0]["reason"] == "Available"
    assert list(made.composed[0]["metadata"]["annotations"]) == ["crossplane.io/composition-resource-name"]


def test_conditions() -> None:
    text = f"apiVersion: {META}\nkind: ClaimConditions\nconditions:\n"
    text += '- {type: Checked, status: "True", reason: Fine, message: all, target: CompositeAndClaim}\n'
    made = run(template(text))
    assert made.composite["status"]["conditions"][1]["message"] == "all"
    assert made.outcome.conditions[0].target is Target.composite_and_claim


def test_context_reaches_later_steps() -> None:
    first = template(f"apiVersion: {META}\nkind: Context\ndata:\n  mine: {{a: 1}}\n")
    second = {**template(resource("a", "{{ .context.mine.a }}{{ .context.given.b }}")), "step": "second"}
    around = pipeline.Surroundings(context={"given": {"b": 2}})
    made = run(first, second, around=around)
    assert made.composed[0]["spec"]["value"] == 12
    assert made.context_document()["fields"]["mine"] == {"a": 1}


def test_requirements_are_fetched() -> None:
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "labels": {"x": "z"}},
        "data": {"k": 1},
    }
    wanted = f"apiVersion: {META}\nkind: ExtraResources\nrequirements:\n"
    wanted += "  found: {apiVersion: v1, kind: ConfigMap, matchLabels: {x: z}}\n"
    read = '{{ with getExtraResources . "found" }}{{ (index . 0).resource.data.k }}{{ end }}'
    text = wanted + "{{ if .extraResources }}\n" + resource("a", read) + "{{ end }}"
    later = resource("b", '{{ (index (getExtraResourcesFromContext . "found") 0).resource.data.k }}')
    around = pipeline.Surroundings(sources=Sources([config]))
    made = run(template(text), {**template(later), "step": "later"}, around=around)
    assert [d["spec"]["value"] for d in made.composed] == [1, 1]


def test_credentials() -> None:
    data = template(resource("a", '{{ (getCredentialData . "cloud").key }}'))
    secret = {"name": "keys", "namespace": "system"}
    data["credentials"] = [{"name": "cloud", "source": "Secret", "secretRef": secret}]
    around = pipeline.Surroundings(credentials={("system", "keys"): {"key": b"k-1"}})
    assert run(data, around=around).composed[0]["spec"]["value"] == "k-1"
    with pytest.raises(EngineError):
        run(data)


def test_templates_from_the_environment_and_from_files() -> None:
    from_environment = {**template(""), "input": {"source": "Environment", "environment": {"key": "text"}}}
    made = run(from_environment, environment={"text": resource("a", "1")})
    assert made.composed[0]["spec"]["value"] == 1
    from_files = {**template(""), "input": {"source": "FileSystem", "fileSystem": {"dirPath": "/t"}}}
    texts = {"/t": {"a": resource("a", "1"), "b": resource("b", "2")}}
    made = run(from_files, around=pipeline.Surroundings(files=texts.__getitem__))
    assert [d["spec"]["value"] for d in made.composed] == [1, 2]


DRAWN = resource("a", "{{ randAlphaNum 8 }}-{{ randomChoice `a` `b` }}")


def test_random_values_are_derived_and_reported() -> None:
    first, again = run(template(DRAWN)), run(template("{{/* longer */}}" + DRAWN))
    assert first.composed == again.composed
    assert len(first.composed[0]["spec"]["value"]) == 10
    assert [p.where.line > 0 for _, p in first.warnings if p.where] == [True, True]
    assert first.results() == []


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"composite": {**XR, "metadata": {"name": "my", "uid": "u-2"}}}, id="another-composite"),
        pytest.param({"name": "other"}, id="another-step"),
    ],
)
def test_random_values_differ_by(change: dict[str, Any]) -> None:
    other = {**template(DRAWN), "step": change.get("name", "render")}
    assert run(template(DRAWN)).composed != run(other, composite=change.get("composite", XR)).composed


UNFOLDING = "l0: &l0 {}\n" + "".join(f"l{n}: &l{n} {{<<: [{', '.join([f'*l{n - 1}'] * 10)}]}}\n" for n in range(1, 11))
"""Each line merges the one before ten times."""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("apiVersion: example.org/v1\nkind: Thing\n", id="a-resource-without-a-name"),
        pytest.param("kind: Thing\n", id="no-apiVersion"),
        pytest.param("a: [", id="no-yaml"),
        pytest.param(f"apiVersion: {META}\nkind: Other\n", id="unknown-kind-of-its-own"),
        pytest.param(resource("a", "1", "gotemplating.fn.crossplane.io/ready: Yes!"), id="unknown-verdict"),
        pytest.param(resource("a", "1", "number: 5"), id="annotation-that-is-no-text"),
        pytest.param(f"apiVersion: {META}\nkind: ClaimConditions\nconditions: [{{type: Ready}}]\n", id="own-condition"),
        pytest.param(resource("a", ".inf"), id="number-that-is-not-finite"),
        pytest.param(resource("a", "-.Inf"), id="infinity-in-other-letters"),
        pytest.param(resource("a", ".NaN"), id="no-number"),
        pytest.param(resource("a", "0x" + "f" * 300), id="number-of-too-many-digits"),
        pytest.param(resource("a", "{null: 1}"), id="null-as-a-key"),
        pytest.param(resource("a", "{<<: 1}"), id="merge-key-without-an-object"),
        pytest.param(UNFOLDING, id="merge-keys-that-unfold-without-end"),
        pytest.param("a: &a\n  <<: *a\n", id="merge-key-of-itself"),
        pytest.param(resource("a", "!!binary '%'"), id="no-base64"),
        pytest.param("{{ fail `no` }}", id="fail"),
        pytest.param("{{ include `absent` . }}", id="no-such-template"),
        pytest.param("{{ now }}", id="clock"),
        pytest.param("{{ env `HOME` }}", id="environment-variables"),
        pytest.param("{{ define `a` }}{{ template `a` }}{{ end }}{{ template `a` }}", id="endless-recursion"),
        pytest.param("{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}", id="endless-loop"),
        pytest.param("{{ range until 2000 }}{{ repeat 1000 `x` }}{{ end }}", id="huge-output"),
        pytest.param("{{ fromYaml `a: &a [1, 1]\nb: [*a, *a]` | toJson }}", id="aliases"),
        pytest.param("{{ if }}", id="syntax"),
    ],
)
def test_refused_templates(text: str) -> None:
    with pytest.raises(EngineError) as caught:
        run(template(text))
    [problem, *_] = caught.value.problems
    assert problem.what.startswith("step 'render': ")
    assert problem.where
    assert problem.where.file == "platform.yaml"
    assert problem.fix


def test_a_problem_names_the_line_of_the_composition() -> None:
    text = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: c}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: XBucket}
  mode: Pipeline
  pipeline:
  - step: render
    functionRef: {name: function-go-templating}
    input:
      source: Inline
      inline:
        template: |
          a: 1
          b: {{ fail "here" }}
"""
    [read] = read_documents(text, file="c.yaml")
    with pytest.raises(EngineError) as caught:
        pipeline.render(compositions.read(read)[0], XR)
    assert str(caught.value.problems[0].where).startswith("c.yaml:15:")


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"source": "Inline"}, id="no-template"),
        pytest.param({"source": "Elsewhere"}, id="unknown-source"),
        pytest.param({"source": "Environment", "environment": {"key": "absent"}}, id="no-such-key"),
        pytest.param({"source": "FileSystem", "fileSystem": {"dirPath": "/t"}}, id="no-files"),
        pytest.param({"source": "FileSystem"}, id="no-folder"),
        pytest.param({"source": "Inline", "inline": {"template": "a"}, "options": ["x=y"]}, id="unknown-option"),
    ],
)
def test_refused_inputs(given: dict[str, Any]) -> None:
    with pytest.raises(EngineError) as caught:
        run({**template(""), "input": given})
    assert caught.value.problems[0].fix
