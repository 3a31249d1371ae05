"""What an e-mail address of a user may be."""

import pytest

from chalicelib.domain.accounts.email import is_email_address


@pytest.mark.parametrize("text", ["ada@example.com", "a@b", "jürgen@münchen.example", "a" * 64 + "@" + "b" * 189])
def test_an_address_that_shows_what_it_is_can_be_used(text: str) -> None:
    assert is_email_address(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "ada", "@example.com", "ada@", "a@b@c", "ada@exam ple.com", "ada@example.com\n", " ada@example.com"),
        *("a" * 65 + "@example.com", "ada@" + "b" * 251, "${file:/x}@example.com", "a\x7f@example.com"),
        *("a\u200b@example.com", "a\u202eda@example.com"),
    ],
)
def test_an_address_that_is_none_or_does_not_show_what_it_is_cannot_be_used(text: str) -> None:
    assert not is_email_address(text)
