"""What an installed SDK of a provider declares: its resource types, read from its source and never imported.

The table of tokens is in the SDK's first file; a class, the types nested in it and their enums are read when they
are asked for. Who creates an `Index` passes in how its files are read: `project/sdks.py` reads the environment's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property

from claimsmith.base.errors import Problem, ProviderError, did_you_mean
from claimsmith.providers import sdk_source as source
from claimsmith.providers.resource_types import (
    AnyType,
    EnumOf,
    ObjectOf,
    ObjectType,
    Property,
    ResourceType,
    Scalar,
    TypeRef,
)

ReadFile = Callable[[str], str | None]
"""The text of a file below the SDK's folder, by its path with slashes; None where there is none."""

_PROVIDER = "pulumi:providers:"
_WORDS = re.compile(r"([a-z0-9])([A-Z])")
_ACRONYMS = re.compile(r"([A-Z]+)([A-Z][a-z])")
_TEXT = Scalar("string")
_EVERY_RESOURCE = {
    "id": Property("id", "id", _TEXT, required=True, description="The provider's id of the resource."),
    "urn": Property("urn", "urn", _TEXT, required=True, description="The engine's name of the resource."),
}


def distribution_of(package: str) -> str:
    """The name under which Pulumi publishes a provider's SDK: what pip installs."""
    return f"pulumi-{package}"


def import_name_of(package: str) -> str:
    """The name under which a provider's SDK is imported."""
    return f"pulumi_{package.replace('-', '_')}"


def missing(package: str) -> Problem:
    """The problem that a provider's SDK is not installed, with the command that installs it."""
    return Problem(
        what=f"the Python SDK of the provider {package!r} is not installed",
        fix=f"pip install {distribution_of(package)}",
    )


class Index:
    """The resource types of one provider's SDK."""

    def __init__(self, package: str, read: ReadFile, *, import_name: str = "", distribution: str = "") -> None:
        self.package = package
        self.import_name = import_name or import_name_of(package)
        self.distribution = distribution or distribution_of(package)
        self._read = read
        self._files: dict[str, str] = {}
        self._resources: dict[str, ResourceType | None] = {}
        self._objects: dict[str, ObjectType | None] = {}

    @property
    def requirement(self) -> str:
        """The line of a requirements file that installs the SDK, in the major version that is installed here."""
        version = self.version
        if not version:
            return self.distribution
        return f"{self.distribution} >= {version}, < {int(version.partition('.')[0]) + 1}"

    @cached_property
    def version(self) -> str:
        """The version of the SDK; empty where it does not say."""
        try:
            return str(json.loads(self._text("pulumi-plugin.json"))["version"])
        except (ValueError, KeyError, TypeError):
            return ""

    @cached_property
    def _classes(self) -> Mapping[str, tuple[str, str]]:
        """The module and class of each full token."""
        try:
            modules = json.loads(source.registered(self._text("__init__.py")) or "[]")
        except ValueError:
            modules = []
        prefix = f"{self.import_name}."
        return {
            token: (module["fqn"].removeprefix(self.import_name).removeprefix("."), name)
            for module in modules
            if module["fqn"] == self.import_name or module["fqn"].startswith(prefix)
            for token, name in module["classes"].items()
        }

    @cached_property
    def _short(self) -> Mapping[str, str]:
        """The full token of each short one."""
        found: dict[str, str] = {}
        for token in self._classes:
            for short in _short_forms(token):
                found.setdefault(short, token)
        return found

    def tokens(self) -> tuple[str, ...]:
        """Every type, in the shortest form that names it."""
        return tuple(short_token(token) for token in self._classes)

    def canonical(self, token: object) -> str | None:
        """The full token of a type, in whichever form it is written."""
        text = str(token)
        return text if text in self._classes else self._short.get(text)

    def resource(self, token: object) -> ResourceType | None:
        """The type of a token, short or full; None where the SDK has none."""
        full = self.canonical(token)
        if full is None:
            return None
        if full not in self._resources:
            module, name = self._classes[full]
            self._resources[full] = self._read_resource(full, module, name)
        return self._resources[full]

    def require(self, token: object) -> ResourceType:
        """The type of a token; an error with the nearest one where the SDK has none."""
        found = self.resource(token)
        if found is None:
            raise ProviderError(self.unknown(token))
        return found

    def unknown(self, token: object) -> Problem:
        """The problem that the SDK has no such type."""
        name = f"{self.distribution} {self.version}".rstrip()
        nearest = did_you_mean(str(token), self.tokens())
        return Problem(f"{name} has no type {str(token)!r}", fix=nearest or "compare it with the provider's API docs")

    def provider(self) -> ResourceType | None:
        """The provider itself as a resource: its inputs are the provider's settings."""
        if _PROVIDER not in self._resources:
            self._resources[_PROVIDER] = self._read_resource(f"{_PROVIDER}{self.package}", "", "Provider")
        return self._resources[_PROVIDER]

    def object(self, name: str) -> ObjectType | None:
        """A nested type by the name that `ObjectOf` has."""
        if name not in self._objects:
            self._objects[name] = self._read_object(name)
        return self._objects[name]

    def _text(self, path: str) -> str:
        if path not in self._files:
            self._files[path] = self._read(path) or ""
        return self._files[path]

    def _read_resource(self, token: str, module: str, name: str) -> ResourceType | None:
        text = self._file_of(module, name)
        node = source.class_of(text, name)
        built = source.constructor(node) if node else None
        if node is None or built is None:
            return None
        folder = tuple(module.split(".")) if module else ()
        named = self._named(text, folder)
        arguments = source.class_of(text, built.arguments)
        inputs = source.properties(arguments, named) if arguments else {}
        outputs = source.properties(node, named, secrets=built.secret_outputs)
        return ResourceType(
            token=token,
            package=self.distribution,
            import_name=self.import_name,
            module=module,
            python_class=name,
            inputs={n: _secret(p, p.python in built.secret_inputs) for n, p in inputs.items()},
            outputs={**outputs, **_EVERY_RESOURCE},
            deprecated=source.class_deprecation(node),
            component="ComponentResource" in source.bases(node),
        )

    def _file_of(self, module: str, name: str) -> str:
        """The file that declares a class: named after it, else found among the files of its module."""
        folder = f"{module.replace('.', '/')}/" if module else ""
        for stem in (_snake(name), name, *self._members(folder)):
            text = self._text(f"{folder}{stem}.py")
            if source.has_class(text, name):
                return text
        return ""

    def _members(self, folder: str) -> list[str]:
        return re.findall(r"^from \.(\w+) import \*$", self._text(f"{folder}__init__.py"), re.M)

    def _read_object(self, name: str) -> ObjectType | None:
        *module, class_name = name.split(".")
        outward = module[-1:] == ["outputs"]
        folder = tuple(module[:-1] if outward else module)
        text = self._text("/".join((*folder, "outputs.py" if outward else "_inputs.py")))
        node = source.class_of(text, class_name)
        return ObjectType(name, source.properties(node, self._named(text, folder))) if node else None

    def _named(self, text: str, folder: tuple[str, ...]) -> source.Named:
        """What quoted names in a file stand for: types of its own module, or of one that it imports."""
        modules = source.imported_modules(text, folder)

        def named(name: str) -> TypeRef:
            *path, class_name = name.split(".")
            if path and path != ["outputs"]:
                place = (*modules.get(path[0], (path[0],)), *path[1:])
                return self._named_type(place, class_name)
            return self._own_type((*folder, *path), class_name, modules)

        return named

    def _own_type(self, place: tuple[str, ...], name: str, modules: Mapping[str, tuple[str, ...]]) -> TypeRef:
        found = self._named_type(place, name)
        if found != AnyType():
            return found
        others = (self._named_type(other, name) for other in dict.fromkeys(modules.values()))
        return next((other for other in others if other != AnyType()), AnyType())

    def _named_type(self, place: tuple[str, ...], name: str) -> TypeRef:
        """An object or an enum of a module; any type where the module has neither."""
        outward = place[-1:] == ("outputs",)
        folder = place[:-1] if outward else place
        if source.has_class(self._text("/".join((*folder, "outputs.py" if outward else "_inputs.py"))), name):
            return ObjectOf(".".join((*place, name)))
        enum = source.class_of(self._text("/".join((*folder, "_enums.py"))), name)
        return EnumOf(".".join((*folder, name)), source.enum_values(enum)) if enum else AnyType()


def _secret(found: Property, secret: bool) -> Property:
    return replace(found, secret=True) if secret else found


def _short_forms(token: str) -> list[str]:
    """The shorter ways to write a full token, shortest last: `aws:s3:Bucket`, `random:RandomPassword`."""
    package, _, rest = token.partition(":")
    module, _, name = rest.rpartition(":")
    folder, _, own = module.partition("/")
    forms = []
    if own and own == name[:1].lower() + name[1:]:
        module = folder
        forms.append(f"{package}:{module}:{name}")
    if module in {"index", ""}:
        forms.append(f"{package}:{name}")
    return forms


def short_token(token: str) -> str:
    """The shortest form of a full token."""
    return [token, *_short_forms(token)][-1]


def _snake(name: str) -> str:
    return _WORDS.sub(r"\1_\2", _ACRONYMS.sub(r"\1_\2", name)).lower()
