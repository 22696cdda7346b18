"""The certificates of a local control plane: an authority of its own, created once and kept.

Takes a folder; leaves in it the authority (`ca`), the servers' certificate (`server`), the administrator's
(`admin`) and the pair that signs service accounts' tokens (`sa`). Clients verify the servers by `ca.crt`.
"""

from __future__ import annotations

import base64
import datetime
import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from claimsmith.base.errors import ControlPlaneError, Problem
from claimsmith.base.posix import write_private

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

_LIFE = datetime.timedelta(days=3650)
_MARGIN = datetime.timedelta(days=7)
_FILES = ("ca.crt", "ca.key", "server.crt", "server.key", "admin.crt", "admin.key", "sa.pub", "sa.key")


def ensure(folder: Path, *, now: datetime.datetime | None = None) -> None:
    """Create what is missing; create all again where something is about to expire."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    now = now or datetime.datetime.now(datetime.UTC)
    if all(folder.joinpath(name).exists() for name in _FILES) and not _expires(folder, now + _MARGIN):
        return
    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority = _certificate("claimsmith local control plane", authority_key, now=now)
    _write(folder, "ca", authority, authority_key)
    for name, common, organisation in (
        ("server", "claimsmith-local", None),
        ("admin", "claimsmith-admin", "system:masters"),
    ):
        key = ec.generate_private_key(ec.SECP256R1())
        issued = _certificate(common, key, organisation, issuer=(authority, authority_key), now=now)
        _write(folder, name, issued, key)
    if not folder.joinpath("sa.key").exists():
        signer = ec.generate_private_key(ec.SECP256R1())
        public = signer.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        write_private(folder / "sa.pub", public.decode())
        write_private(folder / "sa.key", _pem(signer))


def require_extra() -> None:
    """Refuse where the packages that only the local control plane needs were not installed."""
    try:
        import cryptography  # noqa: F401 - is it there?
    except ModuleNotFoundError as error:
        what = f"the local control plane needs the package {error.name!r}, which is not installed"
        raise ControlPlaneError(Problem(what, fix="run: pip install 'claimsmith[lab]'")) from error


def kubeconfig(folder: Path, server: str) -> str:
    """A kubeconfig of the administrator, with everything in it."""

    def read(name: str) -> str:
        return base64.b64encode(folder.joinpath(name).read_bytes()).decode()

    name = "claimsmith-local"
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": {"server": server, "certificate-authority-data": read("ca.crt")}}],
            "users": [
                {
                    "name": name,
                    "user": {"client-certificate-data": read("admin.crt"), "client-key-data": read("admin.key")},
                }
            ],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        },
        sort_keys=False,
    )


def _certificate(
    common: str,
    key: ec.EllipticCurvePrivateKey,
    organisation: str | None = None,
    *,
    issuer: tuple[x509.Certificate, ec.EllipticCurvePrivateKey] | None = None,
    now: datetime.datetime,
) -> x509.Certificate:
    """A certificate for a key: the authority's own without an issuer."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    names = [x509.NameAttribute(NameOID.COMMON_NAME, common)]
    if organisation:
        names.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation))
    subject = x509.Name(names)
    signer = issuer[1] if issuer else key
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer[0].subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + _LIFE)
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(_usage(authority=issuer is None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    if issuer:
        # etcd calls itself, so a server's certificate is a client's too.
        uses = [ExtendedKeyUsageOID.CLIENT_AUTH]
        if not organisation:
            uses.append(ExtendedKeyUsageOID.SERVER_AUTH)
            alternatives = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
            builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage(uses), critical=False)
    return builder.sign(signer, hashes.SHA256())


def _usage(*, authority: bool) -> x509.KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _expires(folder: Path, when: datetime.datetime) -> bool:
    from cryptography import x509

    held = (x509.load_pem_x509_certificate(folder.joinpath(n).read_bytes()) for n in _FILES if n.endswith(".crt"))
    return any(certificate.not_valid_after_utc < when for certificate in held)


def _write(folder: Path, name: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
    from cryptography.hazmat.primitives import serialization

    write_private(folder / f"{name}.crt", certificate.public_bytes(serialization.Encoding.PEM).decode())
    write_private(folder / f"{name}.key", _pem(key))


def _pem(key: ec.EllipticCurvePrivateKey) -> str:
    from cryptography.hazmat.primitives import serialization

    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
