"""The parts of a Java stack trace: its causes, and the lines of their messages. All of it is foreign text."""

import re
from collections.abc import Iterator

MAX_CHARACTERS = 64 * 1024
MAX_CAUSES = 32
_HEAD = 16 * 1024
_CAUSE = re.compile("caused by:", re.IGNORECASE)
_SUPPRESSED = "suppressed:"
_FRAMES = ("at ", "... ", _SUPPRESSED, "detail:", "where:", "statement:", "call getnextexception")
_BATCH = re.compile("batch entry ", re.IGNORECASE)
_ABORTED = re.compile("was aborted", re.IGNORECASE)
_ROW = re.compile(r"(?:struct|sinkrecord|sourcerecord|connectrecord)\{", re.IGNORECASE)


def causes_of(trace: str) -> Iterator[str]:
    """The causes of at most 64 KiB of the trace, from the last, which Java prints innermost, to the first."""
    if len(trace) > MAX_CHARACTERS:
        # The wrapper is at the start and the innermost cause at the end: keep both.
        trace = trace[:_HEAD] + "\n" + trace[-(MAX_CHARACTERS - _HEAD) :]
    return reversed(_CAUSE.split(_without_suppressed(trace))[-MAX_CAUSES:])


def message_lines(cause: str) -> list[str]:
    """The message lines of one cause: without stack frames and without rows."""
    if batch := _BATCH.search(cause):
        # The driver prints the whole statement with its values here; in a trace that was cut, nothing else follows.
        ends = [match.end() for match in _ABORTED.finditer(cause, batch.end())]
        cause = cause[: batch.start()] + (cause[ends[-1] :] if ends else "")
    lines = (line.strip() for line in cause.splitlines())
    return [_without_rows(line) for line in lines if line and not line.casefold().startswith(_FRAMES)]


def _without_suppressed(trace: str) -> str:
    """The trace without what Java prints indented below `Suppressed:`: errors of cleaning up, whose causes are none of
    the failure. Each block ends where its indentation does.
    """
    if _SUPPRESSED not in trace.casefold():
        return trace
    kept, block = list[str](), 0
    for line in trace.splitlines():
        text = line.lstrip()
        indentation = len(line) - len(text)
        if block and text and indentation < block:
            block = 0
        if not block and indentation and text.casefold().startswith(_SUPPRESSED):
            block = indentation
        if not block:
            kept.append(line)
    return "\n".join(kept)


def _without_rows(line: str) -> str:
    if row := _ROW.search(line):
        return line[: row.start()] + line.rpartition("}")[2]
    return line
