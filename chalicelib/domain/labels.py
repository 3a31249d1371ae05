"""Labels: pairs of a key and a value, by which people group what they register, and find it in lists."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from chalicelib.domain.names import comparable

MAX_LABELS = 16
_BETWEEN_KEY_AND_VALUE = ":"
"""No key has it."""
_EDGE = "\x1f"
"""A control character, which neither keys nor values have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """Anything with a name and labels. Lists are filtered by both."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def comparable_name(self) -> str:
        """The name as searches compare it."""
        return comparable(self.name)

    @property
    def labels_text(self) -> str | None:
        """The labels as one text, in which a `LabelSelector` is looked up; None without labels."""
        pairs = [f"{key}{_BETWEEN_KEY_AND_VALUE}{value}" for key, value in sorted(self.labels.items())]
        return _EDGE.join(["", *pairs, ""]) if pairs else None


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A label that something has to have: with this value, or with any."""

    key: str
    value: str | None = None

    @staticmethod
    def read(text: str) -> "LabelSelector":
        """The selector in `key:value` or `key`."""
        key, separator, value = text.partition(_BETWEEN_KEY_AND_VALUE)
        return LabelSelector(key, value if separator else None)

    def selects(self, labels: Mapping[str, str]) -> bool:
        return self.key in labels and self.value in (None, labels[self.key])

    @property
    def part_of_text(self) -> str:
        """What the `labels_text` of everything that is selected contains."""
        end = "" if self.value is None else f"{self.value}{_EDGE}"
        return f"{_EDGE}{self.key}{_BETWEEN_KEY_AND_VALUE}{end}"
