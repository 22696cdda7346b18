"""A native sink of connection details: resources that a class of the platform creates from the details of each claim.

The class is one like any other, with claims of the kind `ConnectionDetails`: their spec has the details, and names the
claim that they are of. Its component is a child of the claim's component.
"""

from __future__ import annotations

from typing import Any

import pulumi

from claimsmith.base.errors import DeployError, Problem
from claimsmith.compose.plan import PlannedClaim
from claimsmith.compose.sinks import COMPONENT, SERVES, sink_document
from claimsmith.deploy.component import Composite
from claimsmith.deploy.context import Context
from claimsmith.dialects.common.klass import Class
from claimsmith.platform.catalog import Catalog
from claimsmith.project.connection_settings import CONFIG_KEY


def sink_class(catalog: Catalog) -> Class:
    """The class of the platform that serves connection details: exactly one, of native resources."""
    classes = catalog.serving(SERVES)
    if len(classes) != 1:
        names = ", ".join(str(klass.key) for klass in classes) or "none"
        what = f"{CONFIG_KEY} asks for a sink, which one class of claims of {SERVES} describes; there are: {names}"
        fix = "add it as components/connection-sink/class.yaml" if not classes else "keep one of them for this stack"
        raise DeployError(Problem(what, fix=fix))
    klass = classes[0]
    for template in klass.templates:
        if not template.native:
            what = f"the sink of connection details {klass.name!r} has a Kubernetes object, {template.name!r}"
            fix = "use native resources; in a cluster, claims ask for a Secret: writeConnectionSecretToRef"
            raise DeployError(klass.document.problem(what, template.at, fix))
    return klass


def sink_of(
    component: type[Composite], claim: PlannedClaim, parent: Composite, details: Any, context: Context
) -> Composite:
    """The resources for the details of a claim, as a part of its component."""
    args = sink_document(claim, details)
    opts = pulumi.ResourceOptions(parent=parent)
    return component(f"{claim.component_name}/{COMPONENT}", args, opts, context=context)
