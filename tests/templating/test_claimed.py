"""Texts of others in the output of a composition's template: values, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.templating import claimed, gofunction
from claimsmith.templating.claimed import Claimed

EVIL = "x\nkind: Evil"


def documents(template: str, **spec: Any) -> list[dict[str, Any]]:
    data = {"observed": {"spec": spec}, "context": {"block": "a: 1\nb: 2"}}
    made = gofunction.render(f"{{{{ $s := .observed.spec }}}}{template}", data, file="t")
    return [document.data for document in gofunction.documents(made, file="output")]


@pytest.mark.parametrize(
    ("template", "spec", "want"),
    [
        pytest.param("a: {{ $s.t }}", {"t": "x y"}, "x y", id="text"),
        pytest.param("a: {{ $s.t }}", {"t": "5"}, 5, id="number"),
        pytest.param("a: {{ $s.t }}", {"t": "[1, {b: 2}]"}, [1, {"b": 2}], id="whole-value"),
        pytest.param("a: '{{ $s.t }}'", {"t": "x: y # z"}, "x: y # z", id="in-quotes"),
        pytest.param("a: {{ $s.t | quote }}", {"t": EVIL}, EVIL, id="quote"),
        pytest.param("a: {{ $s.t | toJson }}", {"t": EVIL}, EVIL, id="toJson"),
        pytest.param("a: |-\n{{ $s.t | indent 2 }}", {"t": EVIL}, EVIL, id="block"),
        pytest.param("a:{{ $s.t | toYaml | nindent 2 }}", {"t": {"b": EVIL}}, {"b": EVIL}, id="toYaml"),
        pytest.param(
            "a: {{ $s.t | toYaml | nindent 2 }}\nkind: Good", {"t": f"{EVIL}\n"}, f"{EVIL}\n", id="toYaml-of-lines"
        ),
        pytest.param("a: [{{ join `, ` $s.t }}]", {"t": ["x", "y z"]}, ["x", "y z"], id="join"),
        pytest.param("a: {{ printf `{b: %s, c: %s}` $s.t $s.t }}", {"t": "x"}, {"b": "x", "c": "x"}, id="printf"),
        pytest.param("a:{{ nindent 2 .context.block }}", {}, {"a": 1, "b": 2}, id="of-the-platform"),
        pytest.param(
            "{{ define `t` }}b: {{ . }}{{ end }}a:{{ include `t` $s.t | nindent 2 }}",
            {"t": "x"},
            {"b": "x"},
            id="include",
        ),
        pytest.param("# {{ $s.t }}\na: 1", {"t": "x: y"}, 1, id="comment"),
        pytest.param("{{ range $k, $v := $s.t }}{{ $k }}: {{ $v }}{{ end }}", {"t": {"a": "x"}}, "x", id="key"),
        pytest.param("a: {{ $s.t | upper | trunc 1 | b64enc }}", {"t": "x"}, "WA==", id="chain"),
        pytest.param(
            "a: {{ eq $s.t (index $s.l 0) }}{{ has $s.t $s.l }}", {"t": "x", "l": ["x"]}, "truetrue", id="equal"
        ),
    ],
)
def test_values(template: str, spec: dict[str, Any], want: Any) -> None:
    assert documents(template, **spec)[0]["a"] == want


@pytest.mark.parametrize(
    ("template", "spec"),
    [
        pytest.param("a: {{ $s.t }}", {"t": EVIL}, id="field"),
        pytest.param("a: {{ $s.t }}", {"t": "x\n---\nkind: Evil"}, id="document"),
        pytest.param("a: {{ $s.t }}\nkind: Good", {"t": "x #"}, id="comment"),
        pytest.param("a: {{ $s.t }}\n  kind: Good", {"t": "|"}, id="block-around-the-template"),
        pytest.param("{{ $s.t }}: {a: 1}", {"t": "<<"}, id="merge-key"),
        pytest.param("a: {b: {{ $s.t }}}", {"t": "x, kind: Evil"}, id="flow"),
        pytest.param("a: [{{ $s.t }}]", {"t": "x: y"}, id="pair"),
        pytest.param("a: {b: '{{ $s.t }}'}", {"t": "x', c: 'y"}, id="single-quotes"),
        pytest.param('a: {b: "{{ $s.t }}"}', {"t": 'x", b: "y'}, id="double-quotes"),
        pytest.param("a: {{ $s.t | lower }}", {"t": EVIL}, id="changed"),
        pytest.param("a: {{ $s.t | replace `y` `x` }}", {"t": EVIL}, id="replaced"),
        pytest.param("a: {{ index (splitList `,` $s.t) 0 }}", {"t": EVIL}, id="split"),
        pytest.param("a: {{ (fromJson $s.t).b }}", {"t": '{"b": "x\\nkind: Evil"}'}, id="fromJson"),
        pytest.param("a: {{ $s.t | b64dec }}", {"t": "eApraW5kOiBFdmls"}, id="decoded"),
        pytest.param("a: {{ first (keys $s.t) }}", {"t": {EVIL: 1}}, id="key"),
        pytest.param(
            "{{ range $k, $v := $s.t }}{{ $k }}: {{ $v }}{{ end }}", {"t": {"a: 1\nb": "x"}}, id="key-of-a-loop"
        ),
        pytest.param("a: {{ get (dict `b` $s.t) `b` }}", {"t": EVIL}, id="object"),
        pytest.param("a: {{ $d := dict }}{{ $_ := set $d `b` $s.t }}{{ $d.b }}", {"t": EVIL}, id="stored"),
        pytest.param("{{ define `t` }}{{ . }}{{ end }}a: {{ template `t` $s.t }}", {"t": EVIL}, id="template"),
        pytest.param("{{ define `t` }}{{ . }}{{ end }}a: {{ include `t` $s.t | trim }}", {"t": EVIL}, id="include"),
        pytest.param("{{ printf `a: %s` $s.t | fromYaml | toYaml }}", {"t": EVIL}, id="fromYaml"),
        pytest.param("a: {b: '{{ toJson $s.t }}'}", {"t": "x', c: 'y"}, id="toJson-in-quotes"),
        pytest.param("a: {{ $s.t }}", {"t": f"{EVIL}\ud800"}, id="half-of-a-pair"),
        pytest.param("a: {{ $s.t }}", {"t": "x\udce1\nkind: Evil\nb: c\udce0"}, id="marks"),
    ],
)
def test_refused(template: str, spec: dict[str, Any]) -> None:
    with pytest.raises(EngineError) as caught:
        documents(template, **spec)
    assert "would be more than a value" in caught.value.problems[0].what
    assert "toJson" in caught.value.problems[0].fix


def test_every_function_passes_marks_on_or_makes_new_ones() -> None:
    """What a function makes of a text of others is one, whatever the function is called."""
    text = {"str": Claimed("a b"), "any": Claimed("a b"), "list": [Claimed("a b")], "dict": {"k": Claimed("a b")}}
    other = {"int": 1, "float": 1.0, "bool": True}
    unmarked = []
    for name, function in gofunction.table().items():
        arguments = [(text | other)[kind.removesuffix("...")] for kind in function.kinds]
        seed = (bytes(32),) if function.family == "derived" else ()
        try:
            result = claimed.called(function, arguments, seed)
        except EngineError:
            continue
        if "a b" in str(result) and isinstance(result, str | list | dict) and not claimed.holds(result):
            unmarked.append(name)
    assert unmarked == ["toYaml", "mustToYaml"] or not unmarked
