"""Kubernetes quantities: `500m`, `1.5Gi`, `2e3`, read, added and compared as Kubernetes does it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from claimsmith.base.errors import Problem, TransformError
from claimsmith.golang import strconv

_FORM = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_NANO = -9
_LARGEST = 2**63 - 1
_MAX_LENGTH = 100
_MAX_EXPONENT = 200
_FAST_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount and the power of ten to take it by; amounts finer than a nano are rounded away from zero."""

    amount: int
    scale: int
    small: bool
    """Whether Kubernetes keeps the amount in 64 bits: the quantity is an integer to it only then."""

    @property
    def number(self) -> Fraction:
        """The quantity as a number."""
        return Fraction(self.amount) * Fraction(10) ** self.scale

    @property
    def is_integer(self) -> bool:
        """Whether Kubernetes reads it as an integer: `1000m` is none to it, `1` is one."""
        return self.small and self.scale >= 0 and int(self.number) in strconv.INT64

    def to_float(self) -> float:
        """The quantity as a float."""
        # Kubernetes multiplies, which is not always the float nearest to the quantity: 3.3 gives 3.3000000000000003.
        return float(self.amount) * _power_of_ten(self.scale)

    def plus(self, other: Quantity) -> Quantity:
        """The sum, at the finer scale of the two."""
        if not other.amount or not self.amount:
            return self if not other.amount else other
        scale = min(self.scale, other.scale)
        amount = int((self.number + other.number) / Fraction(10) ** scale)
        return Quantity(amount, scale, self.small and other.small and amount in strconv.INT64)

    def minus(self, other: Quantity) -> Quantity:
        """The difference."""
        return self.plus(Quantity(-other.amount, other.scale, other.small))


def parse(text: str) -> Quantity:
    """The quantity of a text such as `1.5Gi`."""
    form = _FORM.fullmatch(text) if 0 < len(text) <= _MAX_LENGTH else None
    if form is None:
        raise _unreadable(text)
    sign, whole, fraction, suffix = form.groups(default="")
    amount, scale, small = _amount(text, whole, fraction, suffix)
    if scale > _MAX_EXPONENT:
        raise _unreadable(text)
    return Quantity(-amount if sign == "-" else amount, scale, small)


def to_float(text: str) -> float:
    """The quantity as a float; amounts finer than a nano are rounded away from zero."""
    return parse(text).to_float()


def _amount(text: str, whole: str, fraction: str, suffix: str) -> tuple[int, int, bool]:
    """An integer, the power of ten to take it by, and whether Kubernetes keeps it in 64 bits."""
    significant = whole.lstrip("0") or "0"
    digits = int(significant + fraction)
    if suffix in _BINARY:
        bits = _BINARY[suffix]
        shifted = digits << bits
        if not fraction and len(significant) + bits * 3 // 10 <= 14 and shifted in strconv.INT64:
            return shifted, 0, True
        if not whole + fraction:  # Kubernetes reads "Ki" as 0, but not "Pi"
            raise _unreadable(text)
        nanos = _nanos(shifted, -len(fraction))
        return (_LARGEST, 0, False) if nanos > _LARGEST * 10**9 else (nanos, _NANO, False)
    scale = _exponent(text, suffix) - len(fraction)
    if len(significant + fraction) <= _FAST_DIGITS and scale >= _NANO:
        return digits, scale, True
    return (_nanos(digits, scale), _NANO, False) if scale <= _MAX_EXPONENT else (digits, scale, False)


def _exponent(text: str, suffix: str) -> int:
    if suffix in _DECIMAL:
        return _DECIMAL[suffix]
    if re.fullmatch(r"[eE][+-]?[0-9]{1,9}", suffix):
        return int(suffix[1:])
    raise _unreadable(text)


def _nanos(digits: int, scale: int) -> int:
    """How many nanos it is, rounded up."""
    shift = scale - _NANO
    if shift >= 0:
        return digits * int(10**shift)
    divisor = int(10 ** min(-shift, _MAX_LENGTH))
    return -(-digits // divisor)


def _power_of_ten(scale: int) -> float:
    """The power as Go computes it, in steps of 10**32."""
    if scale < 0:
        return float(f"1e{scale}")
    return float(f"1e{scale // 32 * 32}") * float(f"1e{scale % 32}")


def _unreadable(text: str) -> TransformError:
    shown = text if len(text) <= 80 else text[:80] + "…"
    return TransformError(
        Problem(f"cannot read {shown!r} as a quantity", fix="write a number with a suffix such as m, k, M, Ki, Mi, Gi")
    )
