"""The story of a claim: who could have served it, who does and why, and where each field of each child comes from.

`facts` gathers what is known of a stack's claims, whatever is wrong with some of them; `places` looks things up from
one; `story` tells it as data, with `parts` (children, patches, Secrets), `links` (references) and `written` (what
claimsmith adds); `words` says the small things, `text` writes it down for a person, and `provenance` follows one field.
"""

from claimsmith.explain.facts import Facts, gather
from claimsmith.explain.plain import plain
from claimsmith.explain.provenance import Trace, trace, traces
from claimsmith.explain.story import Story, tell
from claimsmith.explain.text import part_text, story_text, trace_text

__all__ = [
    "Facts",
    "Story",
    "Trace",
    "gather",
    "part_text",
    "plain",
    "story_text",
    "tell",
    "trace",
    "trace_text",
    "traces",
]
