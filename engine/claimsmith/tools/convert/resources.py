"""One template of a class as an entry of the patch-and-transform function's `Resources`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.merge import MergePolicy
from claimsmith.base.names import GroupKind
from claimsmith.base.values import copied, object_at
from claimsmith.compose.connections import PREFIX
from claimsmith.compose.references import SAME_PARENT, Table
from claimsmith.dialects.common.bindable import Bindable
from claimsmith.dialects.common.dialect import label_value
from claimsmith.dialects.common.klass import Class, Detail, Patch, Template
from claimsmith.dialects.definitions import Definition
from claimsmith.dialects.workloads.reading import APPLICATION
from claimsmith.platform.catalog import Catalog
from claimsmith.tools.convert import claims, external_names, go_templates
from claimsmith.tools.convert import patches as patching
from claimsmith.tools.convert.notes import Notes
from claimsmith.tools.convert.patches import Place, Written

ALL = ("username", "password", "endpoint", "port", "clusterCA", "clientCert", "clientKey", "token", "kubeconfig")
_DATABASE = ("username", "password", "endpoint", "port")
_CLUSTER = ("username", "password", "endpoint", "clusterCA", "clientCert", "clientKey", "kubeconfig")
_RELIED_ON = {
    "MySQLInstance.database.crossplane.io": _DATABASE,
    "PostgreSQLInstance.database.crossplane.io": _DATABASE,
    "RedisCluster.cache.crossplane.io": ("password", "endpoint", "port"),
    "KubernetesCluster.compute.crossplane.io": _CLUSTER,
    "Bucket.storage.crossplane.io": ("username", "password", "endpoint"),
}


def keys_of(kind: GroupKind, bindable: Bindable) -> tuple[str, ...]:
    """The connection keys to list for a kind of resource, since compositions cannot pass on all of them.

    What a kind writes is unknown, but what it serves is not: applications rely on the keys of each portable kind of
    claim. For other kinds, all keys are listed that the providers' runtime has a name for.
    """
    if bindable.is_cluster(kind):
        return _CLUSTER
    claims = [str(claim) for claim in bindable.claims_for(kind)]
    return next((_RELIED_ON[claim] for claim in claims if claim in _RELIED_ON), ALL)


CLASS = "claimsmith.io/class"
"""The label with the class of a resource, where a selector needs it."""
_SAME_CONTROLLER = "matchControllerRef"


@dataclass(slots=True)
class Selectors:
    """Converts the selectors of one class's templates, and collects the templates that need a label."""

    templates: Sequence[Template]
    table: Table
    notes: Notes
    labelled: set[str] = field(default_factory=set)

    def converted(self, template: Template, document: Document, value: Any, path: fieldpath.Path) -> Any:
        """A part of a base with Crossplane selectors; `path` is its place in the base."""
        match value:
            case list():
                return [self.converted(template, document, item, (*path, i)) for i, item in enumerate(value)]
            case dict():
                return {
                    key: self._selector(template, document, key, item, (*path, key))
                    if _is_selector(key, item)
                    else self.converted(template, document, item, (*path, key))
                    for key, item in value.items()
                }
            case _:
                return value

    def _selector(
        self, template: Template, document: Document, key: str, given: dict[str, Any], path: fieldpath.Path
    ) -> dict[str, Any]:
        siblings = any(given.get(word) is True for word in SAME_PARENT)
        kept = {k: v for k, v in given.items() if k not in (*SAME_PARENT, "matchClassRef")}
        selector = {**({_SAME_CONTROLLER: True} if siblings else {}), **kept}
        name = str((given.get("matchClassRef") or {}).get("name", ""))
        if not name:
            return selector
        if not siblings:
            what = f"{key} of {template.name!r} selects by class among all resources; Crossplane selects by labels only"
            at = template.place_of(fieldpath.to_text(path))
            self.notes.leave_out(document, at, what, "label the resources of the class, and match these labels")
            return selector
        targets = self.table.get(template.group_kind, {}).get(key.removesuffix("Selector"), ())
        if len(self._fitting(template, targets)) > 1:
            meant = [t for t in self._fitting(template, targets) if (t.class_ref or {}).get("name") == name]
            self.labelled |= {t.name for t in meant}
            selector["matchLabels"] = {**(selector.get("matchLabels") or {}), CLASS: label_value(name)}
        return selector

    def _fitting(self, template: Template, targets: Sequence[GroupKind]) -> list[Template]:
        return [t for t in self.templates if t.group_kind in targets and t.name != template.name]


def _is_selector(key: str, value: Any) -> bool:
    return (
        key.endswith("Selector")
        and isinstance(value, dict)
        and any(word in value for word in (*SAME_PARENT, "matchClassRef"))
    )


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
    notes: Notes

    def entry(self, template: Template) -> Written:
        """The entry for the template; the patches that it adds come first or last, as their effect requires."""
        template = _naming_its_secret(patching.readable(template, self.notes, document_of(template, self.klass)))
        place = self._place(template)
        templated = go_templates.is_text(template)
        annotations = dict(object_at(object_at(template.base, "metadata"), "annotations"))
        named = external_names.of(annotations, template.patches)
        given = list(self._patches(place))
        around = [external_names.between(named, p, w) for p, w in given if not external_names.writes_around(p)]
        patches = [*self._secret_patches(place), *around, *external_names.patches(named, place, self.notes, given)]
        details = self._details(place)
        return {
            "name": template.name,
            **({"previousName": template.previous_name} if template.previous_name else {}),
            **({} if templated else {"base": self._base(place, named.base)}),
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
        for given in patching.in_force(place.template, self.notes, place.document):
            written = patching.converted(place, given, self.notes)
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
        metadata = {
            # A namespace that does not count was left out when the base was read.
            **{key: base["metadata"][key] for key in ("namespace",) if object_at(base, "metadata").get(key)},
            **({"labels": labels} if labels else {}),
            **({"annotations": annotations} if annotations else {}),
        }
        rest = {k: v for k, v in base.items() if k not in ("apiVersion", "kind", "metadata")}
        if "spec" in rest:
            rest["spec"] = self._spec(rest["spec"], place, place.writes)
        head = {"apiVersion": base["apiVersion"], "kind": base["kind"]}
        return {**head, **({"metadata": metadata} if metadata else {}), **rest}

    def _spec(self, spec: Any, place: Place, defined: Definition | None) -> Any:
        at = place.template.spec_at
        if defined:
            return claims.spec_of(spec, defined, self.notes, document=place.document, at=at)
        return self.selectors.converted(place.template, place.document, spec, ("spec",))

    def _note(self, place: Place) -> None:
        template = place.template
        policy = object_at(template.base, "spec").get("reclaimPolicy")
        if policy not in (None, "Delete") and not template.composite:
            what = f"the reclaimPolicy {policy!r} of {template.name!r} is kept in its spec"
            at = template.place_of("spec.reclaimPolicy")
            self.notes.differ(place.document, at, what, "current providers call it deletionPolicy: Orphan")
        if template.group_kind == APPLICATION:
            what = f"{template.name!r} is a {APPLICATION}, which Crossplane does not schedule"
            fix = "compose an Object or Release of a provider instead"
            self.notes.leave_out(place.document, template.at, what, fix)

    def _secret_patches(self, place: Place) -> list[Written]:
        """The name of a connection Secret that the base gives a namespace only: it is the resource's own there."""
        template = place.template
        if go_templates.is_text(template):
            return [_named(template)] if go_templates.lacks_secret_name(template) else []
        secret = object_at(object_at(template.base, "spec"), _SECRET)
        namers = [p for p in template.patches if fieldpath.parse(p.to) == _SECRET_NAME]
        if place.writes is not None or secret.get("name") or any(_applies(p) for p in namers):
            return []
        if len(namers) > 1 and (merging := next((p for p in namers if p.policy is not MergePolicy.Replace), None)):
            what = (
                f"several patches of {template.name!r} name its connection Secret, and one keeps what is there already"
            )
            self.notes.leave_out(place.document, merging.at, what, "leave out the policy toFieldPath of that patch")
        whole = [p for p in template.patches if fieldpath.parse(p.to) in _WHOLE]
        if secret.get("namespace") and not whole:
            return [_named(template)]
        moving = next((p for p in template.patches if p in whole or fieldpath.parse(p.to) == _NAMESPACE), None)
        if moving:
            what = f"the connection Secret of {template.name!r} is named after a resource that has no name yet"
            self.notes.leave_out(place.document, moving.at, what, "give the Secret's namespace in the base")
        return []

    def _details(self, place: Place) -> list[Written]:
        template = place.template
        prefix = str(object_at(object_at(template.base, "metadata"), "annotations").get(PREFIX, ""))
        if template.details is not None:
            return [_detail(d, prefix) for d in template.details]
        writes = _SECRET in object_at(template.base, "spec") or go_templates.mentions(template, _SECRET)
        if not writes or self.klass.dialect.is_composite:
            return []
        listed = keys_of(template.group_kind, self.catalog.bindable)
        what = f"{template.name!r} passes on every key of its connection Secret; converted are: {', '.join(listed)}"
        self.notes.differ(place.document, template.at, what, "list the keys that its provider writes")
        return [_detail(Detail(key, key), prefix) for key in listed]


def _naming_its_secret(template: Template) -> Template:
    """The template whose only patch of the Secret's name replaces it, whatever its policy is.

    A merge keeps what is there. In the class that is nothing; in the composition the generated name comes first.
    """
    namers = [p for p in template.patches if fieldpath.parse(p.to) == _SECRET_NAME]
    if len(namers) != 1 or object_at(object_at(template.base, "spec"), _SECRET).get("name"):
        return template
    patches = tuple(replace(p, policy=MergePolicy.Replace) if p in namers else p for p in template.patches)
    return replace(template, patches=patches)


def _applies(patch: Patch) -> bool:
    """Whether a patch writes something whatever the claim has."""
    return patch.required or all(fieldpath.parse(read) in _ALWAYS for read in patch.reads)


def _named(template: Template) -> Written:
    to = fieldpath.to_text(_SECRET_NAME)
    return patching.patch("metadata.uid", to, patching.formatted(f"%s-{template.name.replace('%', '%%')}"))


def _detail(detail: Detail, prefix: str) -> Written:
    name = f"{prefix}{detail.name}"
    return {"type": "FromConnectionSecretKey", "name": name, "fromConnectionSecretKey": detail.key}


def document_of(template: Template, klass: Class) -> Document:
    """The document that contains a template."""
    return template.document or klass.document
