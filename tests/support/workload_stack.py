"""A stack with applications, targets and clusters, from documents to a plan."""

from __future__ import annotations

from importlib import resources as packaged
from typing import Any

from claimsmith.base.documents import read_documents
from claimsmith.base.names import ClaimKey
from claimsmith.compose import scheduling
from claimsmith.compose.drafts import Expansion
from claimsmith.compose.expand import expand
from claimsmith.compose.plan import Plan, given_resource
from claimsmith.compose.planning import build_plan
from claimsmith.dialects.common.bindable import read_bindable
from claimsmith.kubernetes.scope import Scopes
from claimsmith.platform.binding import Record
from claimsmith.platform.catalog import Catalog, read_catalog
from tests.e2e.workload_examples import development_class
from tests.support.samples import documents_of

Data = dict[str, Any]


class Stack:
    """A stack's files: the platform's classes, the teams' claims, what the platform gives."""

    def __init__(self, claims: list[Data], resources: list[Data] | None = None, platform: list[Data] | None = None):
        table = packaged.files("claimsmith").joinpath("data/bindable.yaml").read_text(encoding="utf-8")
        bindable = read_bindable(read_documents(table, file="bindable.yaml"))
        self.catalog: Catalog = read_catalog(
            documents_of(*(platform if platform is not None else [development_class()])),
            documents_of(*claims, file="claims.yaml"),
            bindable=bindable,
            managed=bindable.clusters,
            resources=documents_of(*(resources or []), file="resources.yaml"),
        )
        self.scopes = Scopes(dict.fromkeys(bindable.clusters, False))
        self.expansion: Expansion = expand(self.catalog, [], project="shop", stack="dev", scopes=self.scopes)

    def schedule(self, *before: Record, rebind: frozenset[ClaimKey] = frozenset()) -> scheduling.Schedule:
        return scheduling.schedule(self.catalog, self.expansion, before, project="shop", stack="dev", rebind=rebind)

    def plan(self, *before: Record) -> Plan:
        given = [
            given_resource(
                k, d.data, namespaced=self.scopes.namespaced(k.group_kind), managed=k.group_kind in self.catalog.managed
            )
            for k, d in self.catalog.resources.items()
        ]
        return build_plan(
            self.expansion,
            project="shop",
            stack="dev",
            table={},
            given=given,
            schedule=self.schedule(*before),
            scopes=self.scopes,
        )
