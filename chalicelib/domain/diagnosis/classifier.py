"""From a connector's stack trace to a diagnosis.

A trace is foreign text that may carry rows and secrets: it is searched for known phrases and never quoted. The
innermost cause decides, and in it error numbers and SQLSTATEs before wording. What matches nothing is GENERAL, never a
guess.
"""

from collections.abc import Iterator
from itertools import pairwise

from chalicelib.domain.diagnosis import codes
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import concerns, hint_of
from chalicelib.domain.diagnosis.rules import RULES
from chalicelib.domain.names import ConnectorKind

MAX_CHARACTERS = 64 * 1024
MAX_CAUSES = 32
_HEAD = 16 * 1024
_CAUSE = "caused by:"
_SUPPRESSED = "suppressed:"
_FRAMES = ("at ", "... ", _SUPPRESSED, "detail:", "where:", "statement:", "call getnextexception")
_ROWS = ("struct{", "sinkrecord{", "sourcerecord{", "connectrecord{")
_MAX_QUOTED_LINE = 8 * 1024


def classify(trace: str, role: ConnectorKind) -> Diagnosis:
    """The diagnosis for a trace of a source or a sink connector. Linear in at most 64 KiB of it."""
    for cause in _innermost_first(trace):
        if diagnosis := _of_message(_message_of(cause), role):
            return diagnosis
    return Diagnosis.GENERAL


def _innermost_first(trace: str) -> Iterator[str]:
    """The causes of the trace, from the last, which Java prints innermost, to the first."""
    if len(trace) > MAX_CHARACTERS:
        # The wrapper is at the start and the innermost cause at the end: keep both.
        trace = trace[:_HEAD] + "\n" + trace[-(MAX_CHARACTERS - _HEAD) :]
    return reversed(_without_suppressed(trace.casefold()).split(_CAUSE)[-MAX_CAUSES:])


def _without_suppressed(trace: str) -> str:
    """The trace without what Java prints indented below `Suppressed:`: errors of cleaning up, whose causes are none of
    the failure. Each block ends where its indentation does.
    """
    if _SUPPRESSED not in trace:
        return trace
    kept, block = list[str](), 0
    for line in trace.splitlines():
        text = line.lstrip()
        indentation = len(line) - len(text)
        if block and text and indentation < block:
            block = 0
        if not block and indentation and text.startswith(_SUPPRESSED):
            block = indentation
        if not block:
            kept.append(line)
    return "\n".join(kept)


def _of_message(text: str, role: ConnectorKind) -> Diagnosis | None:
    by_code, by_phrase = codes.clear(text, role), _by_phrase(text, role)
    if by_code and by_phrase and hint_of(by_code, role).event_type is hint_of(by_phrase, role).event_type:
        return by_phrase  # It is the more specific one.
    return by_code or by_phrase or codes.vague(text, role)


def _message_of(cause: str) -> str:
    """The message lines of one cause: without stack frames, without rows, without quoted names."""
    before, batch, after = cause.partition("batch entry ")
    if batch:
        # The driver prints the whole statement with its values here; in a trace that was cut, nothing else follows.
        cause = before + after.rpartition("was aborted")[2] if "was aborted" in after else before
    lines = (line.strip() for line in cause.splitlines())
    return "\n".join(_unquoted(line) for line in lines if line and not line.startswith(_FRAMES))


def _unquoted(line: str) -> str:
    """The line without what is between double quotes, backticks, or single quotes outside of words, and without rows.

    These are names and values; a table called "permission denied for" must not decide anything.
    """
    line = line[:_MAX_QUOTED_LINE]
    for start in _ROWS:
        if start in line:
            line = line.partition(start)[0] + line.rpartition("}")[2]
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
