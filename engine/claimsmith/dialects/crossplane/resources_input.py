"""The input of the patch-and-transform function, `Resources`, as one step of a pipeline: templates with their patches.

Patch sets are put in place of the patches that name them, so that from here on there are only patches that read and
write fields. The step alone is read here; the composition around it is read in `composition`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from claimsmith.base import fieldpath
from claimsmith.base.choice import one_of
from claimsmith.base.documents import Document
from claimsmith.base.errors import Collector, FieldPathError, ModelError, Problem, suggest
from claimsmith.base.names import is_native
from claimsmith.base.parse import parse
from claimsmith.dialects.common.klass import Check, Detail, Patch, SecretDestination, Side, Step, Template
from claimsmith.dialects.crossplane.patch_input import (
    ConnectionDetail,
    FromConfig,
    FromField,
    FromSecretKey,
    FromValue,
    Lenient,
    Name,
    Need,
    PatchInput,
    ReadinessCheck,
    refusal_of,
)

_ENVIRONMENT_TYPES = (
    "FromCompositeFieldPath",
    "ToCompositeFieldPath",
    "CombineFromComposite",
    "CombineToComposite",
    "FromEnvironmentFieldPath",
    "ToEnvironmentFieldPath",
)
_SECRET_TYPES = ("FromCompositeFieldPath", "CombineFromComposite")
_SIDES = {
    "FromComposite": (Side.claim, Side.resource),
    "ToComposite": (Side.resource, Side.claim),
    "FromEnvironment": (Side.environment, Side.resource),
    "ToEnvironment": (Side.resource, Side.environment),
}


def _name_or_namespace(patch: PatchInput) -> PatchInput:
    """A check that a patch writes what a secret's place consists of."""
    if (patch.to_field_path or patch.from_field_path) not in ("name", "namespace"):
        what = "a secret's place has a name and a namespace, and nothing else"
        raise refusal_of(patch, [("toFieldPath", what, "use one of: name, namespace")])
    return patch


def _only(what: str, allowed: Sequence[str]) -> Any:
    """A check that a patch is of a type that may stand here."""

    def check(data: Any) -> Any:
        word = data.get("type") if isinstance(data, Mapping) else None
        if word and word not in allowed:
            raise refusal_of(data, [("type", f"{what} cannot be of type {word!r}", one_of(str(word), allowed))])
        if isinstance(data, Mapping) and "patchSetName" in data:
            raise refusal_of(data, [("patchSetName", f"{what} names no patch set", "remove patchSetName")])
        return data

    return BeforeValidator(check)


_IN_SET = tuple(PatchInput.model_fields["type"].annotation.__args__)[:-1]  # type: ignore[union-attr]  # a Literal
SetPatch = Annotated[PatchInput, _only("a patch of a patch set", _IN_SET)]
EnvironmentPatch = Annotated[PatchInput, _only("a patch of the environment", _ENVIRONMENT_TYPES)]
SecretPatch = Annotated[
    PatchInput, _only("a patch of a secret's place", _SECRET_TYPES), AfterValidator(_name_or_namespace)
]


class PatchSet(Lenient):
    """Patches under a name, for templates to share."""

    name: Name
    patches: tuple[SetPatch, ...] = Field((), strict=False)


class Environment(Lenient):
    """Patches between the composite and the environment."""

    patches: tuple[EnvironmentPatch, ...] = Field((), strict=False)


class ResourceTemplate(Lenient):
    """One resource: a base, what changes it, and when it is ready."""

    name: Name
    previous_name: str | None = None
    base: dict[str, Any] | None = None
    patches: tuple[PatchInput, ...] = Field((), strict=False)
    connection_details: tuple[ConnectionDetail, ...] = Field((), strict=False)
    readiness_checks: tuple[ReadinessCheck, ...] = Field((), strict=False)

    @classmethod
    def needs(cls, data: Mapping[str, Any]) -> Iterable[Need]:
        """A base with apiVersion and kind, or with the type of a native resource."""
        base = data.get("base")
        if isinstance(base, Mapping) and is_native(base):
            return
        for key in ("apiVersion", "kind"):
            if isinstance(base, Mapping) and not (isinstance(base.get(key), str) and base[key]):
                yield "base", f"the base has no {key}", "name the resource that it composes"


class WriteSecret(Lenient):
    """Where the connection details of a composite go that has no Secret of its own."""

    name: str = ""
    namespace: str = ""
    patches: tuple[SecretPatch, ...] = Field((), strict=False)


class ResourcesInput(Lenient):
    """The whole input."""

    api_version: str = ""
    kind: str = "Resources"
    metadata: Any = None
    patch_sets: tuple[PatchSet, ...] = Field((), strict=False)
    environment: Environment = Field(default_factory=Environment.model_construct)
    resources: tuple[ResourceTemplate, ...] = Field((), strict=False)
    write_connection_secret_to_ref: WriteSecret = Field(default_factory=WriteSecret.model_construct)

    @classmethod
    def needs(cls, data: Mapping[str, Any]) -> Iterable[Need]:
        """Something to do."""
        environment = data.get("environment")
        patches = environment.get("patches") if isinstance(environment, Mapping) else None
        if not data.get("resources") and not patches:
            yield "resources", "there are neither resources nor patches of the environment", "add a resource"


class ConditionalTemplate(ResourceTemplate):
    """A resource with a CEL condition."""

    condition: str | None = None


class ConditionalInput(ResourcesInput):
    """The whole input of patch-and-transform with conditions."""

    condition: str | None = None
    resources: tuple[ConditionalTemplate, ...] = Field((), strict=False)


def read_step(
    document: Document,
    data: Mapping[str, Any],
    at: fieldpath.Path,
    *,
    name: str,
    function: str,
    warnings: list[Problem],
    conditional: bool = False,
    older: bool = False,
) -> Step:
    """The step that an input describes; `at` is its place in the document.

    `conditional` inputs have conditions. `older` ones, of mode Resources, may have `mergeOptions`.
    """
    raw = parse(ConditionalInput if conditional else ResourcesInput, document, data=data, at=at)
    here = fieldpath.to_text(at)
    problems = Collector()
    if not older:
        for path, policy in _merge_options(raw, here):
            what = "a policy has no mergeOptions in a function's input"
            problems.add(document.problem(what, path, f"write toFieldPath: {policy}"))
    sets = _patch_sets(raw, document, here, warnings)
    templates: dict[str, Template] = {}
    for index, resource in enumerate(raw.resources):
        place = f"{here}.resources[{index}]"
        with problems.catch():
            template = _template(resource, sets, document, place)
            # Of resources with one name, conditions choose: each claim gets one of them.
            key = place if conditional and getattr(resource, "condition", None) else resource.name
            if templates.setdefault(key, template) is not template:
                what, path = f"two resources are named {resource.name!r}", f"{place}.name"
                problems.add(document.problem(what, path, "give each its own name"))
    problems.raise_as(ModelError)
    secret = raw.write_connection_secret_to_ref
    environment = tuple(_environment_patch(p, f"{here}.environment.patches[{i}]") for i, p in _listed(raw.environment))
    step = Step(
        name=name,
        function=function,
        input=data,
        environment=environment,
        templates=tuple(templates.values()),
        secret=SecretDestination(
            secret.name,
            secret.namespace,
            tuple(patch_of(p, f"{here}.writeConnectionSecretToRef.patches[{i}]") for i, p in _listed(secret)),
        ),
        at=here,
    )
    warnings += _doubtful(step, document)
    return step


def _merge_options(raw: ResourcesInput, at: str) -> Iterator[tuple[str, str]]:
    """The place of each `mergeOptions`, and the policy that it stands for."""
    lists = [(f"{at}.patchSets[{i}]", s.patches) for i, s in enumerate(raw.patch_sets)]
    lists += [(f"{at}.environment", raw.environment.patches)]
    lists += [(f"{at}.resources[{i}]", r.patches) for i, r in enumerate(raw.resources)]
    for place, patches in lists:
        for index, patch in enumerate(patches):
            if patch.policy.merge_options is not None:
                yield f"{place}.patches[{index}].policy.mergeOptions", patch.policy.merge_policy().value


def inlined(patches: Sequence[PatchInput], sets: Mapping[str, Sequence[Patch]], at: str) -> Iterator[Patch]:
    """The patches, those of a named set in the place of the one that names it."""
    for index, raw in enumerate(patches):
        here = f"{at}.patches[{index}]"
        if raw.type != "PatchSet":
            yield patch_of(raw, here)
            continue
        wanted = raw.patch_set_name or ""
        if wanted not in sets:
            what = f"there is no patch set {wanted!r}"
            raise ModelError(Problem(what, path=f"{here}.patchSetName", fix=suggest(wanted, sets)))
        yield from sets[wanted]


def set_patches(patch_set: PatchSet, at: str) -> tuple[Patch, ...]:
    """The patches of a set."""
    return tuple(patch_of(raw, f"{at}.patches[{i}]") for i, raw in enumerate(patch_set.patches))


def _listed(holder: Environment | WriteSecret) -> Iterable[tuple[int, PatchInput]]:
    return enumerate(holder.patches)


def _patch_sets(
    raw: ResourcesInput, document: Document, at: str, warnings: list[Problem]
) -> dict[str, tuple[Patch, ...]]:
    sets: dict[str, tuple[Patch, ...]] = {}
    for index, patch_set in enumerate(raw.patch_sets):
        place = f"{at}.patchSets[{index}]"
        if patch_set.name in sets:
            what = f"two patch sets are named {patch_set.name!r}: the last one counts"
            warnings.append(document.problem(what, f"{place}.name", "give each its own name"))
        sets[patch_set.name] = set_patches(patch_set, place)
    return sets


def _template(raw: ResourceTemplate, sets: Mapping[str, Sequence[Patch]], document: Document, at: str) -> Template:
    try:
        patches = tuple(inlined(raw.patches, sets, at))
    except ModelError as error:
        raise ModelError(*(document.problem(p.what, p.path, p.fix) for p in error.problems)) from error
    return Template(
        name=raw.name,
        base=_base(raw.base or {}, document, f"{at}.base"),
        based=raw.base is not None,
        patches=patches,
        previous_name=raw.previous_name,
        at=at,
        spec_at=f"{at}.base.spec",
        details=tuple(map(detail, raw.connection_details)),
        checks=tuple(map(check, raw.readiness_checks)),
    )


def _base(base: dict[str, Any], document: Document, at: str) -> dict[str, Any]:
    if not is_native(base):
        return base
    from claimsmith.dialects.common import native

    return native.read_base(base, document, at)


def patch_of(raw: PatchInput, at: str) -> Patch:
    """A patch of a template as a class keeps it."""
    sides = next(sides for word, sides in _SIDES.items() if word in raw.type)
    combine = raw.combine if raw.type.startswith("Combine") else None
    return Patch(
        reads=tuple(v.from_field_path for v in combine.variables) if combine else (raw.from_field_path or "",),
        to=raw.to_field_path if raw.to_field_path is not None else (raw.from_field_path or ""),
        transforms=raw.transforms,
        required=raw.policy.required,
        policy=raw.policy.merge_policy(),
        combine=combine.string.fmt if combine and combine.string else None,
        wildcards=combine is None,
        origin=sides[0],
        target=sides[1],
        at=at,
    )


def _environment_patch(raw: PatchInput, at: str) -> Patch:
    """A patch of the environment: there is no resource, so that composite and environment are its two sides."""
    inward = raw.type in ("FromCompositeFieldPath", "CombineFromComposite", "ToEnvironmentFieldPath")
    sides = (Side.claim, Side.environment) if inward else (Side.environment, Side.claim)
    return replace(patch_of(raw, at), origin=sides[0], target=sides[1])


def detail(raw: ConnectionDetail) -> Detail:
    """A connection detail as a class keeps it."""
    match raw:
        case FromSecretKey():
            return Detail(raw.name, raw.from_connection_secret_key, from_resource=raw.from_resource)
        case FromField():
            return Detail(raw.name, "", field_path=raw.from_field_path, from_resource=raw.from_resource)
        case FromConfig():
            return Detail(raw.name, "", config=raw.from_config)
        case FromValue():
            return Detail(raw.name, "", value=raw.value)


def check(raw: ReadinessCheck) -> Check:
    """A readiness check as a class keeps it."""
    condition = raw.match_condition
    return Check(
        type=raw.type,
        field_path=raw.field_path or "",
        expected=raw.match_string if raw.type == "MatchString" else raw.match_integer,
        condition=(condition.type, condition.status) if condition else ("", ""),
    )


def _doubtful(step: Step, document: Document) -> list[Problem]:
    """Warnings about paths that cannot be parsed: such a patch fails once it has something to patch."""
    found: dict[Problem, None] = {}
    for patch in (*step.environment, *(p for t in step.templates for p in t.patches)):
        for path in (*patch.reads, patch.to):
            try:
                fieldpath.parse(path)
            except FieldPathError as error:
                problem = error.problems[0]
                found[document.problem(problem.what, patch.at, problem.fix)] = None
    return list(found)
