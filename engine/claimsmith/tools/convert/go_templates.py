"""Opaque templates as a step of the go-templating function.

The function's data is the whole request: the text is put into `with`, so that it goes on reading the composite as it
read the claim. An annotation that is written into the text names the resource. Templates of
other engines cannot be converted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from claimsmith.base.documents import Document
from claimsmith.compose.references import SAME_PARENT
from claimsmith.dialects.common.dialect import Dialect
from claimsmith.dialects.common.klass import Class, Template
from claimsmith.templating import fields_read
from claimsmith.templating.golex import Token, tokens
from claimsmith.templating.problems import Place
from claimsmith.tools.convert import paths
from claimsmith.tools.convert.notes import Notes
from claimsmith.tools.convert.patches import Written

ENGINE = "go-sprig"
NAME = "gotemplating.fn.crossplane.io/composition-resource-name"
_ROOT = ".observed.composite.resource"
_BARE = frozenset({"apiVersion", "kind", "metadata", "spec"})
_META = re.compile(r"^metadata:[ \t]*$", re.MULTILINE)
_SECRET_BLOCK = re.compile(r"^( *)writeConnectionSecretToRef:[ \t]*\n((?:\1[ ]+.*\n?)*)", re.MULTILINE)
_AROUND = re.compile(r"crossplane\.io/external-name-(prefix|suffix)")


def is_text(template: Template) -> bool:
    """Whether a text makes the resource, instead of a base."""
    return template.opaque is not None


def mentions(template: Template, word: str) -> bool:
    """Whether a template's text has a word in it."""
    return template.opaque is not None and word in _spelt(template.opaque.text)


def lacks_secret_name(template: Template) -> bool:
    """Whether a template's text gives the connection Secret a namespace, and no name."""
    found = _SECRET_BLOCK.search(_spelt(template.opaque.text)) if template.opaque else None
    return found is not None and not re.search(r"^\s+name:", found.group(2), re.MULTILINE)


def step(templates: list[str]) -> Written:
    """The step that renders templates."""
    text = "".join(f"---\n{t}" for t in templates)
    return {
        "step": "templates",
        "functionRef": {"name": "function-go-templating"},
        "input": {
            "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
            "kind": "GoTemplate",
            "source": "Inline",
            "inline": {"template": text},
        },
    }


def text_of(template: Template, klass: Class, notes: Notes, document: Document) -> str | None:
    """The text for the function, or None if it cannot be converted."""
    assert template.opaque, "only opaque templates have a text"
    at = f"{template.at}.template"
    engine, text = template.opaque.engine, _spelt(template.opaque.text)
    if engine != ENGINE:
        what = f"{template.name!r} is a template of {engine}, for which there is no Crossplane function"
        notes.leave_out(document, at, what, "write it as a base with patches, or as a go-sprig template")
        return None
    problem = _problem(text, klass.dialect)
    if problem:
        notes.leave_out(document, f"{at}.source.inline", f"the template of {template.name!r} {problem[0]}", problem[1])
        return None
    if "metadata.uid" in fields_read(engine, text):
        what = f"the template of {template.name!r} reads metadata.uid: in Crossplane that is the uid of the composite"
        notes.differ(document, f"{at}.source.inline", what, "nothing, if any unique text will do")
    body = _annotated(_rooted(text), template.name)
    return f"{{{{- with {_ROOT} }}}}\n{body.rstrip()}\n{{{{- end }}}}\n"


def _spelt(text: str) -> str:
    """The text with Crossplane's names for the fields that the formats name differently."""
    text = text.replace("writeConnectionSecretsToRef:", "writeConnectionSecretToRef:")
    return re.sub(rf"\b({'|'.join(SAME_PARENT)}):", "matchControllerRef:", text)


def _problem(text: str, dialect: Dialect) -> tuple[str, str] | None:
    """Why a text cannot be converted, and the fix."""
    if _AROUND.search(text):
        return "gives its external name a prefix or suffix, which Crossplane does not join", "write a base"
    if "matchClassRef" in text:
        return "selects by class; Crossplane selectors know labels only", "match labels"
    head = re.search(r"^metadata:(.*)$", text, re.MULTILINE)
    if head and head.group(1).strip():
        return "writes its metadata on one line, so that no annotation can be added", "write it on several lines"
    block = _block(text)
    if re.search(rf"^{_indent(block)}(name|namespace|generateName):", block, re.MULTILINE):
        return "names its resource, which is ignored here but not in Crossplane", "remove the name"
    if "{{" in block and re.search(r"\{\{-?\s*(if|range|with|end|else)\b", block):
        return "has conditions in its metadata, so that no annotation can be added", "write the metadata plainly"
    for read in fields_read(ENGINE, text):
        found = paths.read(read, dialect, None)
        if not found.path:
            return f"reads {read}: {found.why}", "read a field of the spec, or a label or annotation"
    return None


def _block(text: str) -> str:
    """The lines of the metadata, without their first."""
    found = _META.search(text)
    if not found:
        return ""
    lines = text[found.end() + 1 :].splitlines(keepends=True)
    end = next((i for i, line in enumerate(lines) if line.strip() and not line.startswith(" ")), len(lines))
    return "".join(lines[:end])


def _indent(block: str) -> str:
    """How far the lines of a block are indented."""
    first = re.match(r"\s*?( +)\S", block)
    return first.group(1) if first else "  "


def _rooted(text: str) -> str:
    """The text with its root where the function has it, and the claim's own fields where a composite has them."""
    listed = [t for t in tokens(Place(text, "template")) if t.kind != "text"]
    parts: list[str] = []
    done = 0
    for index, (token, rooted) in enumerate(_with_roots(listed)):
        changed = _changed(listed, index, rooted=rooted)
        if changed is not None:
            parts += [text[done : token.pos], changed]
            done = token.pos + len(token.text)
    return "".join([*parts, text[done:]])


def _with_roots(listed: list[Token]) -> Iterator[tuple[Token, bool]]:
    """Each token, and whether a dot means the root of the data there: inside `range` and `with` it does not."""
    rooted = [True]
    word = ""
    for token in listed:
        yield token, rooted[-1]
        if token.kind == "open":
            word = ""
        elif token.kind == "word" and not word:
            word = token.text
        elif token.kind != "space" and not word:
            word = "-"
        elif token.kind == "close" and word in ("if", "range", "with"):
            rooted.append(rooted[-1] and word == "if")
        elif token.kind == "close" and word == "else" and len(rooted) > 1:
            rooted[-1] = rooted[-2]
        elif token.kind == "close" and word == "end" and len(rooted) > 1:
            rooted.pop()


def _changed(listed: list[Token], index: int, *, rooted: bool) -> str | None:
    token = listed[index]
    before = listed[index - 1] if index else Token("", "", 0)
    after = listed[index + 1] if index + 1 < len(listed) else Token("", "", 0)
    joined = before.kind in ("field", "right") or (before.kind == "variable" and before.text != "$")
    if token.kind == "word" and token.text in _BARE:
        return f"{'' if rooted else f'${_ROOT}'}.{_moved(token.text, after)}"
    if token.kind == "variable" and token.text == "$":
        return f"${_ROOT}"
    if token.kind == "field" and token.text == ".metadata" and not joined and (rooted or before.text == "$"):
        return f".{_moved('metadata', after)}"
    return None


def _moved(word: str, after: Token) -> str:
    """Where a composite has its claim's name and namespace."""
    named = after.kind == "field" and after.text in (".name", ".namespace")
    return "spec.claimRef" if word == "metadata" and named else word


def _annotated(text: str, name: str) -> str:
    """The text with the annotation that names the resource among its siblings."""
    block = _block(text)
    indent = _indent(block)
    line = f"{indent * 2}{NAME}: {json.dumps(name)}\n"
    meta = _META.search(text)
    if meta is None:
        kind = re.search(r"^kind:.*\n", text, re.MULTILINE)
        assert kind, "every template has a literal kind"
        return f"{text[: kind.end()]}metadata:\n{indent}annotations:\n{line}{text[kind.end() :]}"
    annotations = re.search(rf"^{indent}annotations:[ \t]*\n", block, re.MULTILINE)
    at = meta.end() + 1 + (annotations.end() if annotations else 0)
    head = "" if annotations else f"{indent}annotations:\n"
    return f"{text[:at]}{head}{line}{text[at:]}"
