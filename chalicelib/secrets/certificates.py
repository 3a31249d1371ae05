"""CA certificates that people register with a database."""

from chalicelib.errors import Invalid
from chalicelib.kit.masking import Secret


def single_certificate(text: Secret) -> Secret:
    """The certificate in a PEM text, without the text around it. Raises Invalid for none and for several.

    The PostgreSQL JDBC driver reads exactly one certificate from a text, and only when the text begins with
    `-----BEGIN CERTIFICATE-----` (pgjdbc, SingleCertValidatingFactory).
    """
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    try:
        certificates = x509.load_pem_x509_certificates(text.reveal().encode())
    except ValueError:
        raise _invalid("not_a_certificate", "This is no certificate in PEM (-----BEGIN CERTIFICATE-----).") from None
    if len(certificates) > 1:
        message = (
            f"These are {len(certificates)} certificates. Give the one that signed the server's: connectors take one."
        )
        raise _invalid("several_certificates", message)
    return Secret(certificates[0].public_bytes(Encoding.PEM).decode())


def _invalid(kind: str, message: str) -> Invalid:
    return Invalid.at("body", "credentials", "ca_certificate", type_=kind, message=message)
