"""Exports all definitions of an installation, and sends them to an empty one.

    export HEADGATE_TOKEN=hg_...
    .headgate/venv/bin/python -m infra.move_definitions export https://old.example.com > export.json
    .headgate/venv/bin/python -m infra.move_definitions send https://new.example.com export.json secrets.json

The token is an API token of an Admin. No export has secrets. `send` names those that are missing, and sends nothing
until `secrets.json` has all of them, by kind and name:

    {"sources/orders": {"credentials.password": "..."}}

It creates everything, the oldest first, discovers the tables of the sources, and leaves pipelines as drafts. With
`--deploy` it deploys the pipelines and then the deliveries, which need their topics; two installations must not capture
from one slot.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

Json = dict[str, Any]
PATHS: Mapping[str, str] = {
    "stream_clusters": "/stream/clusters",
    "connect_clusters": "/connect/clusters",
    "connections": "/connections",
    "sources": "/sources",
    "destinations": "/destinations",
    "pipelines": "/pipelines",
    "deliveries": "/destinations/{destination_id}/deploy",
    "notification_channels": "/notification-channels",
    "alert_rules": "/alert-rules",
}
"""Where each kind is sent, in the order of the export: what is referred to comes first."""

_CALL_SECONDS = 60
_DISCOVERY_SECONDS = 300


class MoveError(Exception):
    """What does not go on, in a sentence for the person at the terminal."""


@dataclass(frozen=True)
class Api:
    """An installation, as an Admin with a token reaches it."""

    url: str
    token: str

    def call(self, method: str, path: str, body: Json | None = None) -> tuple[Any, Mapping[str, str]]:
        """The body of the answer, and its headers. Raises MoveError for an answer that is an error."""
        try:
            answer = httpx.request(
                method,
                f"{self.url.rstrip('/')}/api/v1{path}",
                json=body,
                headers={"Authorization": f"Bearer {self.token}"},
                timeout=_CALL_SECONDS,
            )
        except httpx.HTTPError as error:
            raise MoveError(f"{method} {path}: {error}. Check the address, and try again.") from error
        if answer.is_error:
            raise MoveError(f"{method} {path}: {answer.status_code} {answer.text[:2000]}")
        return answer.json(), answer.headers

    def pages(self, path: str) -> Iterator[Any]:
        """The bodies of all pages."""
        body, headers = self.call("GET", path)
        yield body
        while cursor := headers.get("X-Next-Cursor"):
            body, headers = self.call("GET", f"{path}?cursor={cursor}")
            yield body


def read_export(api: Api) -> Json:
    """The whole export in one object."""
    whole: Json = {}
    for page in api.pages("/export"):
        whole |= {name: whole.get(name, []) + value if name in PATHS else value for name, value in page.items()}
    return whole


def missing_secrets(export: Json, secrets: Json) -> list[str]:
    """The secrets that have to be given, each as `sources/orders: credentials.password`."""
    return [
        f"{_key(kind, entry)}: {name}"
        for kind in PATHS
        for entry in export[kind]
        for name in entry["secrets"]
        if name not in secrets.get(_key(kind, entry), {})
    ]


@dataclass
class Sender:
    """Sends an export. `new_ids` are the ids in the new installation, by those in the export."""

    api: Api
    secrets: Json
    deploy: bool
    new_ids: dict[str, str] = field(default_factory=dict)

    def send(self, export: Json) -> None:
        """Raises MoveError. What was sent before stays."""
        for kind in PATHS:
            for entry in reversed(export[kind]):  # lists are newest first
                if kind == "deliveries" and not self.deploy:
                    print(f"left out, it needs --deploy: {_key(kind, entry)}")
                    continue
                self.new_ids[entry["id"]] = self._send(kind, entry)
                print(f"sent: {_key(kind, entry)}")

    def _send(self, kind: str, entry: Json) -> str:
        body = self._with_secrets(kind, entry, self._with_new_ids(entry))
        if kind == "alert_rules" and (known := self._rule_named(entry["name"])):
            self.api.call("PUT", f"/alert-rules/{known}", body)
            return known
        created, _ = self.api.call("POST", PATHS[kind].format_map(self._ends(entry)), body)
        resource_id = str(created["id"])
        if kind == "sources":
            self._discover(resource_id)
        if kind == "pipelines" and self.deploy:
            self.api.call("POST", f"/pipelines/{resource_id}/deploy")
        return resource_id

    def _ends(self, entry: Json) -> dict[str, str]:
        """The new ids of what it refers to, by field. What was deleted has none."""
        known = [one for one in entry["references"] if one["id"] in self.new_ids]
        return {one["field"]: self.new_ids[one["id"]] for one in known}

    def _with_new_ids(self, entry: Json) -> Json:
        body = dict(entry["definition"])
        for name in {one["field"] for one in entry["references"]} & body.keys():
            value = body[name]
            # A rule may name what was deleted since.
            kept = [self.new_ids[one] for one in value if one in self.new_ids] if isinstance(value, list) else None
            body[name] = self.new_ids[value] if kept is None else kept
        return body

    def _with_secrets(self, kind: str, entry: Json, body: Json) -> Json:
        for name in entry["secrets"]:
            part, _, secret = name.partition(".")
            body.setdefault(part, {})[secret] = self.secrets[_key(kind, entry)][name]
        return body

    def _rule_named(self, name: str) -> str | None:
        """The id of a rule that an empty installation has already: its default one."""
        rules = [rule for page in self.api.pages("/alert-rules") for rule in page]
        return next((str(rule["id"]) for rule in rules if rule["name"] == name), None)

    def _discover(self, source_id: str) -> None:
        """A pipeline needs the tables of its source."""
        job, _ = self.api.call("POST", f"/sources/{source_id}/discover")
        end = time.monotonic() + _DISCOVERY_SECONDS
        while job["status"] in ("PENDING", "RUNNING") and time.monotonic() < end:
            time.sleep(0.5)
            job, _ = self.api.call("GET", f"/jobs/{job['id']}")
        if job["status"] != "COMPLETED":
            raise MoveError(f"The tables of the source {source_id} were not discovered: {job['error']}")


def _key(kind: str, entry: Json) -> str:
    return f"{kind}/{entry['name']}"


def main(arguments: list[str]) -> int:
    """0, or 1 when something is missing or refused; the reason is on stderr."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("export").add_argument("url")
    send = commands.add_parser("send")
    send.add_argument("url")
    send.add_argument("export", type=Path)
    send.add_argument("secrets", type=Path, nargs="?")
    send.add_argument("--deploy", action="store_true")
    given = parser.parse_args(arguments)
    api = Api(given.url, os.environ.get("HEADGATE_TOKEN", ""))
    try:
        if given.command == "export":
            print(json.dumps(read_export(api), indent=2, ensure_ascii=False))
            return 0
        return _send(api, given)
    except MoveError as error:
        print(error, file=sys.stderr)
        return 1


def _send(api: Api, given: argparse.Namespace) -> int:
    export = json.loads(given.export.read_text(encoding="utf-8"))
    secrets = json.loads(given.secrets.read_text(encoding="utf-8")) if given.secrets else {}
    if missing := missing_secrets(export, secrets):
        print("Nothing was sent. Give these secrets:", *missing, sep="\n", file=sys.stderr)
        return 1
    Sender(api, secrets, given.deploy).send(export)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
