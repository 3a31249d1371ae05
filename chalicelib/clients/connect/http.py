"""The URL of Connect workers, and their answers: JSON with an `error_code`."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from chalicelib.clients.connect.members import members
from chalicelib.clients.http.guarded import MEBIBYTE, HttpAnswer
from chalicelib.errors import Invalid
from chalicelib.kit.hosts import read_url


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. `body` is parsed JSON, or None for an empty body and for other text.

    A long list is in `members`, to be parsed member by member.
    """

    status: int
    body: object
    is_json: bool
    members: Iterator[tuple[str, object]] | None = None

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status < 300

    @property
    def refusal(self) -> int | None:
        """The status of a refusal by Connect itself: its JSON has an `error_code`, the page of a web server has not."""
        code = self.body.get("error_code") if isinstance(self.body, dict) else None
        return self.status if isinstance(code, int) and self.status >= 400 else None

    @property
    def message(self) -> str:
        """Connect's own text, for classifiers only: it may contain secrets."""
        text = self.body.get("message") if isinstance(self.body, dict) else None
        return text if isinstance(text, str) else ""


def checked_base_url(base_url: str) -> str:
    """The URL without a trailing slash.

    Raises:
        Invalid: `URL_NOT_ALLOWED`, unless it is plain `http(s)://host[:port][/path]`.
    """
    # To the parser of URLs an empty query is none.
    if read_url(base_url) is None or "?" in base_url:
        message = (
            "A Connect URL is http or https, a host, a port and perhaps a path, without credentials, query or fragment."
        )
        raise Invalid(message, code="URL_NOT_ALLOWED")
    return base_url.rstrip("/")


def parse_answer(answer: HttpAnswer, *, is_list: bool) -> Answer:
    """`is_list`: a successful answer is a long list."""
    if answer.content is not None and is_list and answer.status == 200:
        return Answer(answer.status, None, is_json=True, members=members(answer.content))
    # Without content it was too large. Only a successful list may be larger than a mebibyte.
    if answer.content is None or len(answer.content) > MEBIBYTE:
        return Answer(answer.status, None, is_json=False)
    if not answer.content:
        return Answer(answer.status, None, is_json=True)
    try:
        return Answer(answer.status, json.loads(answer.content), is_json=True)
    except (ValueError, RecursionError):
        return Answer(answer.status, None, is_json=False)
