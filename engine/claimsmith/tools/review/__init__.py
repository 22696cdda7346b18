"""The review of a change: two plans of each environment compared, claim by claim, with warnings.

`snapshot` plans an environment as some files have it, and `resources` lists what the plan deploys, by URN. `compare`
pairs the resources of two snapshots, `fields` compares two documents, `causes` finds what changed a field, `staying`
which live objects stay under other templates, and `by_claim` sorts it all by claim. `warnings`, with `access`,
`immutable` and `settings`, reports the risks. `changes` is the review as data; `text`, `markdown` and `page` write it,
`outputs` lists the formats. `preview` compares it with the engine's preview. `project` reviews a git revision against
the working tree.
"""

from claimsmith.tools.review.by_claim import stack_review
from claimsmith.tools.review.changes import Review, StackReview
from claimsmith.tools.review.compare import compare
from claimsmith.tools.review.snapshot import Snapshot
from claimsmith.tools.review.warnings import warnings_of

__all__ = ["Review", "Snapshot", "StackReview", "compare", "stack_review", "warnings_of"]
