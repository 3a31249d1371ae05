"""The tables of phrases."""

from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import concerns
from chalicelib.domain.diagnosis.rules import RULES
from chalicelib.domain.names import ConnectorKind

MIN_LENGTH = 9
"""Shorter phrases would occur in any text."""


def kinds(diagnosis: Diagnosis) -> set[ConnectorKind]:
    return {kind for kind in ConnectorKind if concerns(diagnosis, kind)}


def test_phrases_are_written_as_they_are_searched() -> None:
    every_phrase = [phrase for _, *phrases in RULES for phrase in phrases]
    assert all(phrase == phrase.casefold() and phrase for phrase in every_phrase)
    assert all(len(phrase) >= MIN_LENGTH for phrase in every_phrase)
    by_kind = [(kind, phrase) for diagnosis, *phrases in RULES for kind in kinds(diagnosis) for phrase in phrases]
    assert len(by_kind) == len(set(by_kind))


def test_no_phrase_is_behind_one_that_it_contains() -> None:
    phrases = [(phrase, diagnosis) for diagnosis, *found in RULES for phrase in found if "…" not in phrase]
    hidden = [
        (later, earlier)
        for n, (later, later_diagnosis) in enumerate(phrases)
        for earlier, earlier_diagnosis in phrases[:n]
        if earlier in later
        and kinds(later_diagnosis) <= kinds(earlier_diagnosis)
        and earlier_diagnosis != later_diagnosis
    ]
    assert not hidden
