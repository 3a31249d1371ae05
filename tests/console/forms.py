"""The forms of the console in which somebody types for a while, and how they are filled."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from playwright.sync_api import Locator, Page

from tests.support.apps.sandbox import Sandbox

FIELDS = "input:not([type=checkbox]):not([type=hidden]), textarea"
LABEL = "each => each.labels[0].textContent.trim()"
MAX_BOXES = 3
"""Check boxes of a form that are ticked; a rule has as many as there are kinds of events."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """A form of the console. `chosen` and `typed` are by label; all other fields get a text of their own.

    `listed` is the path of the list that has what was saved, under the name or the address that was typed.
    """

    route: str
    submit: str
    listed: str
    opens: str = ""
    chosen: Mapping[str, str] = field(default_factory=dict)
    typed: Mapping[str, str] = field(default_factory=dict)


def _database(sandbox: Sandbox) -> Mapping[str, str]:
    return {"Port": str(sandbox.postgresql.port)}


FORMS: Mapping[str, Callable[[Sandbox], Form]] = {
    "source": lambda sandbox: Form(
        route="sources", opens="Register a source", submit="Save the source", listed="/sources",
        chosen={"TLS": "verify-full"}, typed={**_database(sandbox), "CA certificate (optional)": ""},
    ),
    "destination": lambda _: Form(
        route="destinations", opens="Register a destination", submit="Save the destination", listed="/destinations",
        chosen={"Kind": "minio"}, typed={"Endpoint URL": "https://minio.example.com:9000"},
    ),
    "connection": lambda sandbox: Form(
        route="connections", opens="Register a connection", submit="Save the connection", listed="/connections",
        typed={**_database(sandbox), "Endpoint URL": "https://minio.example.com:9000"},
    ),
    "Kafka cluster": lambda sandbox: Form(
        route="clusters/new?kind=stream", submit="Register a Kafka cluster", listed="/stream/clusters",
        chosen={"Security protocol": "SASL_PLAINTEXT"},
        typed={"Bootstrap servers": sandbox.doubles.kafka, "Labels": "team: shop"},
    ),
    "Connect cluster": lambda _: Form(
        route="clusters/new?kind=connect", submit="Register a Connect cluster", listed="/connect/clusters",
        typed={"Address of the REST interface": "http://127.0.0.1:9", "Labels": "team: shop"},
    ),
    "rule": lambda _: Form(
        route="rules/new", submit="Create a rule", listed="/alert-rules", typed={"Labels": "team: shop"}
    ),
    "channel": lambda _: Form(
        route="channels/new", submit="Create a channel", listed="/notification-channels",
        chosen={"Kind": "webhook"},
        typed={
            "Address": "https://example.com/alerts", "More headers (optional)": "X-Team: shop", "Labels": "team: shop"
        },
    ),
    "maintenance": lambda _: Form(
        route="maintenance/new", submit="Plan maintenance", listed="/maintenance",
        typed={"From": "2031-01-01T08:00", "Until": "2031-01-01T10:00", "Everything with all of these labels": "a: b"},
    ),
    "invite": lambda sandbox: Form(
        route="users", opens="Invite a user", submit="Invite a user", listed="/users",
        chosen={"Role": "Ops"}, typed={"E-mail": f"{sandbox.name('invited')}@example.com"},
    ),
    "Start": lambda sandbox: Form(
        route="start", opens="Register a source", submit="Save the source", listed="/sources",
        typed=_database(sandbox),
    ),
}  # fmt: skip
"""The forms in which somebody types for a while."""


def open_form(page: Page, form: Form) -> Locator:
    """The element of the form; its button is pressed where it is not open yet."""
    submit = page.get_by_role("button", name=form.submit, exact=True)
    element = page.locator("form").filter(has=submit)
    page.locator("main h1").first.wait_for()
    if form.opens and not element.count():
        page.get_by_role("button", name=form.opens, exact=True).click()
    element.wait_for()
    for label, value in form.chosen.items():
        element.get_by_label(label, exact=True).select_option(value)
    return element


def fill(element: Locator, form: Form, name: str) -> None:
    """Fills all fields."""
    typed = {"Name": name, **form.typed}
    for number, one in enumerate(element.locator(FIELDS).all()):
        label = one.evaluate(LABEL)
        otherwise = "60" if one.get_attribute("type") == "number" else f"typed-{number}"
        one.fill(typed.get(label, otherwise))
    for box in element.get_by_role("checkbox").all()[:MAX_BOXES]:
        box.click()
