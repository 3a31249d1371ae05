"""Records of one operation are one entry, at the time of its request, wherever a page of the trail ends."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from chalicelib.domain.audit.record import AuditRecord, Outcome
from chalicelib.domain.timeline.operations import BETWEEN, operations
from chalicelib.kit.clock import rfc3339
from tests.support.entities import NOW

REQUESTED, SUCCESS, DENIED, FAILED = Outcome


def placed(verb: str, outcome: Outcome, second: float, cause: str = "c") -> AuditRecord:
    at = NOW + timedelta(seconds=second)
    return AuditRecord(
        id=f"{verb}-{outcome}-{second}", at=at, actor_id="u", actor_email="u@example.com", actor_via="session",
        action=f"pipeline.{verb}", resource_type="pipeline", resource_id="p", outcome=outcome, correlation_id=cause,
    )  # fmt: skip


def newest_first(*records: AuditRecord) -> Sequence[AuditRecord]:
    return sorted(records, key=lambda record: record.at, reverse=True)


def shown(
    records: Sequence[AuditRecord], *, read_to: str | None = None
) -> list[tuple[str, datetime, Outcome | None, list[Outcome]]]:
    found = operations(records, read_to=read_to).entries
    return [(entry.title, entry.at, entry.outcome, [step.outcome for step in entry.steps]) for entry, _ in found]


def test_the_records_of_an_operation_are_its_steps() -> None:
    records = newest_first(placed("pause", REQUESTED, 0), placed("pause", SUCCESS, 2))
    assert shown(records) == [("Pause was asked for", NOW, SUCCESS, [REQUESTED, SUCCESS])]


def test_an_open_operation_has_no_outcome() -> None:
    assert shown([placed("deploy", REQUESTED, 0)]) == [("Deployment was asked for", NOW, None, [REQUESTED])]


@pytest.mark.parametrize(
    ("verb", "outcome", "title"),
    [
        ("create", SUCCESS, "Created"),
        ("pause", DENIED, "Pause was refused"),
        ("read", DENIED, "A request was refused"),
        ("of_a_newer_release", SUCCESS, "Changed in another way"),
        ("recreate", REQUESTED, "Creation of the missing connector was asked for"),
    ],
)
def test_titles_are_those_of_the_table(verb: str, outcome: Outcome, title: str) -> None:
    assert [entry[0] for entry in shown([placed(verb, outcome, 0)])] == [title]


def test_one_correlation_id_for_everything_that_a_program_does_joins_nothing_else() -> None:
    records = newest_first(
        placed("create", SUCCESS, 0),
        *(placed("pause", outcome, second) for outcome, second in ((REQUESTED, 1), (SUCCESS, 2))),
        *(placed("pause", outcome, second) for outcome, second in ((REQUESTED, 3), (FAILED, 4))),
    )
    assert [(title, outcome) for title, _, outcome, _ in shown(records)] == [
        ("Pause was asked for", FAILED), ("Pause was asked for", SUCCESS), ("Created", SUCCESS),
    ]  # fmt: skip


def test_an_operation_whose_request_was_not_read_waits_for_it() -> None:
    records = newest_first(placed("update", SUCCESS, 9), placed("pause", SUCCESS, 8))
    found = operations(records, read_to=f"{rfc3339(records[-1].at)}#id")
    assert [entry.title for entry, _ in found.entries] == ["Definition updated"]
    assert found.rest == rfc3339(records[0].at)
    assert found.horizon is not None
    assert found.horizon > found.entries[0].entry.key


def test_an_operation_without_a_request_among_the_next_records_stands_alone() -> None:
    others = [placed("update", SUCCESS, second) for second in range(BETWEEN)]
    records = newest_first(placed("pause", SUCCESS, 99), *others)
    assert shown(records, read_to=f"{rfc3339(NOW)}#id")[0] == (
        "Pause was asked for", NOW + timedelta(seconds=99), SUCCESS, [SUCCESS],
    )  # fmt: skip


def test_at_the_end_of_the_trail_nothing_waits() -> None:
    found = operations([placed("pause", SUCCESS, 0)], read_to=None)
    assert (len(found.entries), found.horizon, found.rest) == (1, None, None)


def test_a_read_that_has_found_no_record_to_show_lets_the_list_go_on() -> None:
    found = operations([], read_to=f"{rfc3339(NOW)}#id")
    assert (found.entries, found.rest) == ((), rfc3339(NOW))


def test_of_the_same_millisecond_a_request_is_the_older_record() -> None:
    records = [placed("pause", REQUESTED, 0), placed("pause", SUCCESS, 0)]
    assert shown(records) == shown(records[::-1]) == [("Pause was asked for", NOW, SUCCESS, [REQUESTED, SUCCESS])]
