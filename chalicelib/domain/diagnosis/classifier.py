"""From a connector's stack trace to a diagnosis.

A trace is foreign text that may carry rows and secrets: it is searched for known phrases and never quoted. The
innermost cause decides, and in it error numbers and SQLSTATEs before wording. What matches nothing is GENERAL, never a
guess.
"""

from itertools import pairwise

from chalicelib.domain.diagnosis import codes
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import concerns, hint_of
from chalicelib.domain.diagnosis.rules import RULES
from chalicelib.domain.diagnosis.traces import causes_of, message_lines
from chalicelib.domain.names import ConnectorKind

_MAX_QUOTED_LINE = 8 * 1024


def classify(trace: str, role: ConnectorKind) -> Diagnosis:
    """The diagnosis for a trace of a source or a sink connector. Linear in at most 64 KiB of it."""
    for cause in causes_of(trace.casefold()):
        if diagnosis := _of_message(_message_of(cause), role):
            return diagnosis
    return Diagnosis.GENERAL


def _of_message(text: str, role: ConnectorKind) -> Diagnosis | None:
    by_code, by_phrase = codes.clear(text, role), _by_phrase(text, role)
    if by_code and by_phrase and hint_of(by_code, role).event_type is hint_of(by_phrase, role).event_type:
        return by_phrase  # It is the more specific one.
    return by_code or by_phrase or codes.vague(text, role)


def _message_of(cause: str) -> str:
    """The message lines of one cause, without quoted names."""
    return "\n".join(map(_unquoted, message_lines(cause)))


def _unquoted(line: str) -> str:
    """The line without what is between double quotes, backticks, or single quotes outside of words.

    These are names and values; a table called "permission denied for" must not decide anything.
    """
    line = line[:_MAX_QUOTED_LINE]
    # Connector/J quotes what the server said, and Java the expression that was null: these are no names.
    line = line.replace('message from server: "', "message from server: ").replace('because "this.', "because this.")
    for quote in ('"', "`"):
        pieces = line.split(quote)
        if len(pieces) > 2:
            line = (quote * 2).join(pieces[::2])
    opened = line.split("'")
    if len(opened) < 3:
        return line
    kept, inside = [opened[0]], False
    for before, after in pairwise(opened):
        # An apostrophe inside a word ("couldn't") neither opens nor closes a quotation.
        apostrophe = not inside and before[-1:].isalnum() and after[:1].isalnum()
        inside = inside if apostrophe else not inside
        if apostrophe or not inside:
            kept.append("'" + after)
    return "".join(kept)


def _by_phrase(text: str, role: ConnectorKind) -> Diagnosis | None:
    for diagnosis, *phrases in RULES:
        if concerns(diagnosis, role) and any(_contains(text, phrase) for phrase in phrases):
            return diagnosis
    return None


def _contains(text: str, phrase: str) -> bool:
    """Whether the parts of the phrase (separated by an ellipsis) occur on one line of the text, in that order."""
    parts = phrase.split("…")
    if len(parts) == 1:
        return phrase in text
    return parts[0] in text and any(_in_order(line, parts) for line in text.splitlines())


def _in_order(line: str, parts: list[str]) -> bool:
    start = 0
    for part in parts:
        at = line.find(part, start)
        if at < 0:
            return False
        start = at + len(part)
    return True
