"""Certificates for local runs and tests: an authority, and the certificates that it signs."""

import datetime as dt
from dataclasses import dataclass
from ipaddress import IPv4Address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PEM = serialization.Encoding.PEM


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, in PEM."""

    certificate: str
    key: str


class Authority:
    """Signs certificates for 127.0.0.1, and for host names, that are valid for a while."""

    def __init__(self, *, hours: float = 1) -> None:
        self._lifetime = dt.timedelta(hours=hours)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("authority")
        self._own = self._builder(self._name, self._key, (), authority=True).sign(self._key, hashes.SHA256())
        self.certificate = self._own.public_bytes(PEM).decode()

    def sign(self, name: str, *hosts: str) -> Pair:
        """A new pair. It is also valid for these host names."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(_name(name), key, hosts, authority=False).add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False
        )
        private = key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return Pair(builder.sign(self._key, hashes.SHA256()).public_bytes(PEM).decode(), private.decode())

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, hosts: tuple[str, ...], *, authority: bool
    ) -> x509.CertificateBuilder:
        names = [x509.IPAddress(IPv4Address("127.0.0.1")), *map(x509.DNSName, hosts)]
        now = dt.datetime.now(dt.UTC)
        usage = x509.KeyUsage(
            digital_signature=True, content_commitment=False, key_encipherment=False, data_encipherment=False,
            key_agreement=False, key_cert_sign=authority, crl_sign=authority, encipher_only=False, decipher_only=False,
        )  # fmt: skip
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(minutes=5))
            .not_valid_after(now + self._lifetime)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(usage, critical=True)
        )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
