"""The review of a change: two plans of each environment compared, told claim by claim, with what to beware of.

`made` names all that a plan makes as the engine does, `compare` says what becomes of each, `fields` where two
documents differ, `causes` what made them differ, `warnings` what to beware of. `changes` is the review as data;
`text`, `markdown` and `page` write it down, `engine` holds it against the real engine's preview.
"""

from claimsmith.review.changes import Review, StackReview
from claimsmith.review.compare import compare, stack_review
from claimsmith.review.side import Side
from claimsmith.review.warnings import warnings_of

__all__ = ["Review", "Side", "StackReview", "compare", "stack_review", "warnings_of"]
