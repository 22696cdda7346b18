"""What a definition adds to the spec of its kind: the object by which instances choose a composition, and are bound.

Everything here is a structural schema, fit for a custom resource definition, with a description for each field.
"""

from __future__ import annotations

from typing import Any

from claimsmith.dialects.definitions.model import COMPOSITION, Definition

Schema = dict[str, Any]

PRESERVE = "x-kubernetes-preserve-unknown-fields"
TEXT: Schema = {"type": "string"}
NAME: Schema = {"type": "string", "maxLength": 253, "pattern": "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"}
STATUS: Schema = {"type": "object", "description": "The observed state.", PRESERVE: True}


def described(description: str, schema: Schema) -> Schema:
    """The schema with a description."""
    return {"description": description, **schema}


def record(description: str, /, *required: str, **properties: Schema) -> Schema:
    """An object with these fields, some of which must be given."""
    wanted: Schema = {"required": list(required)} if required else {}
    return {"type": "object", "description": description, "properties": properties, **wanted}


def object_ref(description: str, *, namespaced: bool = False) -> Schema:
    """A reference by apiVersion, kind and name."""
    place = {"namespace": described("The namespace of the object.", NAME)} if namespaced else {}
    return record(
        description,
        *("apiVersion", "kind", "name"),
        apiVersion=described("The group and version of the object.", TEXT),
        kind=described("The kind of the object.", TEXT),
        **place,
        name=described("The name of the object.", NAME),
    )


def selector(description: str) -> Schema:
    """A label selector."""
    expression = record(
        "One condition on the labels.",
        *("key", "operator"),
        key=described("The label's key.", TEXT),
        operator=described(
            "How it relates to the values.", {**TEXT, "enum": ["In", "NotIn", "Exists", "DoesNotExist"]}
        ),
        values=described("The values, for In and NotIn.", {"type": "array", "items": TEXT}),
    )
    return record(
        description,
        matchLabels=described("Labels that must be there.", {"type": "object", "additionalProperties": TEXT}),
        matchExpressions=described("Conditions that must hold.", {"type": "array", "items": expression}),
    )


COMPOSITION_REF = record(
    "The composition to use; selected by the selector or the definition's default if it is not set.",
    *("name",),
    apiVersion=described("The group and version of compositions.", TEXT),
    kind=described("Always Composition.", {**TEXT, "enum": [COMPOSITION.kind]}),
    name=described("The composition's name.", NAME),
)


def resource_ref(definition: Definition) -> Schema:
    """A requirement's reference to the composite that it is bound to."""
    kind = definition.group_kind.kind
    return object_ref(f"The {kind} that this is bound to; a new one is created if it is not set.")


def injected_schema(definition: Definition, *, requirement: bool) -> Schema:
    """The object that an instance, or a requirement, has beside the fields that its definition gives it.

    References that may be written as a list of one take anything here, since no structural schema can say so.
    """
    what = "the requirement" if requirement else f"the {definition.kind_of}"
    properties: dict[str, Schema] = {
        "compositionSelector": selector("Which compositions may be used, by their labels."),
        "compositionRef": _or_list(COMPOSITION_REF),
    }
    if requirement:
        properties["resourceRef"] = _or_list(resource_ref(definition))
        properties["writeConnectionSecretToRef"] = record(
            "Where the connection details go: a Secret in the requirement's own namespace.",
            *("name",),
            name=described("The Secret's name.", NAME),
        )
    else:
        each = object_ref("One composed resource.", namespaced=True)
        properties["composedRefs"] = described(f"What {what} is composed of.", {"type": "array", "items": each})
    if not requirement and definition.kind_of == "infrastructure":
        properties |= _infrastructure(definition)
    return record(f"How {what} is composed.", **properties)


def spec_schema(definition: Definition, *, requirement: bool) -> Schema:
    """The schema of the spec of an instance or requirement, as its custom resource definition has it.

    Where the definition declares connection details, the place for them must be given.
    """
    inner = injected_schema(definition, requirement=requirement)
    spec = {**definition.schema}
    required = list(spec.get("required") or ())
    if definition.connection_details:
        inner["required"] = ["writeConnectionSecretToRef"]
        required.append(definition.injected)
    spec["properties"] = {**(spec.get("properties") or {}), definition.injected: inner}
    spec.setdefault("description", "The desired state.")
    return {**spec, "required": required} if required else spec


def full_schema(definition: Definition, *, requirement: bool) -> Schema:
    """The schema of a whole instance or requirement, without what every resource has."""
    spec = spec_schema(definition, requirement=requirement)
    wanted = {"required": ["spec"]} if spec.get("required") else {}
    return {"type": "object", "properties": {"spec": spec, "status": STATUS}, **wanted}


def _infrastructure(definition: Definition) -> dict[str, Schema]:
    kind = definition.requirement_kind.kind
    return {
        "writeConnectionSecretToRef": record(
            "Where the connection details go.",
            *("namespace", "name"),
            namespace=described("The Secret's namespace.", NAME),
            name=described("The Secret's name.", NAME),
        ),
        "requirementRef": object_ref(f"The {kind} that this is bound to.", namespaced=True),
        "reclaimPolicy": described(
            "What happens to this, and to all it is composed of, once it is bound and then released.",
            {**TEXT, "enum": ["Delete", "Retain"]},
        ),
    }


def _or_list(schema: Schema) -> Schema:
    fields = ", ".join(schema["properties"])
    return {"description": f"{schema['description']} An object ({fields}), or a list of one.", PRESERVE: True}
