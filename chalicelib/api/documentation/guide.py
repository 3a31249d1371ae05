"""The first steps, as the page `/docs` shows them above the reference."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstStep:
    """A step, the operations that do it, and the document that says more."""

    title: str
    text: str
    operations: tuple[str, ...]
    page: str


GUIDE = (
    FirstStep(
        title="Sign in",
        text="A person signs in with e-mail and password and gets a cookie. A program sends a token.",
        operations=("login", "create_api_token"),
        page="security.md",
    ),
    FirstStep(
        title="Register",
        text="The Kafka brokers, the Connect workers, the database to capture from, and where the changes go.",
        operations=("create_stream_cluster", "create_connect_cluster", "create_source", "create_destination"),
        page="tutorial.md",
    ),
    FirstStep(
        title="Check",
        text="Discover the tables, and read what would go wrong before anything runs. Each check says what to do.",
        operations=("discover_source", "source_readiness", "preview_pipeline", "preview_delivery"),
        page="pipelines.md",
    ),
    FirstStep(
        title="Deploy",
        text="Create and deploy the pipeline, then the delivery of its topics.",
        operations=("create_pipeline", "deploy_pipeline", "deploy_delivery"),
        page="pipelines.md",
    ),
    FirstStep(
        title="Watch",
        text="Attach a channel to an alert rule, so that somebody hears of what breaks; look at what is wrong now.",
        operations=("create_channel", "update_alert_rule", "get_overview", "list_alerts"),
        page="alerting.md",
    ),
)
