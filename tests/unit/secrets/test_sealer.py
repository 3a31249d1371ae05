"""A text sealed under a name is opened under that name; what does not open: tests/service/secrets."""

import pytest

from chalicelib.kit.masking import Secret
from chalicelib.secrets.envelope import Envelope
from chalicelib.secrets.sealer import Sealer
from tests.support.master_keys import local_keys


@pytest.fixture
def sealer() -> Sealer:
    return Sealer(Envelope(local_keys()))


@pytest.mark.parametrize("text", ["", "hg_token", "ä\x00\n" * 50])
def test_a_text_is_opened_under_its_name(sealer: Sealer, text: str) -> None:
    assert sealer.open("name", sealer.seal("name", Secret(text))).reveal() == text


def test_the_sealed_text_does_not_contain_the_plain_text(sealer: Sealer) -> None:
    assert "telling" not in sealer.seal("name", Secret("a-telling-text"))
