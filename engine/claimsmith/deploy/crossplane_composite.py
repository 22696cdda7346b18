"""The base of components for Crossplane compositions: a composite with a status and an environment.

Patches read a child's fields from the live object, once the engine has created it. The outputs of Pulumi's Kubernetes
provider have the status of the moment at which it stopped waiting, and change with the next refresh only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pulumi

from claimsmith.base import fieldpath
from claimsmith.base.absent import ABSENT
from claimsmith.base.errors import ComposeError, ReferenceError_
from claimsmith.compose import references
from claimsmith.compose.references import Selection
from claimsmith.deploy.component import Composite
from claimsmith.deploy.values import settled
from claimsmith.dialects.common.klass import Side
from claimsmith.patching import environments


class CrossplaneComposite(Composite):
    """The resources composed for one Crossplane composite resource, or the composite of one Crossplane claim."""

    def _begin(self) -> None:
        self.environment: dict[str, Any] = {}

    def start_environment(self, sources: Mapping[str, Any]) -> None:
        """Start the environment with the `EnvironmentConfig`s that the sources name or select."""
        sides = {Side.claim: self._args, Side.environment: self.environment}
        try:
            self.environment = environments.started(sources, sides, self._context.environments)
        except ComposeError as error:
            if self._context.planned:
                raise
            fix = "pass those that it reads: context=Context(environments=[…])"
            problems = [replace(p, what=f"{self._address}: {p.what}", path="", fix=fix) for p in error.problems]
            raise ComposeError(*problems) from error

    def selected(self, template: str, path: str, kinds: Sequence[str], labels: Mapping[str, str]) -> Any:
        """The reference to a resource of this stack, as `select` finds it; a field that is not set if there is none."""
        try:
            return {"name": self.select(template, path, kinds, labels)}
        except ReferenceError_:
            return ABSENT

    def _resolve_selectors(self, template: str, document: dict[str, Any]) -> dict[str, Any]:
        """The document with its selectors resolved that a patch copied from the composite.

        A selector for a sibling is left to the provider's controller, as in Crossplane: it gets the label that all
        siblings have.
        """
        label = self.claim.sibling_labels()

        def ref_of(selection: Selection) -> Any:
            kinds = [str(kind) for kind in selection.targets]
            return self.selected(template, fieldpath.to_text(selection.ref_path), kinds, selection.labels)

        def fits(selection: Selection) -> bool:
            sibling = selection.same_parent or label.items() <= selection.labels.items()
            return not sibling and ref_of(selection) is not ABSENT

        return references.replace_selectors(document, self._context.table, ref_of, siblings=label, fits=fits)

    def _for_engine(self, value: Any) -> Any:
        match value:
            case dict():
                return {key: self._for_engine(item) for key, item in value.items()}
            case list():
                return [self._for_engine(item) for item in value]
            case pulumi.Output():
                return value.apply(settled)
            case _:
                return settled(value)
