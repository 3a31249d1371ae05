"""Creates the tables and queues that Headgate needs, wherever the environment says that they are."""

from collections.abc import Mapping


def create_all(_environment: Mapping[str, str]) -> None:
    """Create what is missing; what is there is left as it is. The environment is already in force."""
    import boto3

    from chalicelib.settings import settings
    from chalicelib.stores.all_tables import ALL_TABLES
    from chalicelib.wiring import JOBS, TICKS, services

    for table in ALL_TABLES:
        if not table.exists():
            table.create_table(wait=True)
    sqs = boto3.client("sqs")
    for name in (JOBS, TICKS):
        sqs.create_queue(
            QueueName=settings().queue_prefix + name,
            Attributes={"VisibilityTimeout": "90", "MessageRetentionPeriod": "3600"},
        )
    services()
