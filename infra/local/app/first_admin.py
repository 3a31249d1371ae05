"""The first Admin of a local run. A password that a run made is printed once, and can be printed again.

    python -m infra.local.app.first_admin [--state DIR]        prints the password that an earlier run made

The password is kept sealed with the stack's master key, so that the demonstration can sign in on the next run, too.
"""

import argparse
import base64
import os
import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from infra.local.stack.kept_secrets import kept_secret, write_private
from infra.local.stack.layout import display_path, state_folder

DEFAULT_EMAIL = "admin@headgate.local"
_PURPOSE = b"headgate: password of the first Admin of a local run"


@dataclass(frozen=True, kw_only=True)
class FirstAdmin:
    """`made_here`: a run made the password, it does not come from the environment."""

    email: str
    password: str
    made_here: bool


@dataclass(frozen=True)
class PasswordFile:
    """The sealed password in a state folder that outlives a run.

    `master_key` is the value of the setting: the first of several keys seals, all of them open.
    """

    state: Path
    master_key: str

    def first_admin(self, environment: Mapping[str, str]) -> FirstAdmin:
        """From the environment, else from the file, else with a new password, which is then stored."""
        email = environment.get("HEADGATE_ADMIN_EMAIL") or DEFAULT_EMAIL
        if password := environment.get("HEADGATE_ADMIN_PASSWORD"):
            return FirstAdmin(email=email, password=password, made_here=False)
        password = self.load() or self._make()
        return FirstAdmin(email=email, password=password, made_here=True)

    def load(self) -> str | None:
        """The password that an earlier run made; None when there is none, or no master key opens it any more."""
        if not self._sealed.exists():
            return None
        sealed = base64.b64decode(self._sealed.read_text())
        for at, key in enumerate(self._keys):
            with suppress(InvalidTag):
                password = key.decrypt(sealed[:12], sealed[12:], _PURPOSE).decode()
                if at > 0:
                    self._seal(password)
                return password
        return None

    def was_printed(self) -> bool:
        """Whether a run has printed the password."""
        return self._printed_mark.exists()

    def mark_printed(self) -> None:
        """The password has been printed; no later run prints it."""
        self._printed_mark.touch()

    def _make(self) -> str:
        password = secrets.token_urlsafe(18)
        self._seal(password)
        self._printed_mark.unlink(missing_ok=True)
        return password

    def _seal(self, password: str) -> None:
        nonce = os.urandom(12)
        sealed = nonce + self._keys[0].encrypt(nonce, password.encode(), _PURPOSE)
        write_private(self._sealed, base64.b64encode(sealed).decode() + "\n")

    @property
    def _keys(self) -> list[AESGCM]:
        return [AESGCM(base64.b64decode(text)) for text in self.master_key.split(",") if text.strip()]

    @property
    def _sealed(self) -> Path:
        return self.state / "first-admin.sealed"

    @property
    def _printed_mark(self) -> Path:
        return self.state / "first-admin.printed"


def master_key(state: Path) -> str:
    """The key that local runs seal with: 32 random bytes in base64, from the environment or kept with the state."""
    key = os.environ.get("HEADGATE_MASTER_KEY")
    return key or kept_secret(state / "master-key", lambda: base64.b64encode(os.urandom(32)).decode())


def main() -> int:
    """Prints the stored password; 1 when there is none."""
    parser = argparse.ArgumentParser(prog="python -m infra.local.app.first_admin")
    parser.add_argument("--state", type=Path, default=state_folder("real"), help="default: %(default)s")
    state: Path = parser.parse_args().state
    password = PasswordFile(state, master_key(state)).load() if state.is_dir() else None
    if password is None:
        print(f"no password was made by a run with the state {display_path(state)}", file=sys.stderr)
        return 1
    print(password)
    return 0


if __name__ == "__main__":
    sys.exit(main())
