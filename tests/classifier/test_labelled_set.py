"""The classifier against the labelled traces."""

import pytest

from chalicelib.domain.diagnosis.candidates import candidates_in
from chalicelib.domain.diagnosis.hints import HINTS
from tests.classifier.__main__ import MIN_PRECISION, MIN_RECALL, main
from tests.classifier.labelled import OTHER, load
from tests.classifier.measure import answers, score

CASES = load()


def test_precision_and_recall_hold_on_the_whole_set() -> None:
    figures = score(answers(CASES))
    assert figures.precision >= MIN_PRECISION
    assert figures.recall >= MIN_RECALL


def test_precision_holds_on_the_public_threads_alone() -> None:
    figures = score(answers(case for case in CASES if case.public))
    assert figures.precision >= MIN_PRECISION


def test_the_names_in_each_trace_are_found_and_no_others() -> None:
    wrong = {case.id: found for case in CASES if (found := _names(case.trace)) != (case.names or {})}
    assert wrong == {}
    assert sum(case.names is not None for case in CASES) >= 50


def _names(trace: str) -> dict[str, str]:
    candidates = candidates_in(trace)
    if candidates is None or not candidates.names_something:
        return {}
    fields = ("schema", "table", "constraint", "column", "sqlstate")
    return {name: value for name in fields if (value := getattr(candidates, name))}


def test_a_third_of_at_least_200_traces_comes_from_public_threads_and_names_them() -> None:
    public = [case for case in CASES if case.public]
    assert len(CASES) >= 200
    assert 3 * len(public) >= len(CASES)
    assert all("#" in case.origin and "/" in case.origin for case in public)


def test_every_trace_has_its_own_number_and_a_kind_that_its_role_can_have() -> None:
    kinds = {(role, hint.event_type) for (_, role), hint in HINTS.items()}
    assert len({case.id for case in CASES}) == len(CASES)
    assert all(case.expected == OTHER or (case.role, case.expected) in kinds for case in CASES)


def test_every_kind_role_and_difficulty_is_there() -> None:
    assert {"look-alike", "non-english", "truncated", "wrapped", "frames"} <= {case.shape for case in CASES}
    assert {"postgresql", "mysql", "jdbc-postgresql", "jdbc-mysql"} <= {case.provider for case in CASES}
    assert {"s3-aiven", "s3-confluent", "s3-camel"} <= {case.provider for case in CASES}


def test_the_command_prints_both_parts_and_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert main() == 0
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("public threads", "precision", "recall", "by kind", "wrong:"))
