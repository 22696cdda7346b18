"""Hostile YAML never becomes code: whatever names and texts say, the component's syntax tree stays the same."""

from __future__ import annotations

import ast
import io
import keyword
import tokenize
from collections.abc import Callable
from typing import Any

import pytest

from claimsmith import generate
from claimsmith.base.errors import EngineError
from claimsmith.base.names import GroupKind
from claimsmith.project.sdks import index_of
from claimsmith.tools.generate import format_source
from tests.fuzz.safe_code import refuse_foreign
from tests.support.samples import BUCKET, catalog_of, class_data, patch, table

Data = dict[str, Any]
Place = Callable[[str], list[Data]]

ATTEMPTS = {
    "newline": "x\nimport os",
    "carriage-return": "x\rimport os",
    "line-separator": "x\u2028import os",
    "next-line": "x\x85import os",
    "form-feed": "x\x0cimport os",
    "vertical-tab": "x\x0bimport os",
    "null": "x\x00import os",
    "single-quote": "'; import os; '",
    "double-quote": '"; import os; "',
    "triple-double": '"""\nimport os\n"""',
    "triple-single": "'''\nimport os\n'''",
    "backslash-at-the-end": "x\\",
    "backslash-before-a-quote": '\\"\\"\\"\nimport os',
    "escape": "\\x22\\x22\\x22 \\N{QUOTATION MARK} \\u0022",
    "expression": "' + __import__('os').system('true') + '",
    "call": "__import__('os').system('true')",
    "parenthesis": ")\nimport os\n(",
    "braces": "{__import__('os')}",
    "jinja-expression": "{{ self.__init__.__globals__ }}",
    "jinja-statement": "{% for x in y %}",
    "jinja-comment": "{# x",
    "jinja-end": "}}{{ 7 * 7 }}",
    "format": "%(x)s {0.__class__} $x",
    "comment": "# type: ignore\n#",
    "encoding": "# -*- coding: utf-7 -*-",
    "bidi-override": "\u202e\u2066x\u2069",
    "zero-width": "im\u200bport\ufeff",
    "keyword": "class",
    "soft-keyword": "match",
    "none": "None",
    "debug": "__debug__",
    "dunder": "__class__",
    "mangled": "__x",
    "self": "self",
    "super": "super",
    "imported": "lookup",
    "builtin": "print",
    "like-letters": "ſpec",
    "bold-keyword": "𝐜𝐥𝐚𝐬𝐬",
    "long": "x" * 5000,
    "deep": "(" * 300,
    "indent": "\n        import os",
    "dedent": "x\nimport os\nclass Y:",
    "walrus": "x:=1",
    "lambda": "lambda: 0",
    "decorator": "@x",
}


def one(base: Data, *patches: Data, **more: Any) -> list[Data]:
    return [class_data("c", {"base": base, "patches": list(patches), **more})]


def written(**string: Any) -> list[Data]:
    return one(BUCKET, patch("spec.a", "spec.b", {"type": "string", "string": string}))


def transformed(transform: Data) -> list[Data]:
    return one(BUCKET, patch("spec.a", "spec.b", transform))


def template(engine: str) -> Place:
    head = "apiVersion: storage.example.org/v1\nkind: Bucket\nspec:\n  a: |\n    "

    def place(word: str) -> list[Data]:
        text = head + word
        return [class_data("c", {"template": {"engine": engine, "source": {"type": "inline", "inline": text}}})]

    return place


def composition(word: str = "", *, group: str = "data.example.org", kind: str = "Store") -> list[Data]:
    details = [{"name": word, "fromConnectionSecretKey": word}] if word else []
    made = {"name": "a", "base": BUCKET, "connectionDetails": details}
    names = {"kind": kind, "listKind": "StoreList", "plural": "stores", "singular": "store"}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {}}}
    crd = {"group": group, "version": "v1", "names": names, "validation": schema}
    api = "apiextensions.crossplane.io/v1alpha1"
    return [
        {
            "apiVersion": api,
            "kind": "InfrastructureDefinition",
            "metadata": {"name": f"stores.{group}"},
            "spec": {"connectionDetails": [word] if word else [], "crdSpecTemplate": crd},
        },
        {
            "apiVersion": api,
            "kind": "Composition",
            "metadata": {"name": "c"},
            "spec": {"from": {"apiVersion": f"{group}/v1", "kind": kind}, "to": [made]},
        },
    ]


def native(properties: Data, *, role: Data | None = None, detail: Data | None = None, **more: Any) -> list[Data]:
    """A class with a native password, and a role that reads it if the role has properties."""
    head: Data = {"type": more.pop("type", "random:RandomPassword"), "properties": {"length": 24, **properties}}
    head |= {"options": more.pop("options")} if "options" in more else {}
    head |= {"metadata": {"labels": more.pop("labels")}} if "labels" in more else {}
    details = {"connectionDetails": [detail]} if detail else {}
    children = [{"name": "password", "base": head, **details, **more}]
    if role is not None:
        children.append({"name": "role", "base": {"type": "postgresql:Role", "properties": role}})
    return [class_data("c", *children)]


PLACES: dict[str, Place] = {
    "value": lambda w: one({**BUCKET, "spec": {"a": w}}),
    "key": lambda w: one({**BUCKET, "spec": {w: 1}}),
    "field-beside-spec": lambda w: one({**BUCKET, w: {"a": 1}}),
    "item": lambda w: one({**BUCKET, "spec": {"a": [w, {w: w}]}}),
    "label": lambda w: one({**BUCKET, "metadata": {"labels": {"a": w}}}),
    "label-key": lambda w: one({**BUCKET, "metadata": {"labels": {w: "a"}}}),
    "annotation": lambda w: one({**BUCKET, "metadata": {"annotations": {"a": w}}}),
    "annotation-key": lambda w: one({**BUCKET, "metadata": {"annotations": {w: "a"}}}),
    "template-name": lambda w: one(BUCKET, name=w),
    "previous-name": lambda w: one(BUCKET, previousName=w),
    "description": lambda w: [class_data("c", annotations={"claimsmith.io/description": w})],
    "class-annotation-key": lambda w: [class_data("c", annotations={w: "a"})],
    "map-key": lambda w: transformed({"type": "map", "map": {w: "a"}}),
    "map-result": lambda w: transformed({"type": "map", "map": {"a": w}}),
    "match-literal": lambda w: transformed({"type": "match", "match": {"patterns": [{"literal": w, "result": w}]}}),
    "match-fallback": lambda w: transformed(
        {"type": "match", "match": {"patterns": [{"literal": "a", "result": 1}], "fallbackValue": {w: w}}}
    ),
    "regexp": lambda w: written(type="Regexp", regexp={"match": w}),
    "format": lambda w: written(type="Format", fmt=w),
    "prefix": lambda w: written(type="TrimPrefix", trim=w),
    "separator": lambda w: written(type="Join", join={"separator": w}),
    "search": lambda w: written(type="Replace", replace={"search": w, "replace": w}),
    "read-path": lambda w: one(BUCKET, patch(f"spec['{w}']", "spec.b")),
    "read-deep-path": lambda w: one(BUCKET, patch(f"spec.x['{w}']", "spec.b")),
    "required-path": lambda w: one(BUCKET, patch(f"spec['{w}']", "spec.b", policy={"fromFieldPath": "Required"})),
    "read-label": lambda w: one(BUCKET, patch(f"metadata.labels['{w}']", "spec.b")),
    "written-path": lambda w: one(BUCKET, patch("spec.a", f"spec['{w}']")),
    "appended-path": lambda w: one(BUCKET, patch("spec.a", f"spec['{w}']", policy={"toFieldPath": "AppendArray"})),
    "selector-label": lambda w: one(
        {
            "apiVersion": "compute.gcp.crossplane.io/v1beta1",
            "kind": "Subnetwork",
            "spec": {"forProvider": {"networkSelector": {"matchLabels": {"a": w, w: "b"}}}},
        }
    ),
    "connection-detail": composition,
    "defined-group": lambda w: composition(group=w),
    "defined-kind": lambda w: composition(kind=w),
    "kind": lambda w: one({**BUCKET, "kind": w}),
    "api-version": lambda w: one({**BUCKET, "apiVersion": f"{w}/v1"}),
    "native-value": lambda w: native({"overrideSpecial": w}),
    "native-property": lambda w: native({w: 1}),
    "native-map": lambda w: native({"keepers": {w: w}}),
    "native-item": lambda w: native({}, role={"roles": [w]}),
    "native-type": lambda w: native({}, type=f"random:{w}"),
    "native-package": lambda w: native({}, type=f"{w}:Password"),
    "native-template-name": lambda w: native({}, name=w),
    "native-previous-name": lambda w: native({}, previousName=w),
    "native-text-around": lambda w: native({}, role={"password": f"{w}${{password.result}}{w}"}),
    "native-output": lambda w: native({}, role={"password": f"${{password.{w}}}"}),
    "native-output-key": lambda w: native({}, role={"password": f"${{password.keepers['{w}']}}"}),
    "native-sibling": lambda w: native({}, role={"password": f"${{{w}.result}}"}),
    "native-provider": lambda w: native({}, options={"provider": w}),
    "native-import": lambda w: native({}, options={"import": w}),
    "native-alias": lambda w: native({}, options={"aliases": [w]}),
    "native-ignored": lambda w: native({}, options={"ignoreChanges": [w]}),
    "native-label": lambda w: native({}, labels={w: w}),
    "native-read-path": lambda w: native({}, patches=[patch(f"spec['{w}']", "properties.length")]),
    "native-default": lambda w: native({"overrideSpecial": w}, patches=[patch("spec.a", "properties.overrideSpecial")]),
    "native-written-path": lambda w: native({}, patches=[patch("spec.a", f"properties['{w}']")]),
    "native-written-key": lambda w: native({}, patches=[patch("spec.a", f"properties.keepers['{w}']")]),
    "native-detail": lambda w: native({}, detail={"name": w, "fromFieldPath": "outputs.result"}),
    "native-detail-path": lambda w: native({}, detail={"name": "a", "fromFieldPath": f"outputs.{w}"}),
    "native-detail-setting": lambda w: native({}, detail={"name": "a", "fromConfig": w}),
    "native-detail-value": lambda w: native({}, detail={"name": "a", "value": w}),
    "jinja-text": template("jinja2"),
    "go-text": template("go-sprig"),
}


STRICT = (
    *("connection-detail", "defined-group", "defined-kind", "kind", "api-version"),
    *("native-property", "native-type", "native-package", "native-output", "native-sibling", "native-written-path"),
    *("native-ignored", "native-label", "native-detail-path", "native-output-key"),
)
"""Where only Kubernetes' own names may stand, or those of an SDK."""


def source(classes: list[Data], file: str = "components/x/class.yaml") -> str:
    classes_read = list(catalog_of(classes).classes.values())
    return generate.generate(classes_read, table(), source=file, sdks=index_of)


OF_FIELDS = ("Any", "NotRequired")
"""What is imported for the types of fields only."""
OPTIONS = ("class_ref", "managed", "previous_name", "engine", "text", "fields")


class _Masked(ast.NodeTransformer):
    """The tree without what may differ: the texts of constants, and the names of variables in their order."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("text" if isinstance(node.value, str) else node.value)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        for target in node.targets:
            assert isinstance(target, ast.Name)
            self.names.setdefault(target.id, f"v{len(self.names)}")
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        assert isinstance(node.target, ast.Name)
        if "pulumi.Input[" in ast.unparse(node.annotation):
            return None  # a field of the claim that a patch reads: there only where it is a name of Python's
        self.names.setdefault(node.target.id, f"v{len(self.names)}")
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if ast.unparse(node.func) == "self.child":
            for given in node.keywords:
                given.arg = given.arg and (given.arg if given.arg in OPTIONS else "field")
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = self.names.get(node.attr, node.attr)
        return self.generic_visit(node)


def shape(tree: ast.Module) -> str:
    imported = [a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names if a.name not in OF_FIELDS]
    masked = _Masked().visit(tree)
    for node in ast.walk(masked):
        if isinstance(node, ast.ClassDef):
            node.body = [n for n in node.body if not isinstance(n, ast.Pass)]
        if isinstance(node, ast.ImportFrom):
            node.names = []
    return f"{imported} {ast.dump(masked)}"


def comments(text: str) -> list[str]:
    return [t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT]


def texts(tree: ast.Module) -> list[str]:
    return [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def outcome(place: str, word: str) -> str | EngineError:
    """The component's source, or why there is none."""
    try:
        return source(PLACES[place](word))
    except EngineError as error:
        return error


def peer_of(place: str, word: str) -> str:
    """A harmless word of the same sort: a name, or none."""
    strange = not word.isascii() or not word.isidentifier() or keyword.iskeyword(word) or word.startswith("__")
    name = "Plainword" if word[0].isupper() else "plainword"
    if place == "api-version" and not GroupKind(word, "Bucket").built_in:
        return "plain.word"
    return "plain-word" if strange and place not in STRICT else name


def is_text(code: str, peer: str) -> bool:
    """Whether the source differs from its peer's in texts and names only."""
    tree, other = ast.parse(code), ast.parse(peer)
    refuse_foreign(tree)
    compile(code, "component.py", "exec", dont_inherit=True)
    return shape(tree) == shape(other) and len(comments(code)) == len(comments(peer))


@pytest.mark.parametrize("attempt", ATTEMPTS)
@pytest.mark.parametrize("place", PLACES)
def test_a_text_stays_a_text(place: str, attempt: str) -> None:
    """The class is refused with a way out, or its component has the shape that a harmless word would have given it."""
    word = ATTEMPTS[attempt]
    match outcome(place, word):
        case EngineError() as refused:
            assert all(p.fix for p in refused.problems)
        case code:
            assert is_text(code, source(PLACES[place](peer_of(place, word))))


@pytest.mark.parametrize("attempt", ["expression", "call", "format", "bidi-override", "none", "dunder"])
@pytest.mark.parametrize("place", [p for p in PLACES if p not in STRICT])
def test_what_is_harmless_as_a_text_is_not_refused(place: str, attempt: str) -> None:
    assert isinstance(outcome(place, ATTEMPTS[attempt]), str)


NAMES = ("keyword", "soft-keyword", "self", "super", "imported", "builtin", "none")
"""What may well be the name of something in a cluster."""
KEPT = ["native-value", "native-map", "native-item", "native-default", "native-provider", "native-detail-value"]
KEPT += [
    "value",
    "key",
    "annotation",
    "annotation-key",
    "map-key",
    "map-result",
    "format",
    "separator",
    "template-name",
]


@pytest.mark.parametrize("attempt", ATTEMPTS)
@pytest.mark.parametrize("place", KEPT)
def test_a_text_comes_out_as_it_went_in(place: str, attempt: str) -> None:
    assert ATTEMPTS[attempt] in texts(ast.parse(source(PLACES[place](ATTEMPTS[attempt]))))


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_folder_name_stays_in_its_comment(attempt: str) -> None:
    code = source(one(BUCKET), f"components/{ATTEMPTS[attempt]}/class.yaml")
    assert shape(ast.parse(code)) == shape(ast.parse(source(one(BUCKET))))
    head = code[: code.index('"""Components')]
    assert all(line.startswith("# ") for line in head.splitlines())
    assert comments(code) == head.splitlines()
    assert head.replace("\n", "").isprintable()


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_description_shows_nothing_that_cannot_be_seen(attempt: str) -> None:
    code = source(PLACES["description"](ATTEMPTS[attempt]))
    assert code.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "attempt", ["triple-double", "backslash-at-the-end", "bidi-override", "null", "encoding", "deep"]
)
def test_formatting_changes_no_text(attempt: str) -> None:
    code = source(PLACES["item"](ATTEMPTS[attempt]))
    assert ast.dump(ast.parse(format_source(code))) == ast.dump(ast.parse(code))


@pytest.mark.parametrize("attempt", [a for a in ATTEMPTS if a not in NAMES])
@pytest.mark.parametrize(
    ("change", "path"),
    [
        pytest.param(lambda w: class_data(w), "metadata.name", id="class-name"),
        pytest.param(lambda w: class_data("c", kind=w), "spec.claim.kind", id="claim-kind"),
        pytest.param(lambda w: class_data("c", labels={"a": w}), "metadata.labels", id="class-label"),
    ],
)
def test_names_that_would_be_code_are_refused(change: Callable[[str], Data], path: str, attempt: str) -> None:
    with pytest.raises(EngineError) as caught:
        catalog_of([change(ATTEMPTS[attempt])])
    assert caught.value.problems[0].path == path


@pytest.mark.parametrize(
    "word", ["class", "none", "true", "self", "super", "lookup", "print", "typed-dict", "any", "composite", "9", "a.b"]
)
def test_a_class_may_be_called_like_python_s_words(word: str) -> None:
    tree = ast.parse(source([class_data(word)]))
    refuse_foreign(tree)
    assert len([n for n in tree.body if isinstance(n, ast.ClassDef)]) == 3


def test_the_mask_sees_code() -> None:
    """What these tests compare by tells a text from code."""
    code = source(one({**BUCKET, "spec": {"a": "HERE"}}))
    assert is_text(code.replace("'HERE'", "'x'"), code)
    for hostile in ("open", "('x', 'y')", "5", "{'x': 'y'}", "-1", "'x' % 'y'"):
        assert shape(ast.parse(code.replace("'HERE'", hostile))) != shape(ast.parse(code))
