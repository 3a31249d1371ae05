"""What topics hold already when a pipeline begins to write them."""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta

from chalicelib.domain.cluster import TopicFacts
from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.names import name_list

CLOCKS_OF_WORKERS_APART = timedelta(minutes=1)
"""Workers give records the time of their own clock."""


def old_topic_warnings(
    topics: Collection[str], facts: TopicFacts | None, created_at: datetime | None
) -> Iterator[ConfigWarning]:
    """Topics with records from before the pipeline was created; None: it does not exist yet. `facts` are None when
    Kafka could not be read.
    """
    if facts is None:
        return
    before = created_at - CLOCKS_OF_WORKERS_APART if created_at else None
    first = {topic: facts.first_written[topic] for topic in topics if topic in facts.first_written}
    if old := sorted(topic for topic, at in first.items() if before is None or at < before):
        message = (
            f"{name_list(old)} have records from before this pipeline, as an earlier one with the same topic_prefix "
            "leaves them. A delivery reads them too: rows that were deleted since come back. Delete these topics "
            "first, or choose another topic_prefix."
        )
        yield ConfigWarning(code="TOPIC_OLDER_THAN_PIPELINE", message=message)
