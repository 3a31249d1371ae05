"""CA certificates that people register with a database."""

from chalicelib.errors import Invalid
from chalicelib.kit.masking import Secret


def one_certificate(text: Secret) -> Secret:
    """The one certificate in a PEM text, without anything around it. Raises Invalid for none and for several.

    The factory of the PostgreSQL JDBC driver that takes a certificate as text reads exactly one, and knows it by
    beginning with `-----BEGIN CERTIFICATE-----` (pgjdbc, SingleCertValidatingFactory).
    """
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    try:
        found = x509.load_pem_x509_certificates(text.reveal().encode())
    except ValueError:
        raise _invalid("not_a_certificate", "This is no certificate in PEM (-----BEGIN CERTIFICATE-----).") from None
    if len(found) > 1:
        message = f"These are {len(found)} certificates. Give the one that signed the server's: connectors take one."
        raise _invalid("several_certificates", message)
    return Secret(found[0].public_bytes(Encoding.PEM).decode())


def _invalid(kind: str, message: str) -> Invalid:
    return Invalid.at("body", "credentials", "ca_certificate", type_=kind, message=message)
