"""`forEach` and `when` of a template in its component: a plain `for` and a plain `if` around its call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from claimsmith.base import fieldpath
from claimsmith.dialects.common.klass import Class, Loop, Patch, Template
from claimsmith.dialects.common.loops import is_path
from claimsmith.generate.expression import Expression, Reader, field_of, identifier, read_of


@dataclass(frozen=True, slots=True)
class Loops:
    """The variables that hold the elements of a class's loops; templates with equal loops share one."""

    elements: Mapping[Loop, str]

    @classmethod
    def of(cls, klass: Class, free: Callable[[str], str]) -> Loops:
        """The loops of a class; `free` turns a wanted name into one that is not taken."""
        listed = dict.fromkeys(t.loop for t in klass.templates if t.loop)
        return cls({loop: free(identifier(loop.each)) for loop in listed})

    def name(self, template: Template, name: str) -> str:
        """The expression for the name of a child: that of its template, or of its template for one element."""
        return f"{self.elements[template.loop]}.child({name!r})" if template.loop else repr(name)

    def known_as(self, template: Template) -> str:
        """The expression for what a child may have been: names of templates, each with its type if that was another."""
        pairs = [f"({self.name(template, k.name)}, {k.type!r})" for k in template.known_as]
        return f"[{', '.join(pairs)}]" if pairs else ""

    def variable(self, template: Template, variable: str) -> str:
        """The expression for a child by its variable; siblings of one element find each other by its key."""
        return f"{variable}[{self.elements[template.loop]}.key]" if template.loop else variable

    def reader(self, template: Template, outer: Reader) -> Reader:
        """How the patches of a template read their sources: fields of the element, and all that others read."""
        loop = template.loop
        if loop is None:
            return outer

        def read(patch: Patch, path: str) -> Expression:
            return self._of_element(loop, path) or outer(patch, path)

        return read

    def headers(self, template: Template) -> list[Expression]:
        """The lines that open the blocks around a template's call, the outer one first."""
        lines = []
        if template.loop:
            loop = template.loop
            key = f", key={loop.key!r}" if loop.key else ""
            lines.append(Expression(f"for {self.elements[loop]} in self.each({loop.path!r}{key}):"))
        if template.when:
            condition = self._condition(template)
            lines.append(Expression(f"if {condition.code}:", condition.uses))
        return lines

    def _condition(self, template: Template) -> Expression:
        if is_path(template.when):
            element = self._of_element(template.loop, template.when) if template.loop else None
            value = element or read_of(template.when)
            return Expression(f"is_set({value.code})", value.uses | {"is_set"})
        element_of = {template.loop.each: self.elements[template.loop]} if template.loop else {}
        more = "".join(f", {each}={variable}.value" for each, variable in element_of.items())
        return Expression(f"self.holds({template.when!r}{more})")

    def _of_element(self, loop: Loop, path: str) -> Expression | None:
        """A field of the element that a template is for; None for any other field."""
        match fieldpath.parse(path):
            case (first,) if first == loop.each:
                return Expression(f"{self.elements[loop]}.value", may_be_absent=False)
            case (first, *rest) if first == loop.each:
                return field_of(f"{self.elements[loop]}.value", fieldpath.to_text(rest))
            case _:
                return None


def reads_element(template: Template, patch: Patch) -> bool:
    """Whether a patch reads the element of its template's loop: its value differs from child to child."""
    return template.loop is not None and any(fieldpath.parse(p)[:1] == (template.loop.each,) for p in patch.reads)
