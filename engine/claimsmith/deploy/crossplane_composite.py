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
from claimsmith.base.values import copied
from claimsmith.compose import piped, references
from claimsmith.compose.options import options_of
from claimsmith.compose.piped import Piped
from claimsmith.compose.references import Selection
from claimsmith.deploy import secrets
from claimsmith.deploy.component import Composite
from claimsmith.deploy.kubernetes_object import KubernetesObject, resource_options
from claimsmith.deploy.pipelines import LiveObjects, as_input, composition_of
from claimsmith.deploy.values import evaluate, settled
from claimsmith.dialects.common import ordering
from claimsmith.dialects.common.klass import Side, Template
from claimsmith.patching import environments
from claimsmith.project.checkpoint import HeldObject
from claimsmith.templating import gofunction
from claimsmith.templating.readings import Scalar


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

    def pipeline(self, steps: Sequence[Mapping[str, Any]]) -> list[secrets.Source]:
        """Register the resources that the steps of the composition make; returns the sources of connection details.

        The plan of a stack has run the steps already, with what exists in the cluster.
        """
        composed = self._context.piped.get(self._address)
        if composed is None:
            if self._context.planned:
                return []
            composed = self._run(steps)
        self.status, self.environment = dict(composed.status), dict(composed.environment)
        found: list[secrets.Source] = []
        for template in composed.templates:
            child = self._register(template, composed)
            if template.details:
                found.append((child, {d.name: d if not d.key else d.key for d in template.details}))
        for one in self._context.unseen.get(self.claim.owner, ()):
            self._keep(one, composed)
        return found

    def _run(self, steps: Sequence[Mapping[str, Any]]) -> Piped:
        """What the steps make, without a plan: for a component in a program of its own."""
        klass = composition_of(self.CLAIM.api_version, self.CLAIM.kind, self.CLASS.name, [dict(s) for s in steps])
        cluster = self._context.cluster
        live = LiveObjects(lambda: cluster) if cluster else None
        metadata = {**self._args["metadata"], "uid": self.claim.uid}
        composite = {**self._args, "apiVersion": klass.claim_api_version, "kind": klass.serves.kind}
        composed = piped.run(
            klass,
            {**composite, "metadata": metadata},
            self.claim,
            resources=self._context.environments,
            live=live,
        )
        for problem in composed.warnings:
            pulumi.log.warn(str(problem), self)
        templates = (
            replace(t, managed=self.claim.dialect.is_managed(t.group_kind, managed=(), seen=()))
            for t in composed.templates
        )
        return composed.marked(templates, self.claim.key)

    def _register(self, template: Template, composed: Piped) -> "KubernetesObject | Composite | None":
        """Register the resource of a template that a pipeline made."""
        fields = {k: copied(v) for k, v in template.base.items() if k not in ("apiVersion", "kind")}
        head = template.name, template.api_version, template.kind
        if template.composite:
            return self.composite(*head, fields=fields)
        for path, scalar in composed.scalars.get(template.name, {}).items():
            fieldpath.put(fields, path, self._filled(scalar))
        awaits = composed.awaited.get(template.name, ())
        ready = ordering.ready(template)
        return self.child(*head, managed=template.managed, ready=ready, awaits=awaits, fields=fields)

    def _filled(self, scalar: Scalar) -> pulumi.Output[Any]:
        """What a template writes in the place of a field of another resource, once that one is created."""
        [source] = [c for c in self._children if c.template == scalar.reading.resource]
        assert isinstance(source, KubernetesObject)  # it is registered before those that wait for it
        return self._observe(source).apply(lambda document: evaluate(gofunction.filled, scalar, document))

    def _keep(self, one: HeldObject, composed: Piped) -> None:
        """Register an object as it is, which the pipeline does not make now, for what it has not seen yet."""
        head = {"apiVersion": one.api_version, "kind": one.key.group_kind.kind}
        place = {"namespace": one.key.namespace} if one.key.namespace else {}
        live = self._context.live({**head, "metadata": {"name": one.key.name, **place}})
        if live is None:
            return
        document = {**as_input(live), **head}
        options = options_of(document, managed=False, identity=self.claim)
        opts = resource_options(
            replace(options, ignore_changes=tuple(k for k in document if k not in head)),
            parent=self,
            provider=self._context.provider_for(self.CLASS.service_account),
        )
        child = KubernetesObject(f"{self._name}/{one.part}", document, opts)
        self._children.append(child)
        seen = ", ".join(map(repr, composed.unseen))
        what = f"{self._address}: {one.part!r} stays, though the pipeline does not make it now: it has not seen {seen}"
        pulumi.log.warn(f"{what} ready; deploy again once it is", self)

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
