"""Opaque templates of composite classes: a text in a template language instead of a base and patches."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import model_validator

from claimsmith import templating
from claimsmith.base.documents import Document
from claimsmith.base.errors import ModelError, Problem
from claimsmith.base.model import Model
from claimsmith.dialects.common.klass import Opaque

_HEAD = re.compile(r"^(apiVersion|kind):[ \t]*[\"']?([A-Za-z0-9./-]+)[\"']?[ \t]*$", re.MULTILINE)


class _Source(Model):
    type: Literal["inline"]
    inline: str


class OpaqueTemplate(Model):
    """`template` of a resource."""

    engine: str
    source: _Source

    @model_validator(mode="after")
    def _known(self) -> OpaqueTemplate:
        if self.engine not in templating.ENGINES:
            raise ValueError(f"the engine {self.engine!r} is unknown; fix: use one of: {', '.join(templating.ENGINES)}")
        head = dict(_HEAD.findall(self.source.inline))
        missing = [key for key in ("apiVersion", "kind") if key not in head]
        if missing:
            what = f"the template has no literal {missing[0]}"
            raise ValueError(f"{what}; fix: begin it with apiVersion: and kind:, without anything to fill in")
        return self

    def opaque(self) -> Opaque:
        """The template as a class keeps it."""
        return Opaque(self.engine, self.source.inline)

    def base(self) -> dict[str, Any]:
        """What is known of the document before there is a claim: its apiVersion and kind."""
        head = dict(_HEAD.findall(self.source.inline))
        return {"apiVersion": head["apiVersion"], "kind": head["kind"]}


def check(template: OpaqueTemplate, document: Document, at: str) -> list[Problem]:
    """Warnings about the text; what is wrong with it is raised, with the line in the class."""
    found = templating.check(template.engine, template.source.inline)
    lines = [f.where.line if f.where else 1 for f in found]
    placed = [
        (f.severity, document.problem(f"template, line {line}: {f.what}", f"{at}.template.source.inline", f.fix))
        for f, line in zip(found, lines, strict=True)
    ]
    wrong = [problem for severity, problem in placed if severity == "error"]
    if wrong:
        raise ModelError(*wrong)
    return [problem for _, problem in placed]
