"""Names of Kubernetes things: small, immutable, hashable."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class GroupKind:
    """A kind in its API group, whatever its version. `str()` gives `Kind.group`."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind

    @classmethod
    def parse(cls, text: str) -> GroupKind:
        """The group and kind that `Kind.group` names."""
        kind, _, group = text.partition(".")
        return cls(group, kind)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> GroupKind:
        """The group and kind that a document, or a reference with apiVersion and kind, names.

        For a native resource they are package and module, and the type's name: `aws:s3` and `Bucket`.
        """
        if is_native(data):
            package, module, name = native_parts(str(data["type"]))
            return cls(f"{package}:{module}", name)
        return cls(group_of(str(data.get("apiVersion", ""))), str(data.get("kind", "")))

    @property
    def built_in(self) -> bool:
        """Whether it is a kind of Kubernetes itself: of the core group, of one without a dot, or of `*.k8s.io`."""
        return ":" not in self.group and ("." not in self.group or self.group.endswith(".k8s.io"))


@dataclass(frozen=True, slots=True, order=True)
class ClaimKey:
    """A claim's address in a stack. `str()` gives `Kind.group/namespace/name`, without namespace at cluster scope."""

    group_kind: GroupKind
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.group_kind}/{self.place}"

    @property
    def place(self) -> str:
        """Namespace and name."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def short(self) -> str:
        """The claim for a person to read: `Kind namespace/name`."""
        return f"{self.group_kind.kind} {self.place}"

    @classmethod
    def parse(cls, text: str) -> ClaimKey:
        """The claim that `Kind.group/namespace/name` or `Kind.group/name` names."""
        kind, *place = text.split("/")
        return cls(GroupKind.parse(kind), place[0] if len(place) > 1 else "", place[-1])


@dataclass(frozen=True, slots=True, order=True)
class ClassKey:
    """A class's address. `str()` gives `Kind.group/name`."""

    group_kind: GroupKind
    name: str

    def __str__(self) -> str:
        return f"{self.group_kind}/{self.name}"

    @classmethod
    def parse(cls, text: str) -> ClassKey:
        """The class that `Kind.group/name` names."""
        kind, name = text.split("/")
        return cls(GroupKind.parse(kind), name)


ObjectKey = ClaimKey
"""Any object's address is written as a claim's is."""


class ChildAddress(str):
    """A child's address in the plan: `<claim>/<template>`.

    It is a text, because it is a key in plans, records and pictures. Nothing cuts it: the template's name may have
    slashes of its own, so the parts are kept.
    """

    __slots__ = ("claim", "template")

    claim: ClaimKey
    template: str

    def __new__(cls, claim: ClaimKey, template: str) -> ChildAddress:
        """The address of what a template composes for a claim."""
        self = super().__new__(cls, f"{claim}/{template}")
        self.claim, self.template = claim, template
        return self

    def __getnewargs__(self) -> tuple[ClaimKey, str]:  # type: ignore[override]  # of str it is the text alone
        return self.claim, self.template


GET = "get"
"""What a native resource has in the place of properties if it exists already: the id that it is read by."""


def is_native(data: Mapping[str, Any]) -> bool:
    """Whether a document is a native resource, of a Pulumi provider: it has a `type` instead of apiVersion and kind."""
    return isinstance(data.get("type"), str) and "apiVersion" not in data and "kind" not in data


def native_parts(text: str) -> tuple[str, str, str]:
    """Package, module and name of a type token, short or full; the parts of what is no token are as good as they get.

    `aws:s3/bucket:Bucket`, which repeats the name behind the module, is `aws:s3:Bucket`. No module is `index`.
    """
    package, _, rest = text.partition(":")
    module, _, name = rest.rpartition(":")
    outer, _, last = module.rpartition("/")
    repeated = outer and last == lower_first(name)
    return package, (outer if repeated else module) or "index", name


def lower_first(text: str) -> str:
    """A text that begins with a lower case letter."""
    return text[:1].lower() + text[1:]


def group_of(api_version: str) -> str:
    """The group of an apiVersion; the core group is the empty text."""
    return api_version.rpartition("/")[0]


def kebab(kind: str) -> str:
    """A kind as a resource name: MySQLServer gives my-sql-server."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", kind)
    return spaced.lower()
