"""The first Admin of a local run: whose password was made here is told once, and can be shown again.

    python -m infra.local.app.first_admin [--state DIR]        prints the password that an earlier run made

The password is kept sealed with the stack's master key, so that the demonstration can sign in on the next run, too.
"""

import argparse
import base64
import os
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from infra.local.stack.kept_secrets import kept_secret, write_private
from infra.local.stack.layout import shown, state_folder

DEFAULT_EMAIL = "admin@headgate.local"
_PURPOSE = b"headgate: password of the first Admin of a local run"


@dataclass(frozen=True, kw_only=True)
class FirstAdmin:
    """`made_here` is True when the password came from a run and not from the environment."""

    email: str
    password: str
    made_here: bool


@dataclass(frozen=True)
class Keeper:
    """The password file of a state folder that outlives a run."""

    state: Path
    master_key: str

    def first_admin(self, environment: Mapping[str, str]) -> FirstAdmin:
        """The one that the environment sets, else the one kept here, else a fresh one, which is then kept."""
        email = environment.get("HEADGATE_ADMIN_EMAIL") or DEFAULT_EMAIL
        given = environment.get("HEADGATE_ADMIN_PASSWORD")
        if given:
            return FirstAdmin(email=email, password=given, made_here=False)
        password = self.kept() or self._make()
        return FirstAdmin(email=email, password=password, made_here=True)

    def kept(self) -> str | None:
        """The password that an earlier run made; None when there is none, or the master key is another one now."""
        if not self._sealed.exists():
            return None
        whole = base64.b64decode(self._sealed.read_text())
        try:
            return AESGCM(self._key).decrypt(whole[:12], whole[12:], _PURPOSE).decode()
        except InvalidTag:
            return None

    def was_told(self) -> bool:
        """Whether a run got as far as printing the password."""
        return self._told.exists()

    def note_told(self) -> None:
        """The password has been printed; no later run prints it."""
        self._told.touch()

    def _make(self) -> str:
        password = secrets.token_urlsafe(18)
        nonce = os.urandom(12)
        sealed = nonce + AESGCM(self._key).encrypt(nonce, password.encode(), _PURPOSE)
        write_private(self._sealed, base64.b64encode(sealed).decode() + "\n")
        self._told.unlink(missing_ok=True)
        return password

    @property
    def _key(self) -> bytes:
        return base64.b64decode(self.master_key)

    @property
    def _sealed(self) -> Path:
        return self.state / "first-admin.sealed"

    @property
    def _told(self) -> Path:
        return self.state / "first-admin.told"


def master_key(state: Path) -> str:
    """The key that local runs seal with: 32 random bytes in base64, from the environment or kept with the state."""
    given = os.environ.get("HEADGATE_MASTER_KEY")
    return given or kept_secret(state / "master-key", lambda: base64.b64encode(os.urandom(32)).decode())


def main() -> int:
    """Prints the kept password; 1 when there is none."""
    parser = argparse.ArgumentParser(prog="python -m infra.local.app.first_admin")
    parser.add_argument("--state", type=Path, default=state_folder("real"), help="default: %(default)s")
    state: Path = parser.parse_args().state
    password = Keeper(state, master_key(state)).kept() if state.is_dir() else None
    if password is None:
        print(f"no password was made by a run with the state {shown(state)}", file=sys.stderr)
        return 1
    print(password)
    return 0


if __name__ == "__main__":
    sys.exit(main())
