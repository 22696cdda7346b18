"""One template of a class as an entry of the patch-and-transform function's `Resources`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from claimsmith import fieldpath
from claimsmith.catalog import Catalog
from claimsmith.compose.identity import label_value
from claimsmith.connection import PREFIX
from claimsmith.convert import external, instances, texts
from claimsmith.convert import patches as patching
from claimsmith.convert.keys import keys_of
from claimsmith.convert.patches import Place, Written
from claimsmith.convert.said import Said
from claimsmith.convert.selectors import CLASS, Selectors
from claimsmith.documents import Document
from claimsmith.models.definition import Definition
from claimsmith.models.klass import Class, Detail, Parent, Patch, Template
from claimsmith.models.workload import APPLICATION
from claimsmith.values import copied, object_at

_SECRET = "writeConnectionSecretToRef"
_SECRET_NAME = ("spec", _SECRET, "name")
_ALWAYS = (("metadata", "uid"), ("metadata", "name"))
_NAMESPACE = ("spec", _SECRET, "namespace")
_WHOLE = (("spec",), ("spec", _SECRET))


@dataclass(frozen=True, slots=True)
class Resources:
    """Converts the templates of one class."""

    klass: Class
    catalog: Catalog
    selectors: Selectors
    said: Said

    def entry(self, template: Template) -> Written:
        """The template in today's words; what it patches in addition comes first or last, as it counts."""
        template = patching.readable(template, self.said, document_of(template, self.klass))
        place = self._place(template)
        made = texts.is_text(template)
        named = external.of(dict(object_at(object_at(template.base, "metadata"), "annotations")), template.patches)
        given = list(self._patches(place))
        around = [external.between(named, p, w) for p, w in given if not external.writes_around(p)]
        patches = [
            *self._secret_patches(place),
            *around,
            *external.patches(named, place, self.said, given),
        ]
        details = self._details(place)
        return {
            "name": template.name,
            **({"previousName": template.previous_name} if template.previous_name else {}),
            **({} if made else {"base": self._base(place, named.base)}),
            **({"patches": patches} if patches else {}),
            **({"connectionDetails": details} if details else {}),
            **({} if template.managed or template.composite else {"readinessChecks": [{"type": "None"}]}),
        }

    def _place(self, template: Template) -> Place:
        reads = self.catalog.defined(self.klass.serves)
        writes = self.catalog.defined(template.group_kind)
        document = document_of(template, self.klass)
        return Place(self.klass, template, document, reads and reads[0], writes and writes[0])

    def _patches(self, place: Place) -> list[tuple[Patch, Written]]:
        found = []
        for given in patching.in_force(place.template, self.said, place.document):
            written = patching.converted(place, given, self.said)
            if written:
                found.append((given, written))
        return found

    def _base(self, place: Place, annotations: dict[str, Any]) -> dict[str, Any]:
        template = place.template
        self._note(place)
        base: dict[str, Any] = copied(dict(template.base))
        labels = dict(object_at(object_at(base, "metadata"), "labels"))
        if template.name in self.selectors.labelled:
            labels[CLASS] = label_value(str((template.class_ref or {}).get("name", "")))
        # The prefix of a Secret's keys is in the names of the connection details.
        annotations = {k: v for k, v in annotations.items() if k != PREFIX}
        metadata = {**({"labels": labels} if labels else {}), **({"annotations": annotations} if annotations else {})}
        rest = {k: v for k, v in base.items() if k not in ("apiVersion", "kind", "metadata")}
        if "spec" in rest:
            rest["spec"] = self._spec(rest["spec"], place, place.writes)
        head = {"apiVersion": base["apiVersion"], "kind": base["kind"]}
        return {**head, **({"metadata": metadata} if metadata else {}), **rest}

    def _spec(self, spec: Any, place: Place, defined: Definition | None) -> Any:
        at = place.template.spec_at
        if defined:
            return instances.spec_of(spec, defined, self.said, document=place.document, at=at)
        return self.selectors.turned(place.template, place.document, spec, ("spec",))

    def _note(self, place: Place) -> None:
        template = place.template
        policy = object_at(template.base, "spec").get("reclaimPolicy")
        if policy not in (None, "Delete") and not template.composite:
            what = f"the reclaimPolicy {policy!r} of {template.name!r} stands in its spec as it is"
            at = template.place_of("spec.reclaimPolicy")
            self.said.differ(place.document, at, what, "a provider of today calls it deletionPolicy: Orphan")
        if template.group_kind == APPLICATION:
            what = f"{template.name!r} is a {APPLICATION}, which nothing of today's Crossplane schedules"
            self.said.leave_out(place.document, template.at, what, "compose an Object or Release of a provider instead")

    def _secret_patches(self, place: Place) -> list[Written]:
        """The name of a connection Secret that the base gives a namespace only: it is the resource's own there."""
        template = place.template
        if texts.is_text(template):
            return [_named(template)] if texts.lacks_secret_name(template) else []
        secret = object_at(object_at(template.base, "spec"), _SECRET)
        namers = [p for p in template.patches if fieldpath.parse(p.to) == _SECRET_NAME]
        if place.writes is not None or secret.get("name") or any(_applies(p) for p in namers):
            return []
        whole = [p for p in template.patches if fieldpath.parse(p.to) in _WHOLE]
        if secret.get("namespace") and not whole:
            return [_named(template)]
        moving = next((p for p in template.patches if p in whole or fieldpath.parse(p.to) == _NAMESPACE), None)
        if moving:
            what = f"the connection Secret of {template.name!r} is named after a resource that has no name yet"
            self.said.leave_out(place.document, moving.at, what, "give the Secret's namespace in the base")
        return []

    def _details(self, place: Place) -> list[Written]:
        template = place.template
        prefix = str(object_at(object_at(template.base, "metadata"), "annotations").get(PREFIX, ""))
        if template.details is not None:
            return [_detail(d, prefix) for d in template.details]
        writes = _SECRET in object_at(template.base, "spec") or texts.mentions(template, _SECRET)
        if not writes or self.klass.parent is Parent.instance:
            return []
        listed = keys_of(template.group_kind, self.catalog.bindable)
        what = f"{template.name!r} passes on every key of its connection Secret; there, these: {', '.join(listed)}"
        self.said.differ(place.document, template.at, what, "list what its provider really writes")
        return [_detail(Detail(key, key), prefix) for key in listed]


def _applies(patch: Patch) -> bool:
    """Whether a patch writes something whatever the claim says."""
    return patch.required or all(fieldpath.parse(read) in _ALWAYS for read in patch.reads)


def _named(template: Template) -> Written:
    to = fieldpath.to_text(_SECRET_NAME)
    return patching.patch("metadata.uid", to, patching.formatted(f"%s-{template.name.replace('%', '%%')}"))


def _detail(detail: Detail, prefix: str) -> Written:
    return {
        "type": "FromConnectionSecretKey",
        "name": f"{prefix}{detail.name}",
        "fromConnectionSecretKey": detail.key,
    }


def document_of(template: Template, klass: Class) -> Document:
    """The document that a template stands in."""
    return template.document or klass.document
