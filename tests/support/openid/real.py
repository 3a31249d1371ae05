"""A real OpenID provider (`oidc-provider` on Node) for tests marked `real`, and a browser that signs in there.

Its packages are those of identity_provider/package-lock.json, with its hashes, fetched once into the cache.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest

from infra.local.process.locks import locked
from infra.local.process.ports import kept_ports
from infra.local.process.processes import ServerPlan, ServerProcess
from infra.local.stack import readiness_probes
from infra.local.stack.fetch import digest
from infra.local.stack.folders import Folders
from infra.local.stack.layout import cache_folder
from tests.support.servers import running_server

PROJECT = Path(__file__).parent / "identity_provider"
CLIENT_ID = "headgate"
CLIENT_SECRET = "a-client-secret-of-the-provider"
Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class RealOpenIdProvider:
    """A running provider. `people` has the claims by name. Every password is accepted."""

    issuer: str
    server: ServerProcess
    people_file: Path
    settings_file: Path

    def set_person(self, name: str, **claims: Any) -> None:
        """From now on the provider says this about them."""
        people = json.loads(self.people_file.read_text())
        self.people_file.write_text(json.dumps({**people, name: {**people.get(name, {}), **claims}}))

    def exchange_keys(self) -> None:
        """Start again, with new keys and without its sessions."""
        self.server.restart()

    def configure(self, **changes: Any) -> None:
        """Start again with other settings."""
        self.settings_file.write_text(json.dumps({**json.loads(self.settings_file.read_text()), **changes}))
        self.server.restart()


@contextmanager
def real_openid_provider(folder: Path, *, redirect_uri: str, **settings: Any) -> Iterator[RealOpenIdProvider]:
    """The provider, with one client, on a free port of loopback."""
    _require_node()
    folders = Folders(folder)
    port = kept_ports(folders.ports, ["openid"])["openid"]
    people, config = folders.of("openid") / "people.json", folders.of("openid") / "settings.json"
    people.write_text("{}")
    own = {"port": port, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "redirect_uri": redirect_uri}
    config.write_text(json.dumps({**own, "people": str(people), **settings}))
    plan = ServerPlan(
        name="OpenID provider",
        command=["node", str(_program() / "provider.mjs"), str(config)],
        folder=folders.of("openid"),
        log=folders.log("openid"),
        pid_file=folders.pid_file("openid"),
        ready=lambda: readiness_probes.http_text(port, "/.well-known/openid-configuration") != "",
        ready_within=30,
    )
    with running_server(plan) as server:
        yield RealOpenIdProvider(
            issuer=f"http://127.0.0.1:{port}", server=server, people_file=people, settings_file=config
        )


def browser_signs_in(browser: httpx.Client, url: str, name: str) -> str:
    """Follow the provider's pages from `url` on as `name`, to the address that it sends the browser back to."""
    for _ in range(8):
        answer = browser.get(url)
        if answer.status_code == 200:
            form = {"prompt": "login", "login": name, "password": "whatever"}
            answer = browser.post(url, data=form)
        url = urljoin(url, answer.headers["location"])
        if "code=" in url or "error=" in url:
            return url
    raise AssertionError(f"the provider did not send the browser back, but to {url}")


def _require_node() -> None:
    if shutil.which("node") and shutil.which("npm"):
        return
    reason = "the OpenID provider of the tests needs Node 20 or newer and npm on the PATH"
    if os.environ.get("HEADGATE_REQUIRE_REAL"):
        pytest.fail(reason)
    pytest.skip(reason)


def _program() -> Path:
    """The provider with its packages, in the cache."""
    files = [PROJECT / name for name in ("package.json", "package-lock.json", "provider.mjs")]
    folder = cache_folder() / f"openid-{digest(files)}"
    with locked(cache_folder() / "lock", busy="waiting for another run that is filling the same cache", wait=True):
        if not folder.is_dir():
            unfinished = folder.with_name(folder.name + ".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            shutil.copytree(PROJECT, unfinished)
            # `ci` takes exactly what the lock file lists and refuses what has another hash; nothing of it is run.
            command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            subprocess.run(command, cwd=unfinished, check=True, capture_output=True, timeout=300)
            unfinished.rename(folder)
    return folder
