"""The names of slot and publication, and the claims on them."""

import re
from dataclasses import replace
from datetime import UTC, datetime

from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import DatabaseAddress, DatabaseProvider
from chalicelib.domain.pipeline import Capture, CaptureOptions, Pipeline, PublicationMode
from chalicelib.domain.providers.postgresql import replication
from chalicelib.domain.source import Source
from chalicelib.domain.table import TableName

NOW = datetime(2026, 1, 31, tzinfo=UTC)
PIPELINE = Pipeline(
    id="0a1b2c3d-0000-4000-8000-00000000ffff",
    name="p",
    source_id="s",
    stream_cluster_id="k",
    connect_cluster_id="c",
    capture=Capture(topic_prefix="p", tables=(TableName("shop", "orders"),)),
    created_at=NOW,
    updated_at=NOW,
)
CHOSEN = replace(
    PIPELINE, capture=replace(PIPELINE.capture, options=CaptureOptions(slot_name="mine", publication_name="ours"))
)
SOURCE = Source(
    id="s",
    name="s",
    description=None,
    environment=None,
    address=DatabaseAddress(
        provider=DatabaseProvider.POSTGRESQL, host="DB.example.", port=5432, database_name="shop", username="cdc"
    ),
    credentials=Credentials(id="c"),
    created_at=NOW,
    updated_at=NOW,
)


def test_derived_names_are_ones_that_postgresql_takes() -> None:
    names = {replication.slot_name(PIPELINE), replication.publication_name(PIPELINE)}
    assert len(names) == 2
    assert all(re.fullmatch("[a-z0-9_]{1,63}", name) for name in names)


def test_chosen_names_are_used() -> None:
    assert replication.effective_options(CHOSEN) == CHOSEN.capture.options
    assert replication.slot_name(CHOSEN) == "mine"


def test_a_deleted_pipeline_leaves_its_publication_and_the_slot_that_was_not_dropped() -> None:
    assert replication.deletion_details(CHOSEN, slot_dropped=True) == {"publication_name": "ours"}
    assert replication.deletion_details(CHOSEN, slot_dropped=False) == {
        "slot_name": "mine",
        "drop_slot_statement": "SELECT pg_drop_replication_slot('mine');",
        "publication_name": "ours",
    }


def test_a_slot_is_claimed_on_the_server_and_a_publication_in_the_database() -> None:
    assert replication.unique_claims(CHOSEN, SOURCE) == (
        "slot/db.example:5432/mine",
        "publication/db.example:5432/shop/ours",
    )


def test_a_publication_that_its_owner_made_may_be_shared() -> None:
    options = replace(CHOSEN.capture.options, publication_mode=PublicationMode.EXISTING)
    sharing = replace(CHOSEN, capture=replace(CHOSEN.capture, options=options))
    assert replication.unique_claims(sharing, SOURCE) == ("slot/db.example:5432/mine",)
