"""The names of slot and publication, and the claims on them."""

import re
from dataclasses import replace

import pytest

from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.postgresql import replication
from chalicelib.domain.release import ReleaseResult, ReleaseState
from tests.support.entities import make_address, make_pipeline, make_source

PIPELINE = make_pipeline()
CHOSEN = make_pipeline(
    capture=replace(PIPELINE.capture, provider_options={"slot_name": "mine", "publication_name": "ours"})
)
SOURCE = make_source(address=make_address(host="DB.example."))


def test_derived_names_are_ones_that_postgresql_takes() -> None:
    plan = replication.PostgreSQLCapturePlan.of(PIPELINE)
    names = {plan.slot_name, plan.publication_name}
    assert len(names) == 2
    assert all(re.fullmatch("[a-z0-9_]{1,63}", name) for name in names)


def test_chosen_names_are_used() -> None:
    assert replication.effective_options(CHOSEN) == {
        "publication_mode": "filtered",
        "publication_name": "ours",
        "slot_name": "mine",
        "adopt_existing": False,
    }


KEPT = {
    "slot_name": "mine",
    "drop_slot_statement": "SELECT pg_drop_replication_slot('mine');",
    "publication_name": "ours",
}


def test_a_deleted_pipeline_leaves_its_publication_and_the_slot_unless_that_was_dropped() -> None:
    dropped = ReleaseResult(state=ReleaseState.RELEASED)
    assert replication.deletion_details(CHOSEN, None) == {"kept": KEPT}
    assert replication.deletion_details(CHOSEN, dropped) == {"slot_dropped": True, "kept": {"publication_name": "ours"}}


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (ReleaseResult(state=ReleaseState.IN_USE), "Something still reads from the slot"),
        (ReleaseResult(state=ReleaseState.ADOPTED), "was there before the pipeline"),
        (ReleaseResult(state=ReleaseState.NOT_OURS), "not a logical slot of this database"),
        (ReleaseResult(state=ReleaseState.UNKNOWN, error="No route."), "whether the slot was dropped. No route."),
    ],
)
def test_a_slot_that_was_to_be_dropped_and_is_kept_has_its_reason(result: ReleaseResult, reason: str) -> None:
    details = replication.deletion_details(CHOSEN, result)
    assert (details["slot_dropped"], details["kept"]) == (False, KEPT)
    assert reason in details["slot_message"]


def test_a_slot_is_claimed_on_the_server_and_a_publication_in_the_database() -> None:
    assert replication.unique_claims(CHOSEN, SOURCE) == (
        "slot/db.example:5432/mine",
        "publication/db.example:5432/shop/ours",
    )


def test_a_publication_that_its_owner_made_may_be_shared() -> None:
    options = {**CHOSEN.capture.provider_options, "publication_mode": "existing"}
    sharing = replace(CHOSEN, capture=replace(CHOSEN.capture, provider_options=options))
    assert replication.unique_claims(sharing, SOURCE) == ("slot/db.example:5432/mine",)


def decided(*made: str, adopts: bool = True) -> Pipeline:
    """The pipeline after a deploy began, whose connector makes these."""
    options = {**CHOSEN.capture.provider_options, "adopt_existing": adopts}
    return replace(CHOSEN, made_in_source=made, capture=replace(CHOSEN.capture, provider_options=options))


def test_only_a_slot_that_the_pipeline_has_made_can_be_released() -> None:
    assert replication.source_release(decided("publication", "slot")).is_own
    assert not replication.source_release(decided("publication")).is_own
    assert not replication.source_release(CHOSEN).is_own


def test_an_adopted_publication_is_used_as_it_is_and_shown_as_it_was_chosen() -> None:
    for pipeline, mode in (
        (CHOSEN, "filtered"),
        (decided("publication", "slot"), "filtered"),
        (decided("slot"), "existing"),
        # Without consent it is refused, not adopted.
        (decided("slot", adopts=False), "filtered"),
    ):
        assert replication.PostgreSQLCapturePlan.of(pipeline).publication_mode == mode
        assert replication.effective_options(pipeline)["publication_mode"] == "filtered"
