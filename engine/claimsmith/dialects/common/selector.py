"""Label selectors, as Kubernetes knows them."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field, model_validator

from claimsmith.base.model import Model


class Expression(Model):
    """One of a selector's `matchExpressions`."""

    key: str
    operator: str = Field(pattern="^(In|NotIn|Exists|DoesNotExist)$")
    values: tuple[str, ...] = Field((), strict=False)

    @model_validator(mode="after")
    def _sound(self) -> Expression:
        if (self.operator in ("In", "NotIn")) != bool(self.values):
            wanted = "needs values" if self.operator in ("In", "NotIn") else "takes no values"
            raise ValueError(f"the operator {self.operator} {wanted}; fix: see Kubernetes' set-based selectors")
        return self

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels fulfil this expression."""
        match self.operator:
            case "In":
                return labels.get(self.key) in self.values
            case "NotIn":
                return labels.get(self.key) not in self.values
            case "Exists":
                return self.key in labels
            case _:
                return self.key not in labels


class Selector(Model):
    """All of `matchLabels` and `matchExpressions` must hold; an empty selector matches everything."""

    match_labels: dict[str, str] = Field(default_factory=dict)
    match_expressions: tuple[Expression, ...] = Field((), strict=False)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels fulfil the whole selector."""
        return all(labels.get(k) == v for k, v in self.match_labels.items()) and all(
            e.matches(labels) for e in self.match_expressions
        )

    def __str__(self) -> str:
        parts = [f"{k}={v}" for k, v in self.match_labels.items()]
        parts += [f"{e.key} {e.operator} {','.join(e.values)}".rstrip() for e in self.match_expressions]
        return ", ".join(parts) or "anything"
