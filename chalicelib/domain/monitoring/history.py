"""Histories of numbers: samples of each minute for 14 days, of each hour for 400 days, and the points of a plot.

A sample is a pair of whole numbers. The samples of many members (the connectors of a cluster) in one minute are packed
into one text of bytes, so that a row has those of an hour.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, StrEnum
from uuid import UUID

MAX_POINTS = 500
MAX_SPAN = timedelta(days=400)
DEFAULT_SPAN = timedelta(hours=24)
MINUTES_UNTIL = timedelta(days=2)
"""A plot of a longer time is made of hours: it reads a bounded number of rows."""

_FORMAT = 1
_KEY_BYTES = 4
"""Of a member's id. Two members of one row with the same ones, which hardly ever happens, have no samples."""
_MILLI = 1_000

Sample = tuple[int | None, int | None]
"""Two numbers of one member at one time; None: not measured."""

NOTHING: Sample = (None, None)


class Grain(Enum):
    """How fine a history is: the step between its samples, how many of them one row has, and how long they are kept."""

    MINUTE = ("minute", timedelta(minutes=1), 60, timedelta(days=14))
    HOUR = ("hour", timedelta(hours=1), 120, MAX_SPAN)

    def __init__(self, word: str, step: timedelta, columns: int, kept_for: timedelta) -> None:
        self.word, self.step, self.columns, self.kept_for = word, step, columns, kept_for

    def number(self, at: datetime) -> int:
        """Steps since 1970 until this time."""
        return int(at.timestamp() // self.step.total_seconds())

    def time(self, number: int) -> datetime:
        return datetime.fromtimestamp(number * self.step.total_seconds(), UTC)

    def floor(self, at: datetime) -> datetime:
        """The beginning of the step that this time is in."""
        return self.time(self.number(at))


def _mean(values: Sequence[int]) -> int:
    return round(sum(values) / len(values))


class HistoryKind(StrEnum):
    """What the two numbers are, and what several samples become (`combined`).

    `METRICS`: lag in records, of which the largest counts, and records in a thousand seconds, of which the mean counts.
    `LOG`: retained bytes, of which the most counts, and safe bytes, of which the fewest count.
    """

    METRICS = "metrics"
    LOG = "log"

    def combined(self, samples: Iterable[Sample]) -> Sample:
        columns = map(_known, zip(*samples, strict=True))
        values = [rule(known) if known else None for rule, known in zip(_RULES[self], columns, strict=False)]
        return (values[0], values[1]) if values else NOTHING


_RULES: Mapping[HistoryKind, tuple[Callable[[Sequence[int]], int], Callable[[Sequence[int]], int]]] = {
    HistoryKind.METRICS: (max, _mean),
    HistoryKind.LOG: (max, min),
}


def _known(column: Iterable[int | None]) -> list[int]:
    return [value for value in column if value is not None]


@dataclass(frozen=True, slots=True)
class Series:
    """The history of one Connect cluster, or of one source: of that it is the only member."""

    kind: HistoryKind
    owner_id: str

    @property
    def key(self) -> str:
        return f"{self.kind}/{self.owner_id}"


def metric_sample(lag: int | None, throughput: float | None) -> Sample:
    """`throughput` is in records a second."""
    return lag, None if throughput is None else round(throughput * _MILLI)


def per_second(milli: int | None) -> float | None:
    """The throughput in the second number of a sample."""
    return None if milli is None else milli / _MILLI


# packing


def packed(samples: Mapping[str, Sample]) -> bytes:
    """The samples of members, by their ids (UUIDs), as bytes: two that cannot be told apart are left out."""
    keys = {member: _key(member) for member in samples}
    same = Counter(keys.values())
    return repacked({keys[member]: sample for member, sample in samples.items() if same[keys[member]] == 1})


def unpacked(text: bytes) -> Mapping[bytes, Sample]:
    """The samples by the keys of their members. Raises ValueError for what another release has packed otherwise."""
    if text[:1] != bytes([_FORMAT]):
        raise ValueError("samples in another format")
    samples, at = dict[bytes, Sample](), 1
    try:
        while at < len(text):
            key, at = text[at : at + _KEY_BYTES], at + _KEY_BYTES
            first, at = _number(text, at)
            second, at = _number(text, at)
            samples[key] = (first - 1 if first else None, second - 1 if second else None)
    except IndexError:
        raise ValueError("samples that end too early") from None
    return samples


def sample_of(member: str, samples: Mapping[bytes, Sample]) -> Sample:
    return samples.get(_key(member), NOTHING)


def repacked(samples: Mapping[bytes, Sample]) -> bytes:
    """The samples of members, by their keys, as bytes."""
    text = bytearray([_FORMAT])
    for key, sample in sorted(samples.items()):
        if sample != NOTHING:
            text += key
            for value in sample:
                _append(text, 0 if value is None else max(0, value) + 1)
    return bytes(text)


def summary(kind: HistoryKind, texts: Iterable[bytes]) -> Mapping[bytes, Sample]:
    """The samples of an hour, from those of its minutes."""
    every = dict[bytes, list[Sample]]()
    for text in texts:
        for key, sample in unpacked(text).items():
            every.setdefault(key, []).append(sample)
    return {key: kind.combined(samples) for key, samples in every.items()}


def _key(member: str) -> bytes:
    return UUID(member).bytes[:_KEY_BYTES]


def _append(text: bytearray, number: int) -> None:
    """Seven bits in each byte, the lowest first; the highest bit says that another byte follows."""
    while number > 0x7F:
        text.append(number & 0x7F | 0x80)
        number >>= 7
    text.append(number)


def _number(text: bytes, at: int) -> tuple[int, int]:
    """The number that begins there, and where it ends."""
    number = shift = 0
    while text[at] & 0x80:
        number |= (text[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
    return number | text[at] << shift, at + 1


# when the hours are made

_SUMMED_UP = 2
"""Times an hour at which the hour before is summed up: the first one may fail."""


def is_summed_up(series: Series, at: datetime) -> bool:
    """Whether the hour before is summed up in this minute: another one for each series, so that not all are at once."""
    every = 60 // _SUMMED_UP
    return at.minute % every == UUID(series.owner_id).int % every


# points


@dataclass(frozen=True, slots=True)
class Span:
    """A time that is plotted: `width` steps of the grain make a point, the first one begins at `first`."""

    grain: Grain
    first: int
    points: int
    width: int

    @staticmethod
    def of(since: datetime, until: datetime, now: datetime) -> "Span":
        """Minutes where they are kept and not too many, else hours: at most `MAX_POINTS` points."""
        fine = until - since <= MINUTES_UNTIL and since >= now - Grain.MINUTE.kept_for
        grain = Grain.MINUTE if fine else Grain.HOUR
        first = grain.number(since)
        steps = max(1, grain.number(until - timedelta(microseconds=1)) - first + 1)
        width = -(-steps // MAX_POINTS)
        return Span(grain, first, -(-steps // width), width)

    @property
    def times(self) -> list[datetime]:
        """When each point begins."""
        return [self.grain.time(self.first + number * self.width) for number in range(self.points)]

    @property
    def rows(self) -> range:
        """The numbers of the rows that it needs."""
        last = self.first + self.points * self.width - 1
        return range(self.first // self.grain.columns, last // self.grain.columns + 1)

    def combined(self, kind: HistoryKind, samples: Mapping[int, Sample]) -> Iterator[Sample]:
        """One sample for each point, from those by the number of their step."""
        for number in range(self.points):
            start = self.first + number * self.width
            yield kind.combined(samples[step] for step in range(start, start + self.width) if step in samples)
