"""What to do when changes are lost for good: the calls that make a new snapshot. Said wherever one is needed."""

NEW_SNAPSHOT = (
    "A new snapshot is needed: delete the deliveries (DELETE /deliveries/ID) and the pipeline with its slot "
    "(DELETE /pipelines/ID?drop_slot=true), truncate the target tables, then create the pipeline again with another "
    "topic_prefix (POST /pipelines), deploy it (POST /pipelines/ID/deploy) and its deliveries "
    "(POST /destinations/ID/deploy). In tables that are not truncated, rows stay that were deleted in the source "
    "meanwhile."
)
"""The old topics hold the rows that were deleted in the gap, too: hence another prefix."""

GO_ON_AFTER_THE_GAP = (
    "To go on without the lost changes, and without a snapshot: POST /pipelines/ID/restart?accept_data_loss=true."
)
