"""How well the classifier finds the labels."""

from collections.abc import Iterable
from dataclasses import dataclass

from chalicelib.domain.classify.classifier import OTHER, classify, kind_of
from tests.classifier.labelled import Labelled


@dataclass(frozen=True, slots=True)
class Answer:
    """A labelled trace and what the classifier said: an event kind, or OTHER when it recognised nothing."""

    case: Labelled
    said: str

    @property
    def right(self) -> bool:
        return self.said == self.case.expected


@dataclass(frozen=True, slots=True)
class Score:
    """Precision: how many of the kinds that were said are right. Recall: how many of the expected kinds were said."""

    said: int
    expected: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.said if self.said else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.expected if self.expected else 1.0


def answers(cases: Iterable[Labelled]) -> list[Answer]:
    """What the classifier says of each."""
    return [Answer(case, kind_of(classify(case.trace, case.role))) for case in cases]


def score(found: Iterable[Answer], kind: str | None = None) -> Score:
    """Of one kind, or of all kinds; OTHER is the absence of a kind, so it counts in neither."""
    found = list(found)
    said = [answer for answer in found if answer.said != OTHER and kind in (None, answer.said)]
    expected = [answer for answer in found if answer.case.expected != OTHER and kind in (None, answer.case.expected)]
    return Score(len(said), len(expected), sum(answer.right for answer in said))
