"""The functions of go-sprig templates: a listed subset of Go's, sprig's and Helm's, none of which looks outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from claimsmith.base.errors import suggest
from claimsmith.templating.functions import (
    builtins,
    defaults,
    dicts,
    encoding,
    lists,
    numbers,
    regex,
    strings,
    versions,
    words,
)
from claimsmith.templating.functions.registry import Family, Function
from claimsmith.templating.problems import TemplateError, refusal

FAMILIES: Final[tuple[Family, ...]] = (
    builtins.FAMILY,
    defaults.FAMILY,
    strings.FAMILY,
    words.FAMILY,
    numbers.CONVERSION,
    numbers.FAMILY,
    lists.FAMILY,
    dicts.FAMILY,
    encoding.FAMILY,
    regex.FAMILY,
    defaults.KINDS,
    versions.FAMILY,
)

FUNCTIONS: Final[dict[str, Function]] = {
    name: function for family in FAMILIES for name, function in family.functions.items()
}

REFUSED: Final[dict[str, str]] = {
    "a template has no clock": """ago date dateInZone dateModify date_in_zone date_modify duration durationRound
        htmlDate htmlDateInZone mustDateModify must_date_modify mustToDate now toDate unixEpoch""",
    "a template has no randomness: the same claim must give the same resource": """bcrypt buildCustomCert
        derivePassword encryptAES genCA genCAWithKey genPrivateKey genSelfSignedCert genSelfSignedCertWithKey
        genSignedCert genSignedCertWithKey htpasswd randAlpha randAlphaNum randAscii randBytes randInt randNumeric
        shuffle uuidv4""",
    "a template cannot read the environment": "env expandenv",
    "a template cannot read files": "readFile glob osBase osClean osDir osExt osIsAbs",
    "a template cannot use the network or a cluster": "getHostByName lookup",
    "a template cannot call code or other templates": "call include tpl",
    "the output is YAML, not a web page": "html js",
}
"""Functions that are left out on purpose, by the reason."""

_REASONS = {name: reason for reason, names in REFUSED.items() for name in names.split()}


def find(name: str, table: Mapping[str, Function] | None = None) -> Function:
    """The function of that name, of a table where one is given; refused with the reason where there is none."""
    known = FUNCTIONS if table is None else table
    if name in known:
        return known[name]
    raise unknown(name, known)


def unknown(name: str, known: Mapping[str, Function] = FUNCTIONS) -> TemplateError:
    """Why there is no such function."""
    if name in _REASONS:
        fix = "give the value in the claim or the class, and read it as .spec.field"
        return refusal(f"the function {name} is refused: {_REASONS[name]}", fix)
    if name.startswith("must") and (name[4:5].lower() + name[5:]) in FUNCTIONS:
        plain = name[4:5].lower() + name[5:]
        return refusal(f"the function {name} is outside the subset", f"use {plain}, which refuses bad input too")
    fix = suggest(name, known, f"a field has a leading dot: .{name}")
    return refusal(f"{name} is not a function of go-sprig templates, or outside their subset", fix)
