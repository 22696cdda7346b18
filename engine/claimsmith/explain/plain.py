"""Any part of a story as plain data, for a machine to read."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from claimsmith.absent import ABSENT
from claimsmith.errors import Problem
from claimsmith.models.objects import ClaimKey, ClassKey, GroupKind
from claimsmith.values import Mix, Ref


def plain(value: Any) -> Any:
    """Any part of a story as JSON knows it."""
    match value:
        case Problem():
            return value.to_dict()
        case ClaimKey() | ClassKey() | GroupKind() | Ref() | Mix():
            return str(value)
        case _ if value is ABSENT:
            return None
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = {"klass": "class"}
            fields = [f.name for f in dataclasses.fields(value)]
            return {names.get(n) or to_camel(n): plain(getattr(value, n)) for n in fields}
        case Mapping():
            return {str(k): plain(v) for k, v in value.items()}
        case tuple() | list():
            return [plain(v) for v in value]
        case _:
            return value
