"""Custom resource definitions as data: permissive ones for kinds that come without any, and many merged into few.

Takes group, version and kind, or definitions; returns definitions (apiextensions.k8s.io/v1). Reads no file
and talks to no cluster.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from typing import Any

from claimsmith.base.documents import Document
from claimsmith.base.errors import ModelError, Problem
from claimsmith.base.names import GroupKind

Crd = dict[str, Any]

MANAGED = "managed"
"""The category by which Crossplane's providers mark the kinds that they manage."""

PERMISSIVE = "claimsmith.io/permissive"
"""The annotation of a definition that accepts anything, generated because the project has no real one."""

_UNCHANGED = frozenset({"endpoints", "redis", "kubernetes", "metadata", "data"})
_SIBILANT = ("s", "x", "z", "ch", "sh")
_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
_COLUMNS = (
    ("Ready", "string", ".status.conditions[?(@.type=='Ready')].status"),
    ("Synced", "string", ".status.conditions[?(@.type=='Synced')].status"),
    ("External-Name", "string", ".metadata.annotations.crossplane\\.io/external-name"),
    ("Age", "date", ".metadata.creationTimestamp"),
)


def kind_of(crd: Mapping[str, Any]) -> GroupKind:
    """The kind that a definition defines."""
    spec = crd.get("spec") or {}
    return GroupKind(str(spec.get("group", "")), str((spec.get("names") or {}).get("kind", "")))


def plural_of(kind: str) -> str:
    """The plural that Kubernetes' generators would most likely use for a kind: `policies` for `Policy`."""
    word = kind.lower()
    if word in _UNCHANGED:
        return word
    if word.endswith(_SIBILANT):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"


def permissive_crd(api_version: str, kind: str, *, namespaced: bool, managed: bool, plural: str | None = None) -> Crd:
    """A definition of one kind that keeps every field.

    A managed kind has the category, status subresource and columns of providers' definitions. Any other kind is a
    record that is written whole, so its status is a plain field: a status subresource would drop it from each write.
    """
    group, version = _split(api_version, kind)
    plural = plural or plural_of(kind)
    names: dict[str, Any] = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    served: dict[str, Any] = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    if managed:
        names["categories"] = [MANAGED]
        served["subresources"] = {"status": {}}
        served["additionalPrinterColumns"] = [{"name": n, "type": t, "jsonPath": p} for n, t, p in _COLUMNS]
    annotations = {PERMISSIVE: "true"}
    if group.endswith((".k8s.io", ".kubernetes.io")):
        # The API server refuses these groups otherwise.
        annotations["api-approved.kubernetes.io"] = "unapproved, for local use"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}", "annotations": annotations},
        "spec": {
            "group": group,
            "names": names,
            "scope": "Namespaced" if namespaced else "Cluster",
            "versions": [served],
        },
    }


def merge_crds(crds: Iterable[Crd]) -> list[Crd]:
    """One definition for each group and kind, by group and plural.

    Versions are joined, one of them stored. A real definition wins over a permissive one, whatever their order;
    among equals the later wins. Versions that only a permissive one knows stay, and are served beside the real ones.
    """
    by_kind: dict[tuple[str, str], list[Crd]] = {}
    for crd in crds:
        by_kind.setdefault((crd["spec"]["group"], crd["spec"]["names"]["kind"]), []).append(crd)
    merged = [_merge(same) for same in by_kind.values()]
    return sorted(merged, key=lambda crd: (crd["spec"]["group"], crd["spec"]["names"]["plural"]))


def without_webhook(crd: Crd) -> Crd:
    """The definition with no conversion webhook: a control plane of one's own has nobody to serve it."""
    if crd["spec"].get("conversion", {}).get("strategy") != "Webhook":
        return crd
    return {**crd, "spec": {**crd["spec"], "conversion": {"strategy": "None"}}}


def refuse_unsound(document: Document) -> None:
    """Refuse a definition whose kind cannot be read."""
    spec = document.data.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    names = spec.get("names") if isinstance(spec.get("names"), dict) else {}
    versions = spec.get("versions", [{"name": spec.get("version")}])
    named = isinstance(versions, list) and all(isinstance(v, dict) and isinstance(v.get("name"), str) for v in versions)
    wanted = {
        "spec.group": isinstance(spec.get("group"), str),
        "spec.names.kind": isinstance(names, dict) and isinstance(names.get("kind"), str),
        "spec.names.plural": isinstance(names, dict) and isinstance(names.get("plural"), str),
        "spec.versions": bool(versions) and named,
    }
    missing = [path for path, there in wanted.items() if not there]
    if missing:
        what = f"the definition has no {missing[0]}"
        raise ModelError(document.problem(what, missing[0], "write it as kubectl get crd NAME -o yaml shows it"))


def is_managed(crd: Crd) -> bool:
    """Whether a definition's instances represent things outside the cluster."""
    return MANAGED in ((crd.get("spec") or {}).get("names") or {}).get("categories", ())


def is_permissive(crd: Crd) -> bool:
    """Whether a definition was generated because the project has no real one."""
    return bool(crd["metadata"].get("annotations", {}).get(PERMISSIVE) == "true")


def is_established(crd: Crd) -> bool:
    """Whether a definition that was read from a cluster is in force there."""
    conditions = crd.get("status", {}).get("conditions") or ()
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)


def version_rank(name: str) -> tuple[int, int, int, str]:
    """A key that puts API versions in Kubernetes' order, the most stable last."""
    match = _VERSION.fullmatch(name)
    if match is None:
        return (-1, 0, 0, name)
    major, stage, minor = match.groups()
    return ({"alpha": 0, "beta": 1, None: 2}[stage], int(major), int(minor or 0), name)


def _merge(same: list[Crd]) -> Crd:
    ranked = sorted(same, key=lambda crd: not is_permissive(crd))  # stable: permissive ones first, real ones last
    result = copy.deepcopy(ranked[-1])
    versions: dict[str, dict[str, Any]] = {}
    for crd in ranked:
        versions.update({v["name"]: copy.deepcopy(v) for v in crd["spec"]["versions"]})
    own = {v["name"]: v for v in result["spec"]["versions"]}
    stored = next((n for n, v in own.items() if v.get("storage")), max(own, key=version_rank))
    if is_permissive(result):
        stored = max(versions, key=version_rank)
    for name, version in versions.items():
        version["storage"] = name == stored
    if versions.keys() - own.keys():
        # A webhook converts only the versions that it knows.
        result["spec"].pop("conversion", None)
    result["spec"]["versions"] = [versions[n] for n in sorted(versions, key=version_rank)]
    categories = dict.fromkeys(c for crd in ranked for c in crd["spec"]["names"].get("categories", ()))
    if categories:
        result["spec"]["names"]["categories"] = sorted(categories)
    result.pop("status", None)
    return result


def _split(api_version: str, kind: str) -> tuple[str, str]:
    group, _, version = api_version.partition("/")
    if not version or "." not in group:
        what = f"kind {kind!r} of apiVersion {api_version!r} cannot be defined by a custom resource definition"
        fix = "use a group with a dot in it and a version, as in database.example.org/v1alpha1"
        raise ModelError(Problem(what, path="apiVersion", fix=fix))
    return group, version
