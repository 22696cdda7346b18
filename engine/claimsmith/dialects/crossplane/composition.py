"""Crossplane's `Composition` (apiextensions.crossplane.io): `Resources` mode, and `Pipeline` mode with its functions.

`Resources` mode is the patch-and-transform function's input written straight into the composition, so it is read as a
pipeline of that one step. What Crossplane v1 derived from other fields (the type of a connection detail, the name of a
resource by its place) is filled in first. Other functions' inputs are kept as they are: who runs the steps knows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import Collector, ComposeError, ModelError, Problem
from claimsmith.base.names import GroupKind, group_of
from claimsmith.base.parse import parse
from claimsmith.base.values import has
from claimsmith.dialects.common.klass import Class, Credential, Side, Step
from claimsmith.dialects.common.metadata import Head
from claimsmith.dialects.common.template import class_of
from claimsmith.dialects.crossplane.dialect import COMPOSITES
from claimsmith.dialects.crossplane.patch_input import Lenient, Need
from claimsmith.dialects.crossplane.resources_input import read_step

GROUP = "apiextensions.crossplane.io"
KIND = GroupKind(GROUP, "Composition")
REVISION = GroupKind(GROUP, "CompositionRevision")
OF_COMPOSITION = "crossplane.io/composition-name"
"""The label by which a revision names its composition."""
PATCH_AND_TRANSFORM = "pt.fn.crossplane.io"
"""The group of the patch-and-transform function's input."""
ENVIRONMENT_CONFIGS = "environmentconfigs.fn.crossplane.io"
"""The group of the input of the function that reads environments."""
TEMPLATING = "gotemplating.fn.crossplane.io"
"""The group of the go-templating function's input."""
FUNCTION = "function-patch-and-transform"
CONDITIONAL = "function-conditional-patch-and-transform"
FUNCTIONS: Mapping[str, str] = {
    FUNCTION: PATCH_AND_TRANSFORM,
    "function-auto-ready": "autoready.fn.crossplane.io",
    "function-environment-configs": ENVIRONMENT_CONFIGS,
    "function-go-templating": TEMPLATING,
    "function-extra-resources": "extra-resources.fn.crossplane.io",
    CONDITIONAL: "conditional-pt.fn.crossplane.io",
    "function-cel-filter": "cel.fn.crossplane.io",
    "function-sequencer": "sequencer.fn.crossplane.io",
    "function-status-transformer": "function-status-transformer.fn.crossplane.io",
    "function-tag-manager": "tag-manager.fn.crossplane.io",
    "function-kro": "kro.fn.crossplane.io",
    "function-kcl": "krm.kcl.dev",
    "function-python": "python.fn.crossplane.io",
}
"""The built-in functions, each with the group of its input."""
_BY_GROUP = {group: name for name, group in FUNCTIONS.items()}
_NO_RESOURCES = (FUNCTION, "function-auto-ready", "function-environment-configs")
"""The functions that add no resources beside those of their templates."""
_OWN = ("patchSets", "environment", "resources")


class _Kind(Lenient):
    api_version: str
    kind: str


class _Named(Lenient):
    name: str


class _SecretReference(Lenient):
    name: str
    namespace: str


class _Credentials(Lenient):
    name: str
    source: Literal["None", "Secret"] = "None"
    secret_ref: _SecretReference | None = None


class _Requirements(Lenient):
    required_resources: tuple[dict[str, Any], ...] = Field((), strict=False)
    required_schemas: tuple[dict[str, Any], ...] = Field((), strict=False)


class _Step(Lenient):
    step: str
    function_ref: _Named
    input: dict[str, Any] = Field(default_factory=dict)
    credentials: tuple[_Credentials, ...] | None = Field(None, strict=False)
    requirements: _Requirements | None = None


class _Spec(Lenient):
    composite_type_ref: _Kind
    mode: Literal["Resources", "Pipeline"] | None = None
    # Checked once it is known how they are meant: see `read_step`.
    patch_sets: Any = None
    environment: Any = None
    resources: Any = None
    pipeline: tuple[_Step, ...] = Field((), strict=False)
    write_connection_secrets_to_namespace: str | None = None
    publish_connection_details_with_store_config_ref: _Named | None = None
    reclaim_policy: str | None = None
    revision: int | None = None

    @classmethod
    def needs(cls, data: Mapping[str, Any]) -> Iterable[Need]:
        """Steps, in a pipeline; resources, elsewhere. Each under its own name."""
        steps = data.get("pipeline")
        if data.get("mode") == "Pipeline":
            if not steps:
                yield "pipeline", "a composition of mode Pipeline has at least one step", "add a step"
            if data.get("resources"):
                yield "resources", "a composition of mode Pipeline has no resources", "move them into a step's input"
        elif steps:
            yield "pipeline", "only a composition of mode Pipeline has steps", "add mode: Pipeline"
        names = [s.get("step") for s in steps or () if isinstance(s, Mapping)] if isinstance(steps, list) else []
        for name in dict.fromkeys(n for n in names if n is not None and names.count(n) > 1):
            yield "pipeline", f"two steps are named {name!r}", "give each its own name"


class _Composition(Lenient, Head):
    spec: _Spec


def is_composition(document: Document) -> bool:
    """Whether the document is a Crossplane composition, or a revision of one, but not the old from/to form."""
    data = document.data
    spec = data.get("spec")
    known = GroupKind.of(data) in (KIND, REVISION)
    old = data.get("apiVersion") == f"{GROUP}/v1alpha1" and not (isinstance(spec, dict) and "compositeTypeRef" in spec)
    return known and not old


def read(document: Document) -> tuple[Class, list[Problem]]:
    """The class that the composition describes, and warnings."""
    raw = parse(_Composition, document)
    warnings: list[Problem] = []
    problems = Collector()
    steps: list[Step] = []
    written = {step.step: step for step in raw.spec.pipeline}
    for name, function, data, at in _steps(raw.spec, document.data["spec"]):
        with problems.catch():
            known = function_of(function, data)
            if known in (FUNCTION, CONDITIONAL):
                step = read_step(
                    document,
                    data,
                    at,
                    name=name,
                    function=function,
                    warnings=warnings,
                    conditional=known == CONDITIONAL,
                    older=raw.spec.mode != "Pipeline",
                )
                steps.append(step)
            else:
                if known == _BY_GROUP[ENVIRONMENT_CONFIGS]:
                    _check_environment(document, data, at)
                steps.append(Step(name, function, data, at=fieldpath.to_text(at), **_needs(written.get(name))))
    problems.raise_as(ModelError)
    steps = _wired(steps, document)
    if raw.spec.mode != "Pipeline":
        warnings += _ignored_names(document, steps)
    if raw.spec.mode == "Pipeline" and raw.spec.environment is not None:
        what = "spec.environment is not read in mode Pipeline"
        fix = "add a step that runs function-environment-configs"
        warnings.append(document.problem(what, "spec.environment", fix))
    serves = raw.spec.composite_type_ref
    templates = (t for step in steps for t in step.templates)
    klass = replace(
        class_of(raw, document, COMPOSITES, templates, api_version=serves.api_version, kind=serves.kind),
        secret_namespace=raw.spec.write_connection_secrets_to_namespace,
        steps=tuple(steps),
        revision=(raw.spec.revision or 1) if raw.kind == REVISION.kind else 0,
    )
    return klass, warnings


def _wired(steps: Sequence[Step], document: Document) -> list[Step]:
    """The steps with the connections among their native templates; a later step may add to a resource of an earlier."""
    if not any(t.is_wired for s in steps for t in s.templates):
        return list(steps)
    from claimsmith.dialects.common import native

    closed = all(function_of(s.function, s.input) in _NO_RESOURCES or s.templates for s in steps)
    bases = {t.name: t.base for s in steps for t in s.templates if t.based}
    listed = [t if t.based else replace(t, base=bases.get(t.name, {})) for s in steps for t in s.templates]
    found = iter(native.wired(listed, document, closed=closed))
    wired = [replace(s, templates=tuple(next(found) for _ in s.templates)) for s in steps]
    return [replace(s, templates=tuple(t if t.based else replace(t, base={}) for t in s.templates)) for s in wired]


def _steps(spec: _Spec, data: Mapping[str, Any]) -> Iterable[tuple[str, str, dict[str, Any], fieldpath.Path]]:
    """Name, function, input and place of each step."""
    if spec.mode == "Pipeline":
        for index, step in enumerate(spec.pipeline):
            yield step.step, step.function_ref.name, step.input, ("spec", "pipeline", index, "input")
        return
    own = {key: data[key] for key in _OWN if data.get(key) is not None}
    if isinstance(own.get("resources"), list):
        own["resources"] = [_filled(r, i) for i, r in enumerate(own["resources"])]
    environment = own.get("environment")
    if isinstance(environment, Mapping):
        sources = {k: v for k, v in environment.items() if k != "patches"}
        own["environment"] = {"patches": environment.get("patches")}
        if sources:
            head = {"apiVersion": f"{ENVIRONMENT_CONFIGS}/v1beta1", "kind": "Input"}
            yield "environment", "function-environment-configs", {**head, "spec": sources}, ("spec", "environment")
    head = {"apiVersion": f"{PATCH_AND_TRANSFORM}/v1beta1", "kind": "Resources"}
    yield "patch-and-transform", FUNCTION, {**head, **own}, ("spec",)


def _needs(step: _Step | None) -> dict[str, Any]:
    """Credentials and requirements of a step."""
    if step is None:
        return {}
    needs = step.requirements or _Requirements(required_resources=(), required_schemas=())
    return {
        "credentials": tuple(
            Credential(c.name, (c.secret_ref.namespace, c.secret_ref.name))
            for c in step.credentials or ()
            if c.secret_ref
        ),
        "required": needs.required_resources,
        "required_schemas": needs.required_schemas,
    }


def _check_environment(document: Document, data: Mapping[str, Any], at: fieldpath.Path) -> None:
    from claimsmith.dialects.crossplane.environment_input import EnvironmentInput, EnvironmentSources

    if at == ("spec", "environment"):
        # In `Resources` mode, what the function has in its spec is in the composition itself.
        parse(EnvironmentSources, document, data=data["spec"], at=at)
    else:
        parse(EnvironmentInput, document, data=data, at=at)


def function_of(function: str, data: Mapping[str, Any]) -> str:
    """Which of the built-in functions a step runs, empty for another: by its name, else by the group of its input.

    Whoever installs a function names it, so the input identifies one of an unusual name; but a function reads any
    input, whatever group that is of.
    """

    named = (known for known in FUNCTIONS if function == known or function.endswith(f"-{known}"))
    return next(named, "") or _BY_GROUP.get(group_of(str(data.get("apiVersion", ""))), "")


def _filled(resource: Any, index: int) -> Any:
    """A resource with what Crossplane v1 derived from its place and its other fields."""
    if not isinstance(resource, Mapping):
        return resource
    details = resource.get("connectionDetails")
    filled = {"name": f"resource-{index}", **{k: v for k, v in resource.items() if v is not None}}
    if "base" in filled:
        filled["base"] = _unnamed(filled["base"])
    if isinstance(details, list):
        filled["connectionDetails"] = [_filled_detail(d) for d in details]
    return filled


def _unnamed(base: Any) -> Any:
    """A base without `metadata.name`: in mode Resources only a patch, or Crossplane itself, names a resource."""
    metadata = base.get("metadata") if isinstance(base, Mapping) else None
    if not isinstance(metadata, Mapping) or "name" not in metadata:
        return base
    kept = {k: v for k, v in metadata.items() if k != "name"}
    return {k: v for k, v in base.items() if k != "metadata"} | ({"metadata": kept} if kept else {})


def _ignored_names(document: Document, steps: Iterable[Step]) -> Iterable[Problem]:
    """A warning for each name in a base that nobody will read."""
    for template in (t for step in steps for t in step.templates):
        path = f"{template.at}.base.metadata.name"
        named = any(p.target is Side.resource and p.to == "metadata.name" for p in template.patches)
        if not named and has(document.data, path):
            what = f"{template.name}: metadata.name of a base is ignored in mode Resources, as in Crossplane"
            fix = "remove it, or patch metadata.name; mode Pipeline keeps it"
            yield document.problem(what, path, fix)


def _filled_detail(detail: Any) -> Any:
    if not isinstance(detail, Mapping):
        return detail
    key = detail.get("fromConnectionSecretKey")
    implied = (
        "FromValue"
        if detail.get("name") is not None and detail.get("value") is not None
        else "FromConnectionSecretKey"
        if key is not None
        else "FromFieldPath"
        if detail.get("fromFieldPath") is not None
        else "FromConfig"
        if detail.get("fromConfig") is not None
        else None
    )
    filled = {**({"type": implied} if implied else {}), **{k: v for k, v in detail.items() if v is not None}}
    if filled.get("type") == "FromConnectionSecretKey" and key is not None:
        filled.setdefault("name", key)
    return filled


def unknown_function(step: Step, document: Document) -> ComposeError:
    """The refusal of a step that runs a function which is not known."""
    what = f"the step {step.name!r} runs {step.function}, which is not known here"
    fix = f"use one of: {', '.join(FUNCTIONS)}; or declare its program in functions.yaml"
    return ComposeError(document.problem(what, f"{step.at.removesuffix('.input')}.functionRef.name", fix))
