"""What to do when changes are lost for good: the calls that make a new snapshot. Said wherever one is needed."""


def _new_snapshot(pipeline: str) -> str:
    return (
        f"A new snapshot is needed: delete the deliveries (DELETE /deliveries/ID) and {pipeline}, truncate the target "
        "tables, then create the pipeline again with another topic_prefix (POST /pipelines), deploy it "
        "(POST /pipelines/ID/deploy) and its deliveries (POST /destinations/ID/deploy). In tables that are not "
        "truncated, rows stay that were deleted in the source meanwhile."
    )


# The old topics hold the rows that were deleted in the gap, too: hence another prefix.
NEW_SNAPSHOT = _new_snapshot("the pipeline (DELETE /pipelines/ID)")
NEW_SNAPSHOT_AND_SLOT = _new_snapshot("the pipeline with its slot (DELETE /pipelines/ID?drop_slot=true)")
"""The same where the pipeline has a replication slot."""

GO_ON_AFTER_THE_GAP = (
    "To go on without the lost changes, and without a snapshot: POST /pipelines/ID/restart?accept_data_loss=true."
)
