"""One side of a review: an environment's plan, with what its fields are told from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from claimsmith.binding import Record
from claimsmith.catalog import Catalog
from claimsmith.errors import Problem
from claimsmith.expand import Expansion
from claimsmith.explain.facts import Facts, Known
from claimsmith.models.objects import ClaimKey
from claimsmith.models.review_table import KindTable
from claimsmith.plan import Plan, PlannedClaim, target_of_given, targets_of
from claimsmith.reference import Table
from claimsmith.review.immutable import Rules, rules_of
from claimsmith.review.made import Made, made_by


@dataclass(frozen=True)
class Side:
    """All that is known of an environment on one side."""

    catalog: Catalog
    records: Mapping[ClaimKey, Record]
    table: Table
    kinds: KindTable
    expansion: Expansion
    plan: Plan
    refusals: tuple[Problem, ...] = ()
    """Why the engine's program would refuse this side as it is."""
    keeps_records: bool = False
    """Whether claims and composites are written to the cluster too."""

    @cached_property
    def made(self) -> dict[str, Made]:
        """Every object by its URN."""
        return made_by(self.plan, self.expansion.drafts, self.catalog.resources, records=self.keeps_records)

    @cached_property
    def claims(self) -> dict[str, PlannedClaim]:
        """The claims by their addresses, without those that are parts of others."""
        return {c.address: c for c in self.plan.claims}

    @cached_property
    def rules(self) -> Rules:
        """The fields that the platform's definitions do not let change."""
        return rules_of(d.data for d in self.catalog.crds)

    @cached_property
    def facts(self) -> Facts:
        """The same for those who trace a field."""
        drafts = {d.binding.claim.key: d for d in self.expansion.drafts}
        facts = Facts(self.catalog, self.records, self.table, self.plan.project, self.plan.stack)
        for planned in self.plan.claims:
            claim = planned.binding.claim
            facts.claims[claim.key] = Known(claim, drafts.get(claim.key), planned)
        facts.targets = targets_of(d for root in self.expansion.drafts for d in root.walk())
        for resource in self.plan.resources:
            facts.targets.setdefault(resource.key.group_kind, []).append(target_of_given(resource))
        return facts
