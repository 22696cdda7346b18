"""CEL's types of Kubernetes: quantities, URLs, addresses, versions. The values are what cel-go evaluates."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.functions.engines import cel_engine


def answer(text: str) -> Any:
    return cel_engine.answer({"text": text, "variables": ["s"], "lists": [], "values": {"s": {"mem": "1.5Gi", "n": 1}}})


def refusal(text: str) -> str:
    found = answer(text)
    return str(found.get("invalid") or found["failed"])


QUANTITIES = [
    ("isQuantity('1.5Gi')", True),
    ("isQuantity('.5')", True),
    ("isQuantity('')", False),
    ("isQuantity('1KI')", False),
    ("isQuantity('1 ')", False),
    ("sign(quantity('-1.5Gi'))", -1),
    ("sign(quantity('0'))", 0),
    ("quantity('50k').asInteger()", 50000),
    ("quantity('12Mi').asInteger()", 12582912),
    ("quantity('1E').isInteger()", True),
    ("quantity('12Ei').isInteger()", False),
    ("quantity('1.5Gi').isInteger()", False),
    ("quantity('1000m').isInteger()", False),
    ("quantity('1000m') == quantity('1')", True),
    ("quantity('1') != quantity('2')", True),
    ("quantity('1') in [quantity('1000m')]", True),
    ("quantity(s.mem).asApproximateFloat()", 1610612736),
    ("quantity('3.3').asApproximateFloat()", 3.3000000000000003),
    ("quantity('500m').add(quantity('500m')).asApproximateFloat()", 1),
    ("quantity('500m').add(quantity('500m')).isInteger()", False),
    ("quantity('50k').add(20).asInteger()", 50020),
    ("quantity('50k').sub(quantity('20')) == quantity('49980')", True),
    ("quantity('1').sub(quantity('1Ki')).isLessThan(quantity('0'))", True),
    ("quantity('2').isGreaterThan(quantity('1.5Gi'))", False),
    ("quantity('200M').compareTo(quantity('0.2G'))", 0),
    ("[quantity('3'), quantity('1')].sortBy(q, q.asInteger()).map(q, q.asInteger())", [1, 3]),
    ("dyn(quantity('2')).asInteger()", 2),
    ("s.?mem.optMap(m, quantity(m).sub(quantity('0.5Gi')).asApproximateFloat()).orValue(0.0)", 1073741824),
]
URLS = [
    ("isURL('https://example.com:80/')", True),
    ("isURL('/path')", True),
    ("isURL('relative')", False),
    ("isURL('https://example.com:abc/')", False),
    ("isURL('https://a b.com/')", False),
    ("isURL('http://%zz')", False),
    ("url('HTTPS://u:p@db.example.com:5432/a').getScheme()", "https"),
    ("url('https://u:p@db.example.com:5432/a').getHost()", "db.example.com:5432"),
    ("url('https://u:p@db.example.com:5432/a').getHostname()", "db.example.com"),
    ("url('https://db.example.com:5432/a').getPort()", "5432"),
    ("url('https://[::1]:80/x').getHost()", "[::1]:80"),
    ("url('https://[::1]:80/x').getHostname()", "::1"),
    ("url('http://[fe80::1%25en0]:8080/').getHostname()", "fe80::1%en0"),
    ("url('//host/path').getHost()", "host"),
    ("url('https://h/path with spaces').getEscapedPath()", "/path%20with%20spaces"),
    ("url('https://h/a%2Fb').getEscapedPath()", "/a%2Fb"),
    ("url('https://h/?x=1&x=2&y').getQuery()", {"x": ["1", "2"], "y": [""]}),
    ("url('https://h/?a=%20b+c&d;e').getQuery()", {"a": [" b c"]}),
    ("url('mailto:a@b').getEscapedPath()", ""),
    ("url('https://h/a#f').getEscapedPath()", "/a"),
    ("url('/a') == url('/a') && url('/a') != url('/b')", True),
]
ADDRESSES = [
    ("isIP('127.0.0.1') && isIP('::1')", True),
    ("isIP('192.168.01.1') || isIP('::ffff:1.2.3.4') || isIP('fe80::1%eth0')", False),
    ("ip.isCanonical('2001:DB8::1')", False),
    ("ip('2001:DB8::1') == ip('2001:db8::1')", True),
    ("ip('::1').family()", 6),
    ("ip('127.0.0.1').isLoopback()", True),
    ("ip('10.0.0.1').isGlobalUnicast()", True),
    ("ip('255.255.255.255').isGlobalUnicast()", False),
    ("ip('169.254.1.1').isLinkLocalUnicast()", True),
    ("ip('ff02::1').isLinkLocalMulticast()", True),
    ("ip('::').isUnspecified()", True),
    ("string(ip('2001:DB8::1'))", "2001:db8::1"),
    ("isCIDR('10.0.0.0/8')", True),
    ("isCIDR('10.0.0.0/08') || isCIDR('10.0.0.0/33') || isCIDR('10.0.0.0')", False),
    ("cidr('192.168.1.1/24').prefixLength()", 24),
    ("string(cidr('192.168.1.1/24').masked())", "192.168.1.0/24"),
    ("string(cidr('192.168.1.1/24').ip())", "192.168.1.1"),
    ("cidr('10.0.0.0/8').containsIP('10.0.0.5')", True),
    ("cidr('10.0.0.0/8').containsIP(ip('::1'))", False),
    ("cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", True),
    ("cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))", False),
]
VERSIONS = [
    ("isSemver('1.2.3-rc.1+b')", True),
    ("isSemver('v1.2.3') || isSemver('1.2') || isSemver('1.2.3-01') || isSemver('1.2.3.4')", False),
    ("isSemver('v1.2', true)", True),
    ("semver('01.02.03', true).minor()", 2),
    ("semver('1.2.3').major() + semver('1.2.3').patch()", 4),
    ("semver('1.2.3-rc.1').isLessThan(semver('1.2.3'))", True),
    ("semver('1.2.3-rc.10').isGreaterThan(semver('1.2.3-rc.9'))", True),
    ("semver('1.2.3+a').compareTo(semver('1.2.3+b'))", 0),
    ("semver('1.2.3+a') == semver('1.2.3+b')", True),
]


@pytest.mark.parametrize(("text", "value"), [*QUANTITIES, *URLS, *ADDRESSES, *VERSIONS])
def test_values(text: str, value: Any) -> None:
    found = answer(text)
    assert found.get("value", found) == value


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("quantity('abc')", "cannot read 'abc' as a quantity"),
        ("quantity('1.5').asInteger()", "cannot convert value to integer"),
        ("quantity('1').isLessThan('1')", "no matching overload for 'isLessThan'"),
        ("quantity('1') < quantity('2')", "no matching overload for '_<_'"),
        ("quantity('1') == 1", "no matching overload for '_==_'"),
        ("quantity(3)", "no matching overload for 'quantity'"),
        ("quantity('1').number", "cannot be the operand of a select operation"),
        ("string(quantity('1'))", "no matching overload for 'string'"),
        ("dyn(semver('1.2.3')).asInteger()", "it is no Quantity"),
        ("{'a': 1}.asInteger()", "no matching overload for 'asInteger'"),
        ("url('relative')", "cannot read 'relative' as a URL"),
        ("ip('300.1.1.1')", "300.1.1.1"),
        ("cidr('10.0.0.0/8').containsIP('x')", "'x'"),
        ("semver('v1')", "'v1' is no semantic version"),
        ("semver('1.2-rc', true)", "no labels"),
    ],
)
def test_refused(text: str, what: str) -> None:
    assert what in refusal(text)
