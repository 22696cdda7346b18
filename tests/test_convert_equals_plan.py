"""What is converted makes the same children: the plan of the older form, and the offline render of today's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import pytest

from claimsmith.binding import Unbound
from claimsmith.catalog import Catalog, read_catalog
from claimsmith.convert import Conversion, convert
from claimsmith.load import load
from claimsmith.models.objects import ClaimKey
from claimsmith.plan import Plan
from claimsmith.project import Project
from claimsmith.reference import Table
from tests import golden_cases
from tests.conftest import ROOT
from tests.converted import Platform, new, old, pairs, targets_of
from tests.samples import expanded
from claimsmith.plan import build_plan
