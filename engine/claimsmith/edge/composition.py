"""The base of components for today's compositions: a composite whose children tell it things, and an environment.

What a child tells is read from the live object, once the engine has made it: nothing needs to be refreshed first.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pulumi

from claimsmith import fieldpath, reference
from claimsmith.absent import ABSENT
from claimsmith.compose import environments
from claimsmith.edge.component import Composite
from claimsmith.edge.deployment import Deployment
from claimsmith.edge.managed import Managed
from claimsmith.edge.values import read, settled, told
from claimsmith.errors import ComposeError, ReferenceError_
from claimsmith.models.klass import Side
from claimsmith.reference import Selection


class Composition(Composite):
    """What is made for one composite of today's dialect."""

    def __init__(
        self,
        name: str,
        args: Any,
        opts: pulumi.ResourceOptions | None = None,
        *,
        context: Deployment | None = None,
    ) -> None:
        super().__init__(name, args, opts, context=context)
        self.environment: dict[str, Any] = {}
        self._live: dict[str, pulumi.Output[Any]] = {}

    def start_environment(self, sources: Mapping[str, Any]) -> None:
        """Let the environment start as what the sources name or select."""
        sides = {Side.claim: self._args, Side.environment: self.environment}
        try:
            self.environment = environments.started(sources, sides, self._deployment.environments)
        except ComposeError as error:
            if self._deployment.planned:
                raise
            fix = "pass those that it reads: context=Context(environments=[…])"
            told = [replace(p, what=f"{self._address}: {p.what}", path="", fix=fix) for p in error.problems]
            raise ComposeError(*told) from error

    def selected(self, template: str, path: str, kinds: str, labels: Mapping[str, str]) -> Any:
        """The reference to a resource of this stack of one of these kinds and with these labels; ABSENT without one."""
        try:
            return {"name": self.select(template, path, kinds, labels)}
        except ReferenceError_:
            return ABSENT

    def _followed(self, template: str, document: dict[str, Any]) -> dict[str, Any]:
        """The document with its selectors followed that a patch copied from the composite.

        Which sibling one of them means is not told here, but to its controller, by the label that all siblings have.
        """
        label = self.claim.sibling_labels()

        def ref_of(selection: Selection) -> Any:
            kinds = " or ".join(map(str, selection.targets))
            return self.selected(template, fieldpath.to_text(selection.ref_path), kinds, selection.labels)

        def fits(selection: Selection) -> bool:
            told = selection.same_parent or label.items() <= selection.labels.items()
            return not told and ref_of(selection) is not ABSENT

        return reference.replace_selectors(document, self._deployment.table, ref_of, siblings=label, fits=fits)

    def observed(self, made: Managed | Composite | None, path: str) -> Any:
        """A field of a child once it is there; ABSENT where it has none."""
        match made:
            case None:
                return ABSENT
            case Composite():
                return read({"metadata": made.metadata, "spec": made.spec, "status": made.status}, path)
            case _:
                return self._whole(made).apply(lambda document: told(read, document, path))

    def _whole(self, made: Managed) -> pulumi.Output[Any]:
        """The live object behind a child, read once."""
        if made.template not in self._live:
            known = pulumi.Output.all(made.id, made.metadata, made.spec, made.status)
            self._live[made.template] = known.apply(lambda parts: self._look(made, parts))
        return self._live[made.template]

    async def _look(self, made: Managed, parts: list[Any]) -> dict[str, Any]:
        live = await asyncio.to_thread(told, self._deployment.live, made.document)
        return live or dict(zip(("metadata", "spec", "status"), parts[1:], strict=True))

    def _sent(self, value: Any) -> Any:
        match value:
            case dict():
                return {key: self._sent(item) for key, item in value.items()}
            case list():
                return [self._sent(item) for item in value]
            case pulumi.Output():
                return value.apply(settled)
            case _:
                return settled(value)
