"""The table of consequences, and its sentences."""

import re

import pytest

from chalicelib.domain.plans.consequences import TABLE, ConsequenceCode, consequence
from chalicelib.domain.plans.plan import ConsequenceSeverity
from chalicelib.domain.usage import UsedBy


def test_every_code_has_its_entry() -> None:
    assert set(TABLE) == set(ConsequenceCode)


@pytest.mark.parametrize("code", ConsequenceCode)
def test_every_sentence_ends(code: ConsequenceCode) -> None:
    assert all(sentence.endswith((".", "}")) for sentence in TABLE[code].sentences)


def test_a_sentence_about_what_is_not_known_is_left_out() -> None:
    facts = {"kept_by": "slot", "name": "s", "retained_bytes": 5 * 1024**2, "bytes_per_second": 1024**2}
    told = consequence(ConsequenceCode.LOG_IS_KEPT, words={"notice": "Kept."}, seconds_to_loss=None, **facts)
    assert told.message == "Kept. Kept for the slot s now: 5.0 MB. It grows by 1.0 MB a second."
    assert told.facts == {**facts, "seconds_to_loss": None}
    assert told.severity is ConsequenceSeverity.WARN


def test_durations_and_long_lists_are_readable() -> None:
    told = consequence(
        ConsequenceCode.LOG_IS_KEPT,
        words={"notice": "Kept."},
        kept_by=None,
        name=None,
        retained_bytes=None,
        bytes_per_second=None,
        seconds_to_loss=7_260,
    )
    assert told.message == "Kept. At this rate changes are lost in 2 h 1 min."
    named = consequence(ConsequenceCode.TOPICS_STAY, topics=40, names=[f"t{number}" for number in range(40)])
    assert named.message.endswith("more.")


def test_one_of_several_resources_is_named() -> None:
    resource = UsedBy(type="delivery", id="1", name="to the lake")
    told = consequence(ConsequenceCode.DELIVERY_CONTINUES, lag=3).about(resource)
    assert told.message == "to the lake: The delivery goes on where it was paused. 3 records wait for it."
    assert told.facts["resource"] == {"type": "delivery", "id": "1", "name": "to the lake"}


def test_one_thing_is_not_told_as_several() -> None:
    one = consequence(ConsequenceCode.READS_FROM_BEGINNING, topics=1).message
    several = consequence(ConsequenceCode.READS_FROM_BEGINNING, topics=1_200).message
    assert (one[:27], several[:32]) == ("The delivery reads 1 topic ", "The delivery reads 1,200 topics ")
    assert consequence(ConsequenceCode.TABLES_ARE_WRITTEN, tables=1, names=["shop.orders"]).message.startswith(
        "1 table is written"
    )


@pytest.mark.parametrize("code", ConsequenceCode)
def test_a_number_is_followed_by_words_that_fit_it(code: ConsequenceCode) -> None:
    assert not [sentence for sentence in TABLE[code].sentences if re.search(r":,\} [a-z]*s\b", sentence)]
