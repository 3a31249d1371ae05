"""The table of reserved words against the server's own."""

from chalicelib.domain.providers.postgresql.sql import RESERVED_WORDS
from tests.support.databases.postgresql import RunningPostgreSQL


def test_the_reserved_words_are_those_of_the_server(postgresql: RunningPostgreSQL) -> None:
    with postgresql.connect() as connection:
        words = connection.execute("SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T')")
        assert {word for (word,) in words} == RESERVED_WORDS
