"""`claimsmith connection`: the connection details of a deployed claim, for the team whose application uses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from claimsmith.base.errors import ConnectionError_, DeployError, EngineError, Problem
from claimsmith.base.names import ClaimKey
from claimsmith.project import checkpoint
from claimsmith.project.project import Project
from claimsmith.providers import tokens
from claimsmith.render import connection as formats
from claimsmith.tools.explain.facts import named

OUTPUT = "connections"


def connection(project: Project, stack: str, claim: str, *, form: str = "env") -> str:
    """The details of a claim as text. They are decrypted for this call alone, and written nowhere."""
    from claimsmith.project import workspace

    project.check_stack(stack)
    outputs = workspace.stack_outputs(project, stack, show_secrets=True)

    def in_state(key: ClaimKey) -> Mapping[str, Any] | None:
        urn = tokens.urn(project.name, stack, [tokens.component_type(key.group_kind)], key.place)
        return checkpoint.outputs_of(workspace.export_state(project, stack), urn)

    details = details_of(outputs, claim, stack=stack, known=_claims(project, stack), in_state=in_state)
    return formats.FORMATS[form](details)


def details_of(
    outputs: dict[str, Any],
    claim: str,
    *,
    stack: str,
    known: list[ClaimKey] | None = None,
    in_state: Callable[[ClaimKey], Mapping[str, Any] | None] = lambda _: None,
) -> dict[str, str]:
    """The details of a claim among the outputs of its stack; an error says why there are none.

    `in_state` returns the outputs of a claim's component, None where the state has no such component.
    """
    deployed = [ClaimKey.parse(address) for address in outputs.get("claims") or {}]
    key = named(claim, dict.fromkeys([*deployed, *(known or ())]), stack)
    if key not in deployed:
        raise ConnectionError_(_not_exported(key, in_state(key), stack))
    details = (outputs.get(OUTPUT) or {}).get(str(key))
    if details is None:
        raise ConnectionError_(_elsewhere(key, outputs["claims"][str(key)]))
    if not isinstance(details, dict):
        what = f"the engine does not show the connection details of {key}"
        raise DeployError(
            Problem(what, fix=f"make sure that this works: pulumi stack output --show-secrets -s {stack}")
        )
    return {str(name): str(value) for name, value in details.items()}


def _not_exported(key: ClaimKey, component: Mapping[str, Any] | None, stack: str) -> Problem:
    """Why the stack's outputs do not have a claim: a run that fails, whatever claim is the cause, exports none."""
    command = f"pulumi up --stack {stack}"
    if component is None:
        return Problem(f"{key} is not deployed yet", fix=f"run first: {command}")
    fix = f"fix what that run reported, and run it again: {command}"
    if component.get("phase"):
        return Problem(f"{key} is deployed, but the last run failed before it exported its outputs", fix=fix)
    return Problem(f"{key} is deployed in part: the last run failed", fix=fix)


def _elsewhere(key: ClaimKey, summary: dict[str, Any]) -> Problem:
    """Why the stack's output has no details of a deployed claim."""
    secret = summary.get("connectionSecret")
    if secret:
        place = f"{secret['namespace']}/{secret['name']}"
        read = f"kubectl get secret {secret['name']} --namespace {secret['namespace']} --output json"
        return Problem(f"the connection details of {key} are in the Secret {place}", fix=f"read it: {read}")
    klass = str(summary.get("class", "")).rpartition("/")[2]
    return Problem(f"{key} has no connection details", fix=f"let its class {klass} offer some: connectionDetails")


def _claims(project: Project, stack: str) -> list[ClaimKey]:
    """The claims in the stack's files; none if they cannot be read, which other commands report."""
    try:
        return list(project.catalog(stack).claims)
    except EngineError:
        return []
