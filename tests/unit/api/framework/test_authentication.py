"""Tokens of an installation: what is missing or empty is nobody's, whatever the settings say."""

import pytest

from chalicelib.api.framework.authentication import SessionAuthenticator, require_token
from chalicelib.errors import NotPermitted, Unauthenticated
from chalicelib.kit.masking import Secret
from chalicelib.secrets.tokens import token_hash

EMPTY = [{}, {"authorization": "Bearer"}, {"authorization": "Bearer "}, {"authorization": "bearer \t"}]


def authenticator(*hashes: str) -> SessionAuthenticator:
    def not_asked() -> None:
        raise AssertionError

    return SessionAuthenticator(
        sessions=not_asked,  # type: ignore[arg-type]
        api_tokens=not_asked,  # type: ignore[arg-type]
        service_credential_hash={text: f"cluster of {at}" if at else None for at, text in enumerate(hashes)},
    )


@pytest.mark.parametrize("headers", EMPTY)
def test_no_credential_is_not_the_service_credential(headers: dict[str, str]) -> None:
    with pytest.raises(NotPermitted):
        authenticator(token_hash("")).authenticate_service(headers)


@pytest.mark.parametrize("headers", EMPTY)
def test_no_token_is_not_the_token_of_an_address(headers: dict[str, str]) -> None:
    with pytest.raises(Unauthenticated):
        require_token(headers, Secret(" "))


def test_the_right_ones_are_let_in() -> None:
    headers = {"authorization": "Bearer right"}
    assert authenticator(token_hash("other"), token_hash("right")).authenticate_service(headers) == "cluster of 1"
    assert authenticator(token_hash("right"), token_hash("other")).authenticate_service(headers) is None
    require_token(headers, Secret("right\n"))
