"""The folder of a database server's data, and the account that runs the server.

PostgreSQL and MySQL refuse to run as root, so a root run starts them as `nobody`, who needs search permission on the
way to their folders. Where the state lies below a closed folder (root's own home, for example), data and programs go to
/var/lib instead, and a file in the state says where. That folder is named by a hash of the state's path, so that it is
found, and emptied, again.
"""

import hashlib
import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from infra.local.app.progress import say
from infra.local.stack.kept_secrets import write_private

ACCOUNT = "nobody"
ELSEWHERE = Path("/var/lib/headgate-local")


@dataclass(frozen=True, kw_only=True)
class ServerFolder:
    """The folder of data and password files; `account` is None for the run's own."""

    folder: Path
    account: str | None

    def run(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a tool of the server as the account, in the folder, at most two minutes; its status is not checked."""
        account = self._entry()
        return subprocess.run(
            list(command),
            cwd=self.folder,
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            user=account.pw_uid if account else None,
            group=account.pw_gid if account else None,
            extra_groups=[] if account else None,
        )

    def write_private(self, name: str, text: str) -> Path:
        """A file in the folder that only the account may read."""
        file = self.folder / name
        write_private(file, text)
        self.own(file)
        return file

    def own(self, path: Path) -> None:
        """Makes the account the owner of a file or folder."""
        account = self._entry()
        if account:
            os.chown(path, account.pw_uid, account.pw_gid)

    def _entry(self) -> pwd.struct_passwd | None:
        return pwd.getpwnam(self.account) if self.account else None


def server_folder(folder: Path, server: str, elsewhere: Path = ELSEWHERE) -> ServerFolder:
    """The folder that serves for the state folder `folder`, owned by its account; below `elsewhere` if need be.

    `server` is the title for the message.
    """
    # Resolved, since `nobody` cannot follow a link in a closed folder.
    folder = folder.resolve()
    if os.geteuid() != 0:
        return ServerFolder(folder=folder, account=None)
    place = folder if is_open_to_all(folder) else _elsewhere(folder, server, elsewhere)
    made = ServerFolder(folder=place, account=ACCOUNT)
    made.own(place)
    return made


def is_open_to_all(folder: Path) -> bool:
    """Whether every account has search permission on the folder and on all folders above it."""
    return all(place.stat().st_mode & stat.S_IXOTH for place in (folder, *folder.parents))


def _elsewhere(folder: Path, server: str, elsewhere: Path) -> Path:
    """The folder used in place of `folder`; emptied when the state that it belonged to was deleted."""
    place = elsewhere / hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    pointer = folder / "elsewhere"
    if not pointer.exists():
        shutil.rmtree(place, ignore_errors=True)
        say(f"{server} may not run as root and cannot reach {folder}: its data go to {place}")
        pointer.write_text(f"{place}\n")
    place.mkdir(parents=True, exist_ok=True)
    elsewhere.chmod(0o755)
    return place
