"""How well the classifier finds the labels."""

from collections.abc import Iterable
from dataclasses import dataclass

from chalicelib.domain.diagnosis.classifier import classify
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import hint_of
from tests.classifier.labelled import OTHER, Labelled


@dataclass(frozen=True, slots=True)
class Answer:
    """A labelled trace and the answer of the classifier: an event kind, or OTHER when it recognised nothing."""

    case: Labelled
    predicted: str

    @property
    def right(self) -> bool:
        return self.predicted == self.case.expected


@dataclass(frozen=True, slots=True)
class Score:
    """Precision: the share of the predicted kinds that is right. Recall: the share of the expected ones."""

    predicted: int
    expected: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.predicted if self.predicted else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.expected if self.expected else 1.0


def answers(cases: Iterable[Labelled]) -> list[Answer]:
    return [Answer(case, _kind(case)) for case in cases]


def _kind(case: Labelled) -> str:
    diagnosis = classify(case.trace, case.role)
    return OTHER if diagnosis is Diagnosis.GENERAL else hint_of(diagnosis, case.role).event_type


def score(scored: Iterable[Answer], kind: str | None = None) -> Score:
    """Of one kind, or of all kinds; OTHER is the absence of a kind, so it counts in neither."""
    scored = list(scored)
    predicted = [answer for answer in scored if answer.predicted != OTHER and kind in (None, answer.predicted)]
    expected = [answer for answer in scored if answer.case.expected != OTHER and kind in (None, answer.case.expected)]
    return Score(len(predicted), len(expected), sum(answer.right for answer in predicted))
