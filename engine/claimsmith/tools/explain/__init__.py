"""How a claim was resolved: the candidate classes, the selected class and why, and where each field comes from.

`facts` gathers the claims of a stack, whatever is wrong with some of them. `explanation` explains a claim as data, with
`children` (patches, references, Secrets) and `added_objects` (what claimsmith writes beside them). `provenance` follows
one field. `formatting` formats values, and `text` writes an explanation for the terminal. `project` reads the files.
"""

from claimsmith.tools.explain.explanation import Explanation, explain_claim
from claimsmith.tools.explain.facts import Facts, gather
from claimsmith.tools.explain.formatting import plain
from claimsmith.tools.explain.provenance import Trace, trace, traces
from claimsmith.tools.explain.text import explanation_text, part_text, trace_text

__all__ = [
    "Explanation",
    "Facts",
    "Trace",
    "explain_claim",
    "explanation_text",
    "gather",
    "part_text",
    "plain",
    "trace",
    "trace_text",
    "traces",
]
