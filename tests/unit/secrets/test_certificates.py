"""Only PEM with exactly one certificate is taken, and kept as the JDBC driver reads it."""

import pytest

from chalicelib.errors import Invalid
from chalicelib.kit.masking import Secret
from chalicelib.secrets.certificates import single_certificate
from tests.support.databases.self_signed import make_certificate
from tests.support.faults import places

FIRST, SECOND = make_certificate(), make_certificate()


@pytest.mark.parametrize("around", ["{}", "\n\n{}", "# the CA of the shop\nsubject=CN = x\n{}\n", "{}" + FIRST.key])
def test_what_stands_around_a_certificate_is_left_out(around: str) -> None:
    for text in (FIRST.certificate, FIRST.certificate.replace("\n", "\r\n")):
        kept = single_certificate(Secret(around.replace("{}", text))).reveal()
        assert kept.startswith("-----BEGIN CERTIFICATE-----")
        assert kept == FIRST.certificate


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("pem", "not_a_certificate"),
        (FIRST.key, "not_a_certificate"),
        (FIRST.certificate[:200], "not_a_certificate"),
        (FIRST.certificate.replace("MII", "AAA"), "not_a_certificate"),
        ("\x00ä", "not_a_certificate"),
        (FIRST.certificate + SECOND.certificate, "several_certificates"),
    ],
)
def test_other_text_is_refused_without_repeating_it(text: str, kind: str) -> None:
    with pytest.raises(Invalid) as refused:
        single_certificate(Secret(text))
    assert places(refused.value.details) == [{"location": ["body", "credentials", "ca_certificate"], "type": kind}]
    assert text not in refused.value.message
