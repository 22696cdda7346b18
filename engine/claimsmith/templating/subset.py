"""What templates may use, as a Markdown table generated from the code: the documentation is checked against it."""

from __future__ import annotations

from collections.abc import Iterable

from claimsmith.templating import functions, jinja_functions, limits

_ACTIONS = """`{{ }}`, `{{- -}}`, `{{/* */}}`, `.a.b`, `$`, `$x := …`, `$x = …`, pipelines, `( )`, text, raw text,
characters, numbers, `true`, `false`, `nil`, `if`, `else if`, `else`, `with`, `else with`, `range`, `break`,
`continue`, `end`"""
_STATEMENTS = "`{{ }}`, `{% if %}`, `{% for %}`, `{% set x = … %}`, `{% with %}`, `{% raw %}`, `{# #}`"
_EXPRESSIONS = """fields, `[ ]`, slices, literals, `+ - * / // % **`, `~`, comparisons, `in`, `and or not`, `if else`,
`is`, filters"""
_OUTSIDE = "`include`, `import`, `extends`, `block`, `macro`, `call`, set blocks, filter blocks"


def subset_table() -> str:
    """The table: engine, what, the names."""
    rows = [("engine", "what", "names"), ("---", "---", "---")]
    rows.append(("go-sprig", "actions", " ".join(_ACTIONS.split())))
    rows += [("go-sprig", family.name, _names(family.functions)) for family in functions.FAMILIES]
    rows += [("go-sprig", f"refused: {why}", _names(names.split())) for why, names in functions.REFUSED.items()]
    rows.append(("go-sprig", "outside the subset", "`define`, `template`, `block`, and all that is not listed"))
    rows.append(("jinja2", "statements", _STATEMENTS))
    rows.append(("jinja2", "expressions", " ".join(_EXPRESSIONS.split())))
    rows.append(("jinja2", "functions", "`range`"))
    rows.append(("jinja2", "filters", _names(sorted(jinja_functions.FILTERS))))
    rows.append(("jinja2", "tests", _names(sorted(jinja_functions.TESTS))))
    for kind, methods in jinja_functions.METHODS.items():
        rows.append(("jinja2", f"methods of {kind.__name__}", _names(sorted(methods))))
    rows.append(("jinja2", "fields of `loop`", _names(sorted(jinja_functions.LOOP_FIELDS))))
    rows.append(("jinja2", "outside the subset", f"{_OUTSIDE}, and all that is not listed"))
    rows.append(("both", "limits", _limits()))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _limits() -> str:
    sizes = f"template {limits.MAX_TEMPLATE}, output {limits.MAX_OUTPUT}, one value {limits.MAX_SIZE} characters"
    return f"{sizes}; {limits.MAX_STEPS} steps; nesting {limits.MAX_DEPTH}"
