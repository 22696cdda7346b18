"""The plan as YAML, to read, diff and review. It needs no engine and no cluster, and has no values of Secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from claimsmith.base import yaml_text as yaml_writer
from claimsmith.base.printable import lines
from claimsmith.base.values import mapped, shown
from claimsmith.compose.plan import Plan, PlannedClaim, secret_document
from claimsmith.compose.workload_plan import PlannedWorkload


def render(plan: Plan) -> str:
    """Every claim's resources as one YAML stream, in the order of creation."""
    return "".join(stream(plan))


def stream(plan: Plan) -> Iterator[str]:
    """The same, claim by claim: a large stack need not be in memory as one text."""
    for claim in plan.claims:
        yield _claim(claim)
    for workload in plan.workloads:
        yield _workload(workload)


def documents(claim: PlannedClaim) -> list[dict[str, Any]]:
    """The resources of a claim, its Secret last and without data."""
    children = [plain(child.document) for child in claim.children]
    inner = [document for nested in claim.nested for document in documents(nested)]
    return [*inner, *children, *(secret_document(claim.identity, c) for c in claim.connections)]


def plain(document: dict[str, Any]) -> dict[str, Any]:
    """The document with each `Ref` as text: its value if it is known offline, or else where it comes from."""
    result: dict[str, Any] = mapped(document, shown)
    return result


def _claim(claim: PlannedClaim) -> str:
    head = lines([f"# {claim.address}, served by {claim.binding.klass.key} ({claim.binding.reason})"])
    parts = [f"---\n{yaml_text(child.document)}" for child in claim.children]
    for secret in claim.connections:
        from_ = ", ".join(f"{s} ({s.kind})" for s in secret.sources) or "no child: it will be empty"
        note = lines([f"# its data: the keys of {from_}"])
        parts.append(f"---\n{note}{yaml_text(secret_document(claim.identity, secret))}")
    return "".join([*(_claim(nested) for nested in claim.nested), head, *parts])


def _workload(workload: PlannedWorkload) -> str:
    placement = workload.placement
    cluster = placement.target.cluster
    secret = f"Secret {'/'.join(cluster.secret)}" if cluster.secret else "the Secret that it names"
    heads = [
        f"# {workload.address}, scheduled to {placement.target_key} ({placement.reason})",
        f"# in {cluster.identity}, with the credentials in {secret}",
        *(f"# with a copy of {s.source} in {s.namespace}" for s in workload.secrets),
    ]
    return lines(heads) + "".join(f"---\n{yaml_text(document)}" for document in workload.documents())


def as_stream(documents: Iterable[Mapping[str, Any]]) -> str:
    """Documents as one YAML stream with sorted keys, as `crossplane render` prints them."""
    return "".join(f"---\n{yaml_text(dict(document), sort_keys=True)}" for document in documents)


def yaml_text(document: dict[str, Any], *, sort_keys: bool = False, blocks: bool = False) -> str:
    """One document as YAML; with `blocks`, texts of several lines are written line by line."""
    if sort_keys or blocks:
        return yaml_writer.dumped(document, sort_keys=sort_keys, blocks=blocks)
    return yaml_writer.text_of(document, shown)
