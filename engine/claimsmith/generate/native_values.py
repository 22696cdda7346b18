"""Values of native resources in a component, by the types and names that the provider's SDK has for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import GenerateError
from claimsmith.generate.expression import Expression, literal
from claimsmith.providers.index import Index
from claimsmith.providers.outputs import is_name, properties_of
from claimsmith.providers.resource_types import AnyType, EnumOf, ListOf, MapOf, ObjectOf, OneOf, Property, TypeRef


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes values of a class by the types that the SDK has for them."""

    sdk: Index
    alias: str
    refusal: Callable[[fieldpath.Path, Mapping[str, Property]], GenerateError]

    def property(self, known: Mapping[str, Property], path: fieldpath.Path, name: str) -> Property:
        """A property by its name in YAML; one that the SDK lacks is refused."""
        if name not in known or not is_name(known[name].python):
            raise self.refusal((*path, name), known)
        return known[name]

    def written(self, value: Any, kind: TypeRef, path: fieldpath.Path) -> Expression:
        """The value as Python, with the SDK's names for the keys of nested types."""
        match value, kind:
            case Expression(), _:
                # Inside of an object, None would be sent as a null.
                return value.optional if value.optional and not value.may_be_absent else value
            case _, OneOf(options=options):
                return self.written(value, self._fitting(value, options), path)
            case dict(), ObjectOf():
                known = properties_of(kind, self.sdk)
                if known is None:
                    return literal(value)
                named = {}
                for key, item in value.items():
                    property_ = self.property(known, path, key)
                    named[property_.python] = self.written(item, property_.type, (*path, key))
                return literal(named)
            case dict(), MapOf(item=item_type):
                return literal({key: self.written(item, item_type, (*path, key)) for key, item in value.items()})
            case list(), ListOf(item=item_type):
                return literal([self.written(item, item_type, (*path, i)) for i, item in enumerate(value)])
            case str() | int(), EnumOf(open=False) if value in kind.values and _is_path(kind.name):
                # A text is no member of an enum that is closed: a type checker refuses it.
                return Expression(f"{self.alias}.{kind.name}({value!r})", may_be_absent=False)
            case _:
                return literal(value)

    def _fitting(self, value: Any, options: Sequence[TypeRef]) -> TypeRef:
        """The first of several types that the value may have."""
        for kind in options:
            match value, kind:
                case dict(), ObjectOf():
                    if set(value) <= set(properties_of(kind, self.sdk) or ()):
                        return kind
                case (dict(), MapOf()) | (list(), ListOf()):
                    return kind
                case _:
                    continue
        return AnyType()


def optional(value: Expression, document: Any = None) -> Expression:
    """The value for an argument that takes None if it is not set. `document` is what the value was written from."""
    if value.optional:
        return value.optional
    if not value.may_be_absent and not _holds_absent(document):
        return value
    return Expression(f"optional({value.code})", value.uses | {"optional"}, may_be_absent=False)


def present(value: Expression, document: Any) -> Expression:
    """A mapping without the entries that are not set."""
    if not _holds_absent(document):
        return value
    return Expression(f"present({value.code})", value.uses | {"present"}, may_be_absent=False)


def _holds_absent(value: Any) -> bool:
    """Whether anything inside of a document may be a value that is not set."""
    match value:
        case Expression():
            return value.may_be_absent
        case dict():
            return any(map(_holds_absent, value.values()))
        case list():
            return any(map(_holds_absent, value))
        case _:
            return False


def _is_path(name: str) -> bool:
    return bool(name) and all(map(is_name, name.split(".")))
