"""The tables of phrases."""

from chalicelib.domain.classify.rules import RULES

MIN_LENGTH = 9
"""Shorter phrases would occur in any text."""


def test_phrases_are_written_as_they_are_searched() -> None:
    every_phrase = [phrase for _, *phrases in RULES for phrase in phrases]
    assert all(phrase == phrase.casefold() and phrase for phrase in every_phrase)
    assert all(len(phrase) >= MIN_LENGTH for phrase in every_phrase)
    assert len(every_phrase) == len(set(every_phrase))


def test_no_phrase_is_behind_one_that_it_contains() -> None:
    phrases = [(phrase, diagnosis) for diagnosis, *found in RULES for phrase in found if "…" not in phrase]
    hidden = [
        (later, earlier)
        for n, (later, later_diagnosis) in enumerate(phrases)
        for earlier, earlier_diagnosis in phrases[:n]
        if earlier in later and set(later_diagnosis) <= set(earlier_diagnosis) and earlier_diagnosis != later_diagnosis
    ]
    assert not hidden
