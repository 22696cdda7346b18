"""The types that Kubernetes adds to CEL: quantities, URLs, addresses, versions.

The engine has no values of types that are not its own. So a quantity is a map with one key that no input can contain,
while the checker knows it as `kubernetes.Quantity`, and permits nothing but the methods of its type. Two maps are
equal where what they stand for is equal.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from claimsmith.base.errors import TransformError
from claimsmith.functions.engines.cel_declared import Declared, declared_only, function, method
from claimsmith.golang import quantity, url

OPAQUE: Final = f"\ue000type-{secrets.token_hex(8)}\ue001"
"""The key of a value of such a type; it holds the name of the type."""
_VERSION = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?", re.ASCII
)
_SHORT = re.compile(r"[^+-]*", re.ASCII)
_PREFIX = re.compile(r"(.*)/(0|[1-9][0-9]{0,2})", re.DOTALL)
_LEAST_SCALE, _FORM_BITS = 64, 10
_LINK_LOCAL: Final = tuple(map(ipaddress.ip_network, ("169.254.0.0/16", "fe80::/10")))
_LOCAL_MULTICAST: Final = tuple(
    map(ipaddress.ip_network, ("224.0.0.0/24", *(f"ff{scope:x}2::/16" for scope in range(16))))
)
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network = ipaddress.IPv4Interface | ipaddress.IPv6Interface


def _is(reads: Callable[..., Any]) -> Callable[..., bool]:
    """Whether a text can be read."""

    def valid(*values: Any) -> bool:
        try:
            reads(*values)
        except (TransformError, ValueError):
            return False
        return True

    return valid


def _of(kind: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A value of a type; another map has no methods of it."""
    if value.get(OPAQUE) != kind:
        raise ValueError(f"no such overload: it is no {kind}")
    return value


# Quantities


def _quantity(text: str) -> dict[str, Any]:
    return _shown(quantity.parse(text))


def _shown(value: quantity.Quantity) -> dict[str, Any]:
    """A map that is equal to that of each equal quantity.

    Kubernetes distinguishes more than the number: `1000m` is equal to `1`, but no integer. As 0 and 0.0 are equal in
    CEL, a list of them can keep that.
    """
    form = 2 * (value.scale + _LEAST_SCALE) + value.small
    number = value.number
    return {
        OPAQUE: "Quantity",
        "number": f"{number.numerator}/{number.denominator}",
        "form": [0 if form >> bit & 1 else 0.0 for bit in range(_FORM_BITS)],
    }


def _read(value: Any) -> quantity.Quantity:
    if isinstance(value, int):
        return quantity.Quantity(value, 0, small=True)
    found = _of("Quantity", value)
    form = sum(isinstance(zero, int) << bit for bit, zero in enumerate(found["form"]))
    scale = (form >> 1) - _LEAST_SCALE
    return quantity.Quantity(int(Fraction(found["number"]) / Fraction(10) ** scale), scale, small=bool(form & 1))


def _as_integer(value: Any) -> int:
    read = _read(value)
    if not read.is_integer:
        raise ValueError("cannot convert value to integer")
    return int(read.number)


def _sum(one: Any, other: Any) -> dict[str, Any]:
    return _shown(_read(one).plus(_read(other)))


def _difference(one: Any, other: Any) -> dict[str, Any]:
    return _shown(_read(one).minus(_read(other)))


def _compared(one: Any, other: Any) -> int:
    """-1, 0 or 1, for two quantities or two versions, which have methods of the same names."""
    if isinstance(one, dict) and one.get(OPAQUE) == "Semver":
        return _order(_version_of(one), _version_of(other))
    return _order(_read(one).number, _read(other).number)


def _is_less(one: Any, other: Any) -> bool:
    return _compared(one, other) < 0


def _is_greater(one: Any, other: Any) -> bool:
    return _compared(one, other) > 0


def _order(first: Any, second: Any) -> int:
    return int(first > second) - int(first < second)


_QUANTITIES = (
    function("quantity", "kubernetes.Quantity", "string", does=_quantity),
    function("isQuantity", "bool", "string", does=_is(quantity.parse)),
    function("sign", "int", "kubernetes.Quantity", does=lambda q: _compared(q, 0)),
    method("isInteger", "bool", "kubernetes.Quantity", does=lambda q: _read(q).is_integer),
    method("asInteger", "int", "kubernetes.Quantity", does=_as_integer),
    method("asApproximateFloat", "double", "kubernetes.Quantity", does=lambda q: _read(q).to_float()),
    method("compareTo", "int", "kubernetes.Quantity", "kubernetes.Quantity", does=_compared),
    method("isLessThan", "bool", "kubernetes.Quantity", "kubernetes.Quantity", does=_is_less),
    method("isGreaterThan", "bool", "kubernetes.Quantity", "kubernetes.Quantity", does=_is_greater),
    method("add", "kubernetes.Quantity", "kubernetes.Quantity", "kubernetes.Quantity", does=_sum),
    method("add", "kubernetes.Quantity", "kubernetes.Quantity", "int", does=_sum),
    method("sub", "kubernetes.Quantity", "kubernetes.Quantity", "kubernetes.Quantity", does=_difference),
    method("sub", "kubernetes.Quantity", "kubernetes.Quantity", "int", does=_difference),
)


# URLs


def _url(text: str) -> dict[str, Any]:
    read = url.parse_request(text)
    rest = text[len(read.scheme) :]
    return {OPAQUE: "URL", "text": read.scheme + rest}


def _part(name: str) -> Callable[[Any], Any]:
    return lambda value: getattr(url.parse_request(_of("URL", value)["text"]), name)


_URLS = (
    function("url", "kubernetes.URL", "string", does=_url),
    function("isURL", "bool", "string", does=_is(url.parse_request)),
    method("getScheme", "string", "kubernetes.URL", does=_part("scheme")),
    method("getHost", "string", "kubernetes.URL", does=_part("host")),
    method("getHostname", "string", "kubernetes.URL", does=_part("hostname")),
    method("getPort", "string", "kubernetes.URL", does=_part("port")),
    method("getEscapedPath", "string", "kubernetes.URL", does=_part("escaped_path")),
    method("getQuery", "map<string,list<string>>", "kubernetes.URL", does=_part("query")),
)


# Addresses


def _address(text: str) -> _Address:
    found = ipaddress.ip_address(text)
    if isinstance(found, ipaddress.IPv6Address) and (found.scope_id or found.ipv4_mapped):
        raise ValueError(f"IP Address {text!r} has a zone, or is an IPv4-mapped IPv6 address, which is not permitted")
    return found


def _network(text: str) -> _Network:
    found = _PREFIX.fullmatch(text)
    if not found:
        raise ValueError(f"network address parse error during conversion from string: {text!r} has no prefix length")
    return ipaddress.ip_interface(f"{_address(found[1])}/{found[2]}")


def _ip(value: _Address) -> dict[str, Any]:
    return {OPAQUE: "IP", "text": str(value)}


def _cidr(value: _Network) -> dict[str, Any]:
    return {OPAQUE: "CIDR", "text": value.with_prefixlen}


def _read_ip(value: Any) -> _Address:
    return _address(value if isinstance(value, str) else _of("IP", value)["text"])


def _read_cidr(value: Any) -> _Network:
    return _network(value if isinstance(value, str) else _of("CIDR", value)["text"])


def _text(value: Any) -> str:
    """An address or a network as text; one function has both types."""
    if value.get(OPAQUE) not in ("IP", "CIDR"):
        raise ValueError("no such overload: string")
    return str(value["text"])


def _is_global(value: Any) -> bool:
    found = _read_ip(value)
    local = found.is_unspecified or found.is_loopback or found.is_multicast
    return not (local or _within(found, _LINK_LOCAL) or str(found) == "255.255.255.255")


def _within(address: _Address, networks: tuple[Any, ...]) -> bool:
    return any(address in network for network in networks if network.version == address.version)


def _masked(cidr: Any) -> dict[str, Any]:
    return _cidr(_network(_read_cidr(cidr).network.with_prefixlen))


def _holds(cidr: Any, address: Any) -> bool:
    return _within(_read_ip(address), (_read_cidr(cidr).network,))


def _contains(cidr: Any, other: Any) -> bool:
    outer, inner = _read_cidr(cidr).network, _read_cidr(other).network
    return outer.version == inner.version and inner.subnet_of(outer)  # type: ignore[arg-type]  # of one version


_ADDRESSES = (
    function("ip", "net.IP", "string", does=lambda text: _ip(_address(text))),
    function("isIP", "bool", "string", does=_is(_address)),
    function("ip.isCanonical", "bool", "string", does=lambda text: str(_address(text)) == text),
    method("family", "int", "net.IP", does=lambda value: _read_ip(value).version),
    method("isUnspecified", "bool", "net.IP", does=lambda value: _read_ip(value).is_unspecified),
    method("isLoopback", "bool", "net.IP", does=lambda value: _read_ip(value).is_loopback),
    method("isLinkLocalMulticast", "bool", "net.IP", does=lambda value: _within(_read_ip(value), _LOCAL_MULTICAST)),
    method("isLinkLocalUnicast", "bool", "net.IP", does=lambda value: _within(_read_ip(value), _LINK_LOCAL)),
    method("isGlobalUnicast", "bool", "net.IP", does=_is_global),
    function("cidr", "net.CIDR", "string", does=lambda text: _cidr(_network(text))),
    function("isCIDR", "bool", "string", does=_is(_network)),
    method("ip", "net.IP", "net.CIDR", does=lambda value: _ip(_read_cidr(value).ip)),
    method("prefixLength", "int", "net.CIDR", does=lambda value: _read_cidr(value).network.prefixlen),
    method("masked", "net.CIDR", "net.CIDR", does=_masked),
    method("containsIP", "bool", "net.CIDR", "net.IP", does=_holds),
    method("containsIP", "bool", "net.CIDR", "string", does=_holds),
    method("containsCIDR", "bool", "net.CIDR", "net.CIDR", does=_contains),
    method("containsCIDR", "bool", "net.CIDR", "string", does=_contains),
)


# Versions


def _version(text: str, normalize: bool = False) -> dict[str, Any]:
    found = _VERSION.fullmatch(_normalized(text) if normalize else text)
    if not found or any(_is_padded(part) for part in (found[4] or "").split(".") if found[4]):
        raise ValueError(f"{text!r} is no semantic version")
    if any(not part for label in (found[4], found[5]) if label for part in label.split(".")):
        raise ValueError(f"{text!r} is no semantic version")
    # What follows + is no part of a comparison, and nothing else reads it.
    return {OPAQUE: "Semver", "text": found[0].partition("+")[0]}


def _is_padded(part: str) -> bool:
    return part.isdigit() and len(part) > 1 and part.startswith("0")


def _normalized(text: str) -> str:
    """Without `v` and leading zeros, and with all three numbers."""
    parts = text.removeprefix("v").split(".", 2)
    filled = [_without_zeros(part) if len(part) > 1 else part for part in parts]
    if len(filled) < 3 and not _SHORT.fullmatch(filled[-1]):
        raise ValueError("a short version has no labels")
    return ".".join([*filled, "0", "0"][:3])


def _without_zeros(part: str) -> str:
    stripped = part.lstrip("0")
    return stripped if stripped[:1].isdigit() else f"0{stripped}"


def _version_of(value: Any) -> tuple[Any, ...]:
    """What versions are compared by: a version without labels comes after those with labels."""
    numbers, dash, labels = str(_of("Semver", value)["text"]).partition("-")
    order = [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in labels.split(".")] if dash else []
    return (*map(int, numbers.split(".")), not dash, order)


_VERSIONS = (
    *(
        declared
        for more in ((), ("bool",))
        for declared in (
            function("semver", "kubernetes.Semver", "string", *more, does=_version),
            function("isSemver", "bool", "string", *more, does=_is(_version)),
        )
    ),
    method("major", "int", "kubernetes.Semver", does=lambda value: _version_of(value)[0]),
    method("minor", "int", "kubernetes.Semver", does=lambda value: _version_of(value)[1]),
    method("patch", "int", "kubernetes.Semver", does=lambda value: _version_of(value)[2]),
    method("compareTo", "int", "kubernetes.Semver", "kubernetes.Semver", does=_compared),
    method("isLessThan", "bool", "kubernetes.Semver", "kubernetes.Semver", does=_is_less),
    method("isGreaterThan", "bool", "kubernetes.Semver", "kubernetes.Semver", does=_is_greater),
)

TYPES: Final[tuple[Declared, ...]] = (*_QUANTITIES, *_URLS, *_ADDRESSES, *_VERSIONS)
"""The functions of these types."""

TEXTS: Final[tuple[Declared, ...]] = (
    *(function("string", "string", of, does=_text) for of in ("net.IP", "net.CIDR")),
    *(
        declared_only("string", "string", of)
        for of in ("string", "bool", "int", "uint", "double", "bytes", "timestamp", "duration")
    ),
)
"""A function of the engine, with two overloads more."""
