"""Check 16: what is typed into a field for a secret, or shown once, is nowhere after it was saved.

Looked at are the page and the values of its fields, everything that a page can store, addresses and history, the
console of the browser, the addresses of its requests, and the log of the server.
"""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyotp
from playwright.sync_api import Locator, Page, Response

from tests.console.console import Console, settle
from tests.console.figures import Figure, at_least, none_of
from tests.console.forms import FIELDS, FORMS, LABEL, Form, fill, open_form
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.chromium import Visit, visit
from tests.support.databases.self_signed import make_certificate

EVERYWHERE = """async () => {
  const databases = [];
  for (const {name} of await indexedDB.databases()) databases.push(name);
  const shown = [...document.querySelectorAll("input, textarea")].map((each) => each.value);
  const tried = (read) => { try { return read(); } catch { return ""; } };
  return [
    document.documentElement.outerHTML, document.body.innerText, ...shown,
    JSON.stringify({...localStorage}), JSON.stringify({...sessionStorage}), document.cookie, window.name,
    ...databases, ...await caches.keys().catch(() => []),
    location.href, document.title, JSON.stringify(history.state), document.referrer,
    ...tried(() => navigation.entries().map((each) => each.url)),
    ...performance.getEntries().map((each) => each.name),
  ].join("\\n");
}"""
WRITTEN: Mapping[str, str] = {
    "Address": "https://example.com/{}",
    "Token of the bot": "123456:{}",
    "Chat": "@{}",
    "Header Authorization (optional)": "Bearer {}",
    "More headers (optional)": "X-Team: {}",
}
"""How some secrets are written, by the labels of their fields; those that are no fields for passwords are here, too."""

_PEM_LINE = 40
"""Characters of a certificate that are looked for."""


@dataclass(kw_only=True)
class Canaries:
    """The secrets by text, with where they were typed or shown; what is left of them; and the names of the fields that
    were sent with one. `empty` are fields that were not filled, `unseen` forms in which a look found nothing typed.
    """

    typed: dict[str, str] = field(default_factory=dict)
    leaks: list[str] = field(default_factory=list)
    sent: set[str] = field(default_factory=set)
    empty: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def new(self, where: str) -> str:
        """Another secret; `where` says into which field it is typed."""
        return self.note(where, f"canary_{next(self.numbers)}_of_a_secret")

    def note(self, where: str, secret: str) -> str:
        self.typed[secret] = where
        return secret

    def in_text(self, text: str) -> list[str]:
        return [where for secret, where in self.typed.items() if secret in text]

    def look(self, opened: Visit, heard: Sequence[str], when: str) -> None:
        """Notes what the browser still has anywhere that a page can look."""
        texts = {
            "the page or its storage": opened.page.evaluate(EVERYWHERE),
            "its console": "\n".join((*heard, *opened.faults)),
            "an address": "\n".join(request.url for request in opened.requests),
            "a cookie": json.dumps([dict(cookie) for cookie in opened.page.context.cookies()]),
        }
        self.leaks += [f"{where}, {when}, in {place}" for place, text in texts.items() for where in self.in_text(text)]
        for request in opened.requests:
            self.sent |= set(_names_with(_body(request.post_data), self.typed))


def _body(text: str | None) -> Any:
    try:
        return json.loads(text or "null")
    except ValueError:
        return None


def _names_with(body: Any, secrets: Mapping[str, str], name: str = "") -> Iterator[str]:
    """The names of the fields whose values have one of the secrets."""
    if isinstance(body, dict):
        for key, value in body.items():
            yield from _names_with(value, secrets, name if name == "headers" else key)
    elif isinstance(body, str) and any(secret in body for secret in secrets):
        yield name


def canaries(console: Console, *, kinds: Sequence[str] = ("systems", "clusters", "channels", "people")) -> list[Figure]:
    """Fills each field for a secret, saves, and looks for what was typed."""
    found = Canaries()
    with console.signed_in() as opened:
        heard: list[str] = []
        opened.page.on("console", lambda message: heard.append(message.text))
        visitor = _Visitor(console=console, opened=opened, heard=heard, canaries=found)
        for kind in kinds:
            _VISITS[kind](visitor)
        faults = opened.all_faults()
    log = console.sandbox.log_text()
    figures = [
        at_least("16 secrets that were typed or shown once", len(found.typed), 2 * len(kinds)),
        none_of("16 fields for secrets that were left empty", found.empty),
        none_of("16 forms in which this check does not see what stands there before it is saved", found.unseen),
        none_of(f"16 secrets of {len(found.typed)} that are left in the browser", found.leaks),
        none_of("16 secrets in the log of the server", found.in_text(log)),
        at_least("16 requests in that log", log.count("/api/v1/"), 10),
        none_of("16 complaints of the browser", faults),
    ]
    if set(kinds) == set(_VISITS):
        missing = sorted(secret_names(console.sandbox) - found.sent)
        figures.append(none_of("16 secrets that the API takes and that were not typed", missing))
    return figures


def secret_names(sandbox: Sandbox) -> set[str]:
    """The names of the fields that the API's document calls secrets."""
    schemas = sandbox.admin.get("//openapi.json").json()["components"]["schemas"]
    return {
        name
        for schema in schemas.values()
        for name, one in schema.get("properties", {}).items()
        if any(part.get("writeOnly") for part in (one, *one.get("anyOf", ())))
    }


@dataclass(frozen=True, kw_only=True)
class _Visitor:
    """Somebody who fills in one form after the other."""

    console: Console
    opened: Visit
    heard: list[str]
    canaries: Canaries

    @property
    def page(self) -> Page:
        return self.opened.page

    @property
    def sandbox(self) -> Sandbox:
        return self.console.sandbox

    def go(self, route: str) -> None:
        self.console.go(self.opened, route)

    def open(self, form: Form) -> Locator:
        self.go(form.route)
        return open_form(self.page, form)

    def save(self, form: Form, what: str) -> Json:
        """Fills the form and saves it; what was made of it."""
        name = self.sandbox.name("canary")
        element = self.open(form)
        fill(element, form, name)
        self.fill_secrets(element, what)
        return dict(self.send(element, form.submit, what).json())

    def send(self, element: Locator, submit: str, what: str) -> Response:
        """Presses the button of a form whose fields are filled, and looks when it is saved."""
        empty = element.locator('input[type="password"]').evaluate_all("all => all.filter((one) => !one.value).length")
        self.canaries.empty += [f"{empty} of {what}"] if empty else []
        self.canaries.unseen += [] if self.canaries.in_text(self.page.evaluate(EVERYWHERE)) else [what]
        response = self._press(element, submit)
        if not response.ok and "_NOT_READY" in response.text():  # new secrets that fail can be stored all the same
            element.get_by_label("Store them although the test failed").check()
            response = self._press(element, submit)
        assert response.ok, response.text()
        self.look(f"{what} was saved")
        return response

    def _press(self, element: Locator, submit: str) -> Response:
        with self.page.expect_response(lambda response: response.request.method in ("POST", "PUT")) as waited:
            element.get_by_role("button", name=submit, exact=True).click()
        return waited.value

    def look(self, when: str) -> None:
        settle(self.opened)
        self.page.wait_for_timeout(100)
        self.canaries.look(self.opened, self.heard, when)

    def choices(self, form: Form, label: str) -> list[str]:
        element = self.open(form)
        options = element.get_by_label(label, exact=True).locator("option")
        return [str(value) for value in options.evaluate_all("all => all.map((one) => one.value)")]

    def in_form(self, submit: str) -> Locator:
        button = self.page.get_by_role("button", name=submit, exact=True)
        form = self.page.locator("form").filter(has=button)
        form.wait_for()
        return form

    def fill_secrets(self, element: Locator, what: str) -> None:
        """A canary into each field for a secret."""
        templates = {**WRITTEN, "Address of the incoming webhook": f"https://{self.sandbox.chat.address}/{{}}"}
        element.locator(FIELDS).first.wait_for()
        for one in element.locator(FIELDS).all():
            label = one.evaluate(LABEL)
            if label in templates or one.get_attribute("type") == "password":
                one.fill(templates.get(label, "{}").format(self.canaries.new(f"{label} of {what}")))

    def pem(self, where: str, *used: str) -> tuple[str, str]:
        """A certificate and its key; a line of what is `used` of them is looked for."""
        made = make_certificate()
        texts = {"certificate": made.certificate, "key": made.key}
        for kind in used:
            self.canaries.note(f"{kind} of {where}", texts[kind].splitlines()[2][:_PEM_LINE])
        return made.certificate, made.key


def _systems(visitor: _Visitor) -> None:
    """Systems of every kind, and new secrets of each."""
    for kind, path in (("source", "sources"), ("destination", "destinations"), ("connection", "connections")):
        form = FORMS[kind](visitor.sandbox)
        for provider in visitor.choices(form, "Kind"):
            what = f"a {kind} of {provider}"
            chosen = {"Kind": provider}
            typed = {"Port": str(visitor.sandbox.postgresql.port), "Region": "eu-north-1"}
            if provider in ("postgresql", "mysql"):
                chosen["TLS"] = "verify-full"
                typed["CA certificate (optional)"], _ = visitor.pem(what, "certificate")
            made = visitor.save(_with(form, chosen, typed), what)
            _rotate(visitor, f"{path}/{made['id']}?tab=settings", made, what)


def _clusters(visitor: _Visitor) -> None:
    """A Kafka cluster by each way to sign in, and a Connect cluster; and new secrets of each."""
    kafka = FORMS["Kafka cluster"](visitor.sandbox)
    safe = {"Security protocol": "SASL_SSL"}
    for mechanism in visitor.choices(_with(kafka, safe, {}), "SASL mechanism"):
        what = f"a Kafka cluster with {mechanism}"
        certificate, key = visitor.pem(what, "certificate", "key")
        typed = {
            "Certificates of the authority (PEM)": certificate,
            "Client certificate (PEM)": certificate,
            "Client key (PEM)": key,
            "Address for OAuth tokens": "https://tokens.example.com/token",
        }
        made = visitor.save(_with(kafka, {**safe, "SASL mechanism": mechanism}, typed), what)
        _rotate(visitor, f"clusters/{made['id']}", made, what)
    made = visitor.save(FORMS["Connect cluster"](visitor.sandbox), "a Connect cluster")
    _rotate(visitor, f"clusters/{made['id']}", made, "a Connect cluster")


def _rotate(visitor: _Visitor, route: str, made: Json, what: str) -> None:
    """New secrets of what is there already."""
    visitor.go(route)
    submit = f"Change the secrets of {made['name']}"
    element = visitor.in_form(submit)
    visitor.fill_secrets(element, f"new secrets of {what}")
    visitor.send(element, submit, f"new secrets of {what}")


def _channels(visitor: _Visitor) -> None:
    """A channel of each kind, and the same with other secrets."""
    form = FORMS["channel"](visitor.sandbox)
    for kind in visitor.choices(form, "Kind"):
        what = f"a channel of {kind}"
        made = visitor.save(_with(form, {"Kind": kind}, {}), what)
        visitor.go(f"channels/{made['id']}")
        submit = f"Save {made['name']}"
        element = visitor.in_form(submit)
        visitor.fill_secrets(element, f"{what}, edited")
        visitor.send(element, submit, f"{what}, edited")


def _with(form: Form, chosen: Mapping[str, str], typed: Mapping[str, str]) -> Form:
    return replace(form, chosen={**form.chosen, **chosen}, typed={**form.typed, **typed})


def _people(visitor: _Visitor) -> None:
    """An invite, its password, another password, a second factor with which somebody signs in, and a token."""
    link, email = _invite(visitor)
    password = visitor.canaries.new("password of an invite")
    _accept(visitor, link, password)
    with visitor.console.signed_in(email=email, password=password, route="account") as opened:
        heard: list[str] = []
        opened.page.on("console", lambda message: heard.append(message.text))
        person = _Visitor(console=visitor.console, opened=opened, heard=heard, canaries=visitor.canaries)
        person.look("somebody has signed in")
        password = _change_password(person, password)
        code = _second_factor(person)
        _sign_in_with(person, email, password, code)
        _token(person)


def _invite(visitor: _Visitor) -> tuple[str, str]:
    """The link and the address of somebody who is invited."""
    form = FORMS["invite"](visitor.sandbox)
    element = visitor.open(form)
    fill(element, form, "")
    element.get_by_role("button", name=form.submit, exact=True).click()
    link = visitor.page.get_by_role("dialog").locator("pre").inner_text()
    visitor.page.get_by_role("button", name="I have copied it").click()
    visitor.canaries.note("token of an invite", link.rpartition("/")[2])
    visitor.look("the link was shown")
    return link, form.typed["E-mail"]


def _accept(visitor: _Visitor, link: str, password: str) -> None:
    with visit(visitor.console.browser, visitor.console.url) as opened:
        opened.page.goto(link)
        opened.page.get_by_label("Your password").fill(password)
        opened.page.get_by_role("button", name="Set my password").click()
        opened.page.get_by_role("link", name="Sign in").wait_for()
        token = visitor.canaries.typed.pop(link.rpartition("/")[2])  # of its own address, and used up
        visitor.canaries.look(opened, (), "an invite was accepted")
        visitor.canaries.note(token, link.rpartition("/")[2])


def _change_password(person: _Visitor, password: str) -> str:
    new = person.canaries.new("new password")
    element = person.in_form("Change my password")
    element.get_by_label("Your password now").fill(password)
    element.get_by_label("New password").fill(new)
    person.send(element, "Change my password", "another password")
    return new


def _second_factor(person: _Visitor) -> str:
    """One of its recovery codes."""
    page = person.page
    page.get_by_role("button", name="Set up a second factor", exact=True).click()
    dialog = page.get_by_role("dialog")
    secret = person.canaries.note("secret of a second factor", dialog.locator("pre").inner_text())
    dialog.get_by_label("The six digits").fill(pyotp.TOTP(secret).now())
    dialog.get_by_role("button", name="Confirm the second factor").click()
    codes = page.get_by_role("dialog", name="Recovery codes").locator("pre").inner_text().split()
    for code in codes:
        person.canaries.note("recovery code", code)
    page.get_by_role("button", name="I have copied it").click()
    person.look("a second factor was set up")
    return codes[0]


def _sign_in_with(person: _Visitor, email: str, password: str, code: str) -> None:
    """The code is asked for after the password."""
    page = person.page
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Code of the second factor").fill(code)
    page.get_by_role("button", name="Sign in").click()
    page.locator("header.top").wait_for()
    person.look("somebody has signed in with a second factor")


def _token(person: _Visitor) -> None:
    page = person.page
    page.get_by_role("button", name="Create a token", exact=True).click()
    element = page.get_by_role("dialog").locator("form")
    element.get_by_label("Name", exact=True).fill(person.sandbox.name("token"))
    element.get_by_role("button", name="Create a token").click()
    person.canaries.note("token for programs", page.get_by_role("dialog").locator("pre").inner_text())
    page.get_by_role("button", name="I have copied it").click()
    person.look("a token was shown")


_VISITS: Mapping[str, Callable[[_Visitor], None]] = {
    "systems": _systems,
    "clusters": _clusters,
    "channels": _channels,
    "people": _people,
}
