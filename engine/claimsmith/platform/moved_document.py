"""The document `Moved` as it is written."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from claimsmith.base.model import Model


class Renamed(Model):
    """A template that has another name now."""

    from_: str = Field(alias="from", min_length=1)
    to: str = Field(min_length=1)


class Retyped(Model):
    """A template whose apiVersion or type is another one now."""

    template: str = Field(min_length=1)
    from_: str = Field(alias="from", min_length=1)


class Split(Model):
    """A template in whose place there are several, one of which keeps its object."""

    from_: str = Field(alias="from", min_length=1)
    into: tuple[str, ...] = Field(strict=False)
    keeps: str

    @model_validator(mode="after")
    def _sound(self) -> Split:
        if len({*self.into}) < 2 or self.keeps not in self.into:
            raise ValueError("a template is split into two or more, and one of them keeps its object; fix: name it")
        return self


class Joined(Model):
    """Templates in whose place there is one, which keeps the object of one of them."""

    from_: tuple[str, ...] = Field(alias="from", strict=False)
    to: str = Field(min_length=1)
    keeps: str
    then: Literal["delete", "retain"]

    @model_validator(mode="after")
    def _sound(self) -> Joined:
        if len({*self.from_}) < 2 or self.keeps not in self.from_:
            raise ValueError("two or more templates are joined, and the object of one of them is kept; fix: name it")
        return self


class Entry(Model):
    """What became of one template, or of several."""

    renamed: Renamed | None = None
    retyped: Retyped | None = None
    split: Split | None = None
    joined: Joined | None = None

    @model_validator(mode="after")
    def _one(self) -> Entry:
        if sum(part is not None for part in (self.renamed, self.retyped, self.split, self.joined)) != 1:
            raise ValueError("an entry is one of renamed, retyped, split and joined; fix: write each as its own entry")
        return self


class MovedDocument(Model):
    """A document `Moved`."""

    api_version: Literal["claimsmith.io/v1alpha1"]
    kind: Literal["Moved"]
    class_: str = Field(alias="class", min_length=1)
    from_: str | None = Field(None, alias="from", min_length=1)
    moved: tuple[Entry, ...] = Field(strict=False)
