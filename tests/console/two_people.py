"""Check 9, two people who edit one thing: the second one sees what differs, and overwrites nothing before consent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from playwright.sync_api import Locator

from tests.console.console import Console, axe_violations, settle
from tests.console.figures import Figure, none_of
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.chromium import Visit

MINE = "of the second person"


@dataclass(frozen=True, kw_only=True)
class Edited:
    """Something that has a form. `route` has the place of its id; `opens` says whether a button shows the form."""

    path: str
    body: Callable[[Sandbox], Json]
    route: str
    opens: bool = False


EDITED: Mapping[str, Edited] = {
    "rule": Edited(
        path="/alert-rules", route="rules/{}", body=lambda sandbox: {"name": sandbox.name("edited"), "channel_ids": []}
    ),
    "channel": Edited(
        path="/notification-channels",
        route="channels/{}",
        body=lambda sandbox: {
            "name": sandbox.name("edited"),
            "provider": "webhook",
            "config": {"url": "https://example.com/alerts"},
        },
    ),
    "Kafka cluster": Edited(
        path="/stream/clusters",
        route="clusters/{}",
        opens=True,
        body=lambda sandbox: {"name": sandbox.name("edited"), "bootstrap_servers": "kafka.example.com:9092"},
    ),
    "Connect cluster": Edited(
        path="/connect/clusters",
        route="clusters/{}",
        opens=True,
        body=lambda sandbox: {
            "name": sandbox.name("edited"),
            "base_url": f"http://{sandbox.name('connect')}.example.com:8083",
            "stream_cluster_id": sandbox.stream["id"],
        },
    ),
    "connection": Edited(
        path="/connections", route="connections/{}", opens=True, body=lambda sandbox: sandbox.connection_body()
    ),
    "source": Edited(path="/sources", route="sources/{}?tab=settings", body=lambda sandbox: sandbox.source_body()),
    "destination": Edited(
        path="/destinations", route="destinations/{}?tab=settings", body=lambda sandbox: sandbox.destination_body()
    ),
}


def two_people(console: Console) -> list[Figure]:
    """Every form of something that is there already."""
    wrong = [f"{name}: {one}" for name in EDITED for one in overwritten(console, name)]
    return [none_of(f"9 of {len(EDITED)} forms, faults while two people edit one thing", wrong)]


@dataclass(kw_only=True)
class _Desk:
    """The second person at the form, while the first one saves by the API."""

    sandbox: Sandbox
    edited: Edited
    opened: Visit
    id: str
    body: Json
    faults: list[str]

    @property
    def form(self) -> Locator:
        return self.opened.page.locator("form", has=self.opened.page.get_by_label("Labels"))

    def other_saves(self, label: str) -> None:
        response = self.sandbox.admin.put(self._path, {**self.body, "labels": {"team": label}})
        assert response.status_code == 200, response.text

    def page_reads(self) -> None:
        """The page has read that there is another version, as it does every ten seconds."""
        self.opened.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        self.opened.page.get_by_text("Somebody else has changed it").wait_for()

    def saves(self) -> None:
        self.form.get_by_label("Name", exact=True).fill(MINE)
        self.form.locator('button[type="submit"].primary').click()

    def expect_conflict(self, label: str) -> None:
        """What was saved by the other person is shown, and is still there."""
        shown = self.form.get_by_role("status").filter(has_text=label)
        shown.wait_for()
        text = shown.inner_text()
        self.faults += [f"{part} is not shown" for part in ("labels.team", "name", MINE) if part not in text]
        self.expect_saved(self.body["name"], label)

    def expect_focus(self, when: str) -> None:
        if not self.opened.page.locator(":focus").count():
            self.faults.append(f"the focus is nowhere once {when}")

    def expect_saved(self, name: str, label: str | None) -> None:
        saved = self.sandbox.admin.get_ok(self._path)
        if (saved["name"], saved["labels"].get("team")) != (name, label):
            self.faults.append(f"{saved['name']} and {saved['labels']} are saved, not {name} and {label}")

    @property
    def _path(self) -> str:
        return f"{self.edited.path}/{self.id}"


def overwritten(console: Console, name: str) -> list[str]:
    """What is lost, or not shown, while two people edit the same thing."""
    sandbox, edited = console.sandbox, EDITED[name]
    body = edited.body(sandbox)
    resource = sandbox.admin.post_ok(edited.path, body)
    with console.signed_in(route=edited.route.format(resource["id"])) as opened:
        settle(opened)
        if edited.opens:
            opened.page.get_by_role("button", name=f"Edit {body['name']}").click()
        desk = _Desk(sandbox=sandbox, edited=edited, opened=opened, id=resource["id"], body=body, faults=[])
        desk.other_saves("theirs")
        desk.page_reads()
        desk.saves()
        desk.expect_conflict("theirs")
        _take_theirs(desk)
        desk.other_saves("later")
        desk.saves()
        desk.expect_conflict("later")
        desk.faults += axe_violations(opened)
        desk.other_saves("last")
        desk.form.get_by_role("button", name="Save mine").click()
        desk.expect_conflict("last")
        with opened.page.expect_response(lambda response: response.request.method == "PUT"):
            desk.form.get_by_role("button", name="Save mine").click()
        desk.expect_saved(MINE, "theirs")  # the labels that were in the form
        desk.form.get_by_role("button", name="Save mine").wait_for(state="hidden")
        settle(opened)
        desk.expect_focus("it was saved")
        return [*desk.faults, *opened.all_faults()]


def _take_theirs(desk: _Desk) -> None:
    desk.form.get_by_role("button", name="Drop mine").click()
    desk.form.get_by_role("status").wait_for(state="hidden")
    desk.expect_focus("what was typed was dropped")
    if desk.form.get_by_label("Name", exact=True).input_value() != desk.body["name"]:
        desk.faults.append("what was typed is still in the form")
    if "theirs" not in desk.form.get_by_label("Labels").input_value():
        desk.faults.append("what is saved is not in the form")
    desk.expect_saved(desk.body["name"], "theirs")
