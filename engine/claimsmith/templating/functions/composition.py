"""The functions that function-go-templating adds to Go's and sprig's; `.` is the request, as JSON has it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from claimsmith.base.values import object_at
from claimsmith.golang import base64 as gobase64
from claimsmith.golang import json as gojson
from claimsmith.golang import strconv
from claimsmith.golang import yaml as goyaml
from claimsmith.golang.kinds import Int, Struct
from claimsmith.templating import limits
from claimsmith.templating.functions.registry import Family, deep, slow
from claimsmith.templating.problems import refusal

FAMILY = Family("composition")

RESOURCE_NAME = "gotemplating.fn.crossplane.io/composition-resource-name"
_EXTRA = "apiextensions.crossplane.io/extra-resources"
_AMBIGUOUS = re.compile(
    r"(?i:true|false|yes|no|on|off|y|n|null|~|\.nan|[-+]?\.inf|<<|=)|"
    r"[-+]?(0[xob])?[0-9a-fA-F_]*[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?|[-+]?\.[0-9]+([eE][-+]?[0-9]+)?|"
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*|[-+]?[0-9]+(:[0-5]?[0-9])+"
)
"""Texts that YAML would read as something else: the function writes them in double quotes."""

_NEVER = "0001-01-01T00:00:00Z"
"""Go's zero time."""

Object = dict[str, Any]


class _Condition(Object):
    """A condition, which is a struct in Go: its fields begin with capitals, but for YAML they are in small letters."""


def _for_yaml(value: Any) -> Any:
    match value:
        case Struct():
            return value.written
        case Int():
            return int(value)
        case float() if value.is_integer() and abs(value) < 1e21:
            return int(value)
        case _Condition():
            return {key.lower(): item for key, item in value.items()}
        case dict():
            return {key: _for_yaml(item) for key, item in value.items()}
        case list():
            return [_for_yaml(item) for item in value]
        case _:
            return value


@FAMILY.add("setResourceNameAnnotation str")
def set_resource_name_annotation(name: str) -> str:
    """The annotation that names a composed resource."""
    return f"{RESOURCE_NAME}: {name}"


@FAMILY.add("getResourceCondition str dict")
def get_resource_condition(kind: str, resource: Object) -> Object:
    """A condition of a resource, or one with the status Unknown."""
    status = object_at(object_at(resource, "resource"), "status") or object_at(resource, "status")
    conditions = status.get("conditions")
    listed = conditions if isinstance(conditions, list) else []
    found = next((c for c in listed if isinstance(c, dict) and c.get("type") == kind), {})
    return _Condition(
        Type=kind,
        Status=found.get("status", "Unknown"),
        Reason=found.get("reason", ""),
        Message=found.get("message", ""),
        LastTransitionTime=found.get("lastTransitionTime", _NEVER),
        ObservedGeneration=found.get("observedGeneration", 0),
    )


def _observed(request: Object, name: str) -> Mapping[str, Any]:
    return object_at(object_at(object_at(request, "observed"), "resources"), name)


@FAMILY.add("getComposedResource dict str")
def get_composed_resource(request: Object, name: str) -> Any:
    """A composed resource that exists; no object where it does not."""
    return _observed(request, name).get("resource", gojson.NilObject())


@FAMILY.add("getCompositeResource dict")
def get_composite_resource(request: Object) -> Any:
    """The composite."""
    return object_at(object_at(request, "observed"), "composite").get("resource", gojson.NilObject())


@FAMILY.add("getComposedConnectionDetails dict str")
def get_composed_connection_details(request: Object, name: str) -> Any:
    """The connection details of a composed resource, in base64; no object where there are none."""
    return _observed(request, name).get("connectionDetails", gojson.NilObject())


@FAMILY.add("getExtraResources dict str")
def get_extra_resources(request: Object, name: str) -> Any:
    """The resources that a requirement found; no list where it found none."""
    required = object_at(object_at(request, "requiredResources"), name).get("items")
    extra = object_at(object_at(request, "extraResources"), name).get("items", gojson.NilList())
    return required if required is not None else extra


@FAMILY.add("getExtraResourcesFromContext dict str")
def get_extra_resources_from_context(request: Object, name: str) -> Any:
    """The resources that an earlier step put into the context."""
    return object_at(object_at(object_at(request, "context"), _EXTRA), name).get("items", gojson.NilList())


@FAMILY.add("getCredentialData dict str")
def get_credential_data(request: Object, name: str) -> Any:
    """The data of credentials, decoded; no object where the step passes none of that name."""
    credentials = object_at(object_at(request, "credentials"), name)
    data = object_at(object_at(credentials, "credentialData"), "data")
    return {key: gobase64.decoded(value) for key, value in data.items()} if credentials else gojson.NilObject()


@FAMILY.add("include str any")
def include(name: str, data: Any) -> str:  # noqa: ARG001 - the evaluator renders the named template itself
    """The text of a named template."""
    raise refusal(f"the template {name!r} cannot be rendered here", "use it in an action")


@FAMILY.add("toYaml any", cost=slow)
def to_yaml(value: Any) -> str:
    """The value as YAML with sorted keys, indented by four spaces, and a line end after it."""
    gojson.dumps(value)  # refuses numbers that no document could hold
    text: str = yaml.dump(_for_yaml(value), Dumper=_Dumper, sort_keys=True, width=1 << 30, indent=4, allow_unicode=True)
    return text.removesuffix("...\n")


@FAMILY.add("fromYaml str", cost=deep)
def from_yaml(text: str) -> Any:
    """The value of a YAML text, of any kind."""
    limits.fits(16 * len(text))
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=_Loader)):
            # A few lines of aliases can stand for gigabytes.
            raise refusal("fromYaml does not read aliases", "write the value out")
        value = gojson.loads(gojson.dumps(yaml.load(text, Loader=_Loader)))
    except (yaml.YAMLError, RecursionError) as error:
        raise refusal(f"fromYaml cannot read its text: {error}".split("\n")[0], "give it YAML") from None
    limits.size(value)
    return _ints(value)


def _ints(value: Any) -> Any:
    """The value with integers as Go reads them from YAML: of its type `int`."""
    match value:
        case bool():
            return value
        case int():
            return Int(value)
        case list():
            return [_ints(item) for item in value]
        case dict():
            return {key: _ints(item) for key, item in value.items()}
        case _:
            return value


class _Loader(yaml.SafeLoader):
    """Reads plain scalars as Go does, but dates as text."""

    def resolve(self, kind: type[yaml.Node], value: str, implicit: Any) -> str:
        """The tag of a node that has none."""
        own = kind is yaml.ScalarNode and implicit[0] and value not in ("<<", "=")
        return _PLAIN if own else str(super().resolve(kind, value, implicit))  # type: ignore[no-untyped-call]


_PLAIN = "tag:claimsmith.io,2026:plain"
_Loader.add_constructor(_PLAIN, lambda _, node: goyaml.of_yaml(node.value))


class _Dumper(yaml.SafeDumper):
    """Writes every value out, lists indented below their keys, text that spans lines as a block."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the base class's signature
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 - as above
        if self.indent is None:
            super().increase_indent(flow, False)
            return
        # What is an item stands two columns behind the dash; all else in the next column that four divides.
        item = self.sequence_context and not flow
        self.indents.append(self.indent)
        self.indent = self.indent + 2 if item else (self.indent + 4) // 4 * 4


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    style = '"' if _AMBIGUOUS.fullmatch(text) or not text else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", strconv.scrubbed(text), style=style)


_Dumper.add_multi_representer(str, _represent_text)
_Dumper.add_representer(str, _represent_text)
