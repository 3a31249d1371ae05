"""The texts of chat messages: plain, of bounded length, and without links and mentions from texts of others.

One alert: title, place, time, error, hint and link. A digest: numbers by severity and kind, the first alerts, and the
number of the others. The last line has the beginning of the delivery id, by which people recognise a repeated message.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from unicodedata import combining

from chalicelib.domain.alerts.kinds import TITLES, AlertSeverity
from chalicelib.domain.alerts.notification import MessageContent, MessageKind
from chalicelib.notify.contract import MessageLine, OutgoingMessage

TEST_TEXT = "This is a test notification from Headgate. The channel works; nothing is wrong."
DIGEST_LINES = 10
_MAX_NAME, _MAX_DIGEST_ERROR = 120, 120
_CUT = "…"
_ZERO_WIDTH_SPACE = "\u200b"
_MENTION = re.compile(r"(?<![\w.+-])@(?=\w)")
_LINK = re.compile(r"(?<=\w):(?=//)|(?<=[\w)\]-])[.\u3002\uff0e\uff61](?=(?:xn--|[^\W\d_]{2,}(?!\w)))", re.IGNORECASE)
"""Where a scheme ends, and a dot before what may be a top-level domain, which has letters only (or is `xn--...`): chats
make links of bare host names too.
"""
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""Control characters, line breaks, changes of direction, and surrogates."""
_MODIFIERS = frozenset("\u200d\u20e3") | {chr(code) for code in (*range(0xFE00, 0xFE10), *range(0x1F3FB, 0x1F400))}
"""Characters that modify the one before: joiners, variation selectors, skin colours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStyle:
    """The rules of a provider. `escape` makes text literal, `size` measures escaped text."""

    max_size: int
    escape: Callable[[str], str] = str
    size: Callable[[str], int] = len


def render(message: OutgoingMessage, style: TextStyle) -> str:
    if message.is_test:
        return style.escape(TEST_TEXT)
    lines = _digest(message) if message.is_digest else _single(message.lines[0])
    # The link and the delivery id are never cut: the other lines get what is left.
    tail = [style.escape(text) for text in (_link(message), f"Delivery {message.delivery_id[:8]}") if text]
    room = style.max_size - sum(style.size(line) + 1 for line in tail)
    return "\n".join([*_fit([neutralize(line) for line in lines], room, style), *tail])


def cut(text: str, max_size: int, size: Callable[[str], int] = len) -> str:
    """The text, or its beginning with an ellipsis. It is cut between characters as people see them."""
    if size(text) <= max_size:
        return text
    room, end = max_size - size(_CUT), 0
    for character in text:
        room -= size(character)
        if room < 0:
            break
        end += 1
    while end > 0 and (combining(text[end]) or text[end] in _MODIFIERS or text[end - 1] == "\u200d"):
        end -= 1
    return text[:end].rstrip() + _CUT if max_size > 0 else ""


def neutralize(text: str) -> str:
    """One line of text in which chats see no mentions and links: an invisible character is in each of them."""
    plain = _INVISIBLE.sub(" ", text)
    return _LINK.sub(lambda match: match[0] + _ZERO_WIDTH_SPACE, _MENTION.sub("@" + _ZERO_WIDTH_SPACE, plain))


def duration(seconds: float) -> str:
    """A length of time in at most two units: `3 h 5 min`."""
    left = int(seconds)
    parts: list[str] = []
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, left = divmod(left, length)
        if count or (unit == "s" and not parts):
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])


def _place(content: MessageContent) -> str:
    """The pipeline, connector and task of an alert, and the resource that reported it."""
    emitter = f"{content.emitter_type.replace('_', ' ')} {_name(content.emitter_name)}"
    parts = [
        f"pipeline {_name(content.pipeline_name)}" if content.pipeline_name else "",
        f"connector {cut(content.connector_name, _MAX_NAME)}" if content.connector_name else "",
        f"task {content.task_id}" if content.task_id is not None else "",
    ]
    return ", ".join([*filter(None, parts), emitter])


def _fit(lines: Sequence[str], room: int, style: TextStyle) -> Iterator[str]:
    """The lines, escaped. When their sum is too long, the longest ones are cut to the same length."""

    def size(text: str) -> int:
        return style.size(style.escape(text))

    share = room
    for position, line_size in enumerate(sorted(map(size, lines))):
        share = room // (len(lines) - position) - 1
        if line_size > share:
            break
        room -= line_size + 1
    for line in lines:
        yield style.escape(cut(line, share, size))


def _single(line: MessageLine) -> Iterator[str]:
    content = line.content
    yield _title(content)
    yield f"Where: {_place(content)}"
    if content.kind is MessageKind.RESOLVED:
        yield f"Over since: {_time(content.at)}{_duration_text(content)}"
        yield f"It was: {content.error}"
    else:
        yield f"Since: {_time(content.first_seen_at)}"
        yield f"What: {content.error}"
        if content.backlog and content.waiting_since:
            yield f"What waits: {content.backlog}, since {_time(content.waiting_since)}"
        if content.lost:
            yield content.lost
        if content.hint:
            yield f"What to do: {content.hint}"
    yield from _notes(line)


def _notes(line: MessageLine) -> Iterator[str]:
    content = line.content
    if content.affected:
        yield f"It causes {content.affected} more alerts, which are not sent one by one."
    if content.muted_before:
        yield f"Earlier episodes without a message: {content.muted_before} muted by the cooldown of the rule."
    if line.recovery:
        yield f"It is over again since {_time(line.recovery.at)}{_duration_text(line.recovery)}."
    if line.firing_failed:
        yield "The message that it had begun could not be delivered."
    if line.delayed:
        yield "This message is late: it has waited for more than an hour."


def _digest(message: OutgoingMessage) -> Iterator[str]:
    lines = message.lines
    firing = [line.content for line in lines if line.content.kind is MessageKind.FIRING]
    yield f"[DIGEST] {len(firing)} alerts, {len(lines) - len(firing)} recoveries"
    counts, kinds = Counter(content.severity for content in firing), Counter(line.content.event for line in lines)
    if firing:
        yield "By severity: " + ", ".join(f"{counts[level]} {level}" for level in AlertSeverity if counts[level])
    yield "By kind: " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    yield from map(_digest_line, lines[:DIGEST_LINES])
    if len(lines) > DIGEST_LINES:
        yield f"{len(lines) - DIGEST_LINES} more are counted above and not listed here."
    if message.waiting:
        yield f"{message.waiting} more wait for a later message."


def _digest_line(line: MessageLine) -> str:
    content = line.content
    resolved = content.kind is MessageKind.RESOLVED
    text = f"Over{_duration_text(content)}." if resolved else cut(content.error, _MAX_DIGEST_ERROR)
    recovery = f" Over again{_duration_text(line.recovery)}." if line.recovery else ""
    return f"- {_title(content)}: {_place(content)}. {text}{recovery}{' Late.' if line.delayed else ''}"


def _title(content: MessageContent) -> str:
    state = "RESOLVED" if content.kind is MessageKind.RESOLVED else content.severity.upper()
    over = "Over: " if content.kind is MessageKind.RESOLVED and content.title else ""
    return f"[{state}] {over}{content.title or TITLES[content.event]} ({content.event})"


def _link(message: OutgoingMessage) -> str | None:
    """The link to the alert; in a digest, to the list of alerts."""
    content = message.lines[0].content
    return content.link.removesuffix(f"/{content.alert_id}") if content.link and message.is_digest else content.link


def _name(text: str) -> str:
    return f'"{cut(text, _MAX_NAME)}"'


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _duration_text(content: MessageContent) -> str:
    if content.recovery_seconds is None:
        return ""
    return f", after {duration(content.recovery_seconds)}"
