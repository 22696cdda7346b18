"""Permissions that widen: roles whose rules grow, bindings that reach further."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from claimsmith.base.names import GroupKind

RBAC = "rbac.authorization.k8s.io"
_ANY = "*"

Right = tuple[str, str, str, str]
"""Group, resource, verb, and the name of the one object that it is for; empty for all. Of a URL: the URL first."""


def widened(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> list[str]:
    """What an RBAC object allows that it did not allow before, as text; nothing for other kinds."""
    kind = GroupKind.of(dict(new))
    if kind.group != RBAC:
        return []
    if kind.kind in ("Role", "ClusterRole"):
        before = list(_rights(old or {}))
        return [_text(r) for r in dict.fromkeys(_rights(new)) if not any(_covers(b, r) for b in before)]
    if kind.kind in ("RoleBinding", "ClusterRoleBinding"):
        return list(_bound(old or {}, new))
    return []


_POWERFUL_ROLES = ("cluster-admin", "admin", "edit")
_ESCALATING = ("escalate", "bind", "impersonate")


def powers(document: Mapping[str, Any]) -> list[str]:
    """The permissions of an RBAC object that amount to everything: reported even if the object is new."""
    kind = GroupKind.of(dict(document))
    if kind.group != RBAC:
        return []
    if kind.kind in ("RoleBinding", "ClusterRoleBinding"):
        role = (document.get("roleRef") or {}).get("name")
        return list(_bound({}, document)) if role in _POWERFUL_ROLES else []
    return [_text(r) for r in dict.fromkeys(_rights(document)) if _ANY in r[:3] or r[2] in _ESCALATING]


def _bound(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    role = new.get("roleRef") or {}
    moved = role != (old.get("roleRef") or {})
    before = [] if moved else [_subject(s) for s in old.get("subjects") or ()]
    for subject in new.get("subjects") or ():
        if _subject(subject) not in before:
            yield f"{_subject(subject)} gets {role.get('kind')} {role.get('name')}"


def _subject(subject: Mapping[str, Any]) -> str:
    place = f"{subject['namespace']}/" if subject.get("namespace") else ""
    return f"{subject.get('kind')} {place}{subject.get('name')}"


def _rights(role: Mapping[str, Any]) -> Iterator[Right]:
    for rule in role.get("rules") or ():
        verbs = rule.get("verbs") or ()
        groups, resources = rule.get("apiGroups") or (), rule.get("resources") or ()
        for group, resource, verb, name in product(groups, resources, verbs, rule.get("resourceNames") or ("",)):
            yield group, resource, verb, name
        for url, verb in product(rule.get("nonResourceURLs") or (), verbs):
            yield url, "", verb, ""


def _covers(before: Right, now: Right) -> bool:
    *wide, name = before
    fits = all(b in (n, _ANY) for b, n in zip(wide, now[:3], strict=True))
    return fits and name in ("", now[3])


def _text(right: Right) -> str:
    group, resource, verb, name = right
    what = f"{resource}{f'.{group}' if group else ''}" if resource else group
    return f"may {verb} {what}{f' {name}' if name else ''}"
