"""The plan as YAML, to read, diff and review. It needs no engine and no cluster, and has no values of Secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from claimsmith.base import yaml_text as yaml_writer
from claimsmith.base.printable import lines
from claimsmith.base.values import mapped, shown
from claimsmith.render import native

if TYPE_CHECKING:
    from claimsmith.compose.connections import SecretSource
    from claimsmith.compose.plan import Plan, PlannedClaim
    from claimsmith.compose.workload_plan import PlannedWorkload


def render(plan: Plan) -> str:
    """Every claim's resources as one YAML stream, in the order of creation."""
    return "".join(stream(plan))


def stream(plan: Plan) -> Iterator[str]:
    """The same, claim by claim: a large stack need not be in memory as one text."""
    for claim in plan.claims:
        yield _claim(claim, native.names(claim))
        if sink := plan.sinks.get(claim.address):
            yield _claim(sink, native.names(sink))
    for workload in plan.workloads:
        yield _workload(workload)


def documents(claim: PlannedClaim) -> list[dict[str, Any]]:
    """The resources of a claim, its Secret last and without data."""
    return _documents(claim, native.names(claim))


def _documents(claim: PlannedClaim, names: Mapping[str, str]) -> list[dict[str, Any]]:
    children = [plain(document) for document in _children(claim, names)]
    inner = [document for nested in claim.nested for document in _documents(nested, names)]
    return [*inner, *children, *_secrets(claim)]


def _children(claim: PlannedClaim, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The children's documents in order; the native ones as one program in the place of the first."""
    natives = [child for child in claim.children if child.template.native]
    for child in claim.children:
        if not child.template.native:
            yield child.document
        elif child is natives[0]:
            yield native.program(natives, names)


def plain(document: dict[str, Any]) -> dict[str, Any]:
    """The document with each `Ref` as text: its value if it is known offline, or else where it comes from."""
    result: dict[str, Any] = mapped(document, shown)
    return result


def _claim(claim: PlannedClaim, names: Mapping[str, str]) -> str:
    head = lines([f"# {claim.address}, served by {claim.binding.klass.key} ({claim.binding.reason})"])
    parts = [f"---\n{yaml_text(document)}" for document in _children(claim, names)]
    for secret, document in zip(claim.connections, _secrets(claim), strict=True):
        note = lines([f"# its data: {_origin(claim, secret.sources)}"])
        parts.append(f"---\n{note}{yaml_text(document)}")
    return "".join([*(_claim(nested, names) for nested in claim.nested), head, *parts])


def _secrets(claim: PlannedClaim) -> list[dict[str, Any]]:
    """The Secrets of a claim, without data."""
    from claimsmith.compose.connections import secret_document

    return [secret_document(claim.identity, secret) for secret in claim.connections]


def _origin(claim: PlannedClaim, sources: Sequence[SecretSource]) -> str:
    """Where the keys of a Secret are from; those of native resources by name, since they have no Secret."""
    natives = {child.template.name for child in claim.children if child.template.native}
    keys = [name for s in sources if s.child in natives for name in s.key_names]
    others = ", ".join(f"{s} ({s.kind})" for s in sources if s.child not in natives)
    listed = [f"the keys of {others}"] if others else []
    listed += [", ".join(keys)] if keys else []
    return "; ".join(listed)


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
