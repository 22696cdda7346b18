"""The names of compositions: classes of several kinds may share a name, compositions may not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from claimsmith.models.klass import Class
from claimsmith.models.objects import ClassKey, GroupKind, kebab

Key = tuple[ClassKey, GroupKind]


@dataclass(frozen=True, slots=True)
class Names:
    """The composition of each class, for each kind of claim that it serves."""

    by_class: dict[Key, str] = field(default_factory=dict)

    def __getitem__(self, klass: Class) -> str:
        return self.by_class[klass.key, klass.serves]


_STEPS: tuple[Callable[[Class], str], ...] = (
    lambda c: c.name,
    lambda c: f"{c.name}-{kebab(c.key.group_kind.kind)}",
    lambda c: f"{c.name}-{kebab(c.serves.kind)}",
    lambda c: f"{c.name}-{kebab(c.key.group_kind.kind)}-for-{kebab(c.serves.kind)}",
    lambda c: f"{c.name}-{kebab(c.key.group_kind.kind)}-for-{kebab(c.serves.kind)}.{c.serves.group}",
)
"""Ways to name a composition, the plainest first."""


def names(classes: Iterable[Class], taken: Iterable[str] = ()) -> Names:
    """A name for each: the class's own, and with its kind or the claim's where others would have it too.

    No numbers: a class that is added later must not change which composition is which.
    """
    made: dict[Key, str] = {}
    left = list(classes)
    used = set(taken)
    for step in _STEPS:
        counted = Counter(step(c) for c in left)
        fits = [c for c in left if counted[step(c)] == 1 and step(c) not in used]
        made |= {(c.key, c.serves): step(c) for c in fits}
        used |= {step(c) for c in fits}
        left = [c for c in left if (c.key, c.serves) not in made]
    return Names(made | {(c.key, c.serves): f"{_STEPS[-1](c)}.{c.key.group_kind.group}" for c in left})
