"""What pictures look like: colours for light and dark, and a sign for each kind of thing."""

from __future__ import annotations

import math

_LIGHT = {
    "ink": "#1c2430", "soft": "#5b6675", "line": "#98a3b3", "card": "#ffffff", "edge": "#d5dbe4", "claim": "#4452c7",
    "claim-frame": "#f5f6fc", "claim-edge": "#c9cef0", "class": "#7d3ac1", "resource": "#1f6f8b", "secret": "#9a6700",
    "created": "#1a7f37", "updated": "#0a69da", "replaced": "#bc4c00", "deleted": "#cf222e", "retained": "#6e7781",
    "on": "#ffffff", "halo": "#f9fafd",
}  # fmt: skip
_DARK = {
    "ink": "#e6eaf0", "soft": "#9aa5b4", "line": "#66717f", "card": "#1b212a", "edge": "#343d49", "claim": "#9aa5ff",
    "claim-frame": "#151a25", "claim-edge": "#39406e", "class": "#c79bf2", "resource": "#6cc3df", "secret": "#e3b341",
    "created": "#3fb950", "updated": "#58a6ff", "replaced": "#f0883e", "deleted": "#ff7b72", "retained": "#8b949e",
    "on": "#0f141b", "halo": "#12161e",
}  # fmt: skip

_RULES = """
.cs-graph{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;color-scheme:light dark}
.cs-graph text{fill:var(--cs-ink)}
.cs-graph a{cursor:pointer}
.cs-graph a:hover .box,.cs-graph a:focus-visible .box{stroke:var(--cs-tint);stroke-width:2}
.cs-graph a:hover .t{text-decoration:underline}
.cs-graph .t{font-size:13px;font-weight:600}
.cs-graph .s{font-size:11px;font-family:ui-monospace,"SFMono-Regular",Menlo,Consolas,"DejaVu Sans Mono",monospace}
.cs-graph .s{fill:var(--cs-soft)}
.cs-graph .box{fill:var(--cs-card);stroke:var(--cs-edge)}
.cs-graph .frame>.box,.cs-graph .frame>a>.box{fill:var(--cs-claim-frame);stroke:var(--cs-claim-edge)}
.cs-graph .deep>.box,.cs-graph .deep>a>.box{fill:var(--cs-card)}
.cs-graph .sign{fill:none;stroke:var(--cs-tint);stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}
.cs-graph .claim{--cs-tint:var(--cs-claim)}
.cs-graph .field{--cs-tint:var(--cs-claim)}
.cs-graph .class{--cs-tint:var(--cs-class)}
.cs-graph .resource{--cs-tint:var(--cs-resource)}
.cs-graph .secret{--cs-tint:var(--cs-secret)}
.cs-graph .created{--cs-mark:var(--cs-created)}
.cs-graph .updated{--cs-mark:var(--cs-updated)}
.cs-graph .replaced{--cs-mark:var(--cs-replaced)}
.cs-graph .deleted{--cs-mark:var(--cs-deleted)}
.cs-graph .retained{--cs-mark:var(--cs-retained)}
.cs-graph .marked>.box,.cs-graph .marked>a>.box{stroke:var(--cs-mark);stroke-width:1.6}
.cs-graph .deleted>.box,.cs-graph .deleted>a>.box{stroke-dasharray:5 4}
.cs-graph .retained>.box,.cs-graph .retained>a>.box{stroke-dasharray:5 4}
.cs-graph .deleted>.t,.cs-graph .deleted>a>.t{text-decoration:line-through}
.cs-graph .danger{--cs-mark:var(--cs-deleted)}
.cs-graph .danger>.box:last-of-type,.cs-graph .danger>a>.box:last-of-type{stroke-width:2.6}
.cs-graph .danger>.t,.cs-graph .danger>a>.t{fill:var(--cs-deleted)}
.cs-graph .mark{fill:var(--cs-mark)}
.cs-graph .m{fill:var(--cs-on);font-size:13px;font-weight:700;text-anchor:middle}
.cs-graph .count{fill:var(--cs-tint)}
.cs-graph .n{fill:var(--cs-on);font-size:11px;font-weight:700;text-anchor:middle}
.cs-graph .line{fill:none;stroke:var(--cs-line);stroke-width:1.4}
.cs-graph .head{fill:var(--cs-line);stroke:none}
.cs-graph .gives .line{stroke:var(--cs-claim)}
.cs-graph .gives .head{fill:var(--cs-claim)}
.cs-graph .makes .line{stroke:var(--cs-class)}
.cs-graph .makes .head{fill:var(--cs-class)}
.cs-graph .secret .line{stroke:var(--cs-secret);stroke-dasharray:3 3}
.cs-graph .secret .head{fill:var(--cs-secret)}
.cs-graph .l{font-size:10.5px;fill:var(--cs-soft);text-anchor:middle;paint-order:stroke;stroke:var(--cs-halo)}
.cs-graph .l{stroke-width:6px;stroke-linejoin:round}
"""

SIGNS = {
    "claim": "M2 1.5h7l3 3v8H2zM9 1.5v3h3M4.5 7.5h5M4.5 10h3",
    "class": "M7 1.5l5.5 3L7 7.5l-5.5-3zM1.5 7.5l5.5 3 5.5-3M1.5 10.2l5.5 3 5.5-3",
    "resource": "M7 1.2l5.2 2.9v5.8L7 12.8 1.8 9.9V4.1zM1.8 4.1L7 7l5.2-2.9M7 7v5.8",
    "field": "M2 4h10M2 7h10M2 10h6",
    "secret": "M4.4 6.1a2.9 2.9 0 1 1 0 3.8a2.9 2.9 0 0 1 0-3.8zM8.7 8H13v2.2M11 8v1.8",
}
"""The paths of the signs, in squares of 14."""

MARKS = {"created": "+", "updated": "~", "replaced": "±", "deleted": "−", "retained": "="}
"""The text in the badge of a changed node: a state is not shown by colour alone."""
DANGER = "!"
"""What stands there where something would be lost."""


_STEP, _STEPS = 100, 40


def size(width: float) -> str:
    """The class of a picture of some width. In a page it may be made smaller, as long as its words can be read."""
    return f"cs-w{min(math.ceil(width / _STEP), _STEPS)}"


def css() -> str:
    """The rules of all pictures."""
    sizes = "".join(f".cs-w{n}{{min-width:{n * _STEP * 7 // 10}px}}" for n in range(1, _STEPS + 1))
    dark = f"@media screen and (prefers-color-scheme: dark){{.cs-graph{{{_colours(_DARK)}}}}}"
    return f".cs-graph{{{_colours(_LIGHT)}}}{dark}{_RULES}{sizes}"


def _colours(palette: dict[str, str]) -> str:
    return ";".join(f"--cs-{name}:{value}" for name, value in palette.items())
