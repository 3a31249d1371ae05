"""PostgreSQL 18, ready for change data capture: logical WAL, enough slots and senders, SCRAM passwords."""

import shutil
import signal
from pathlib import Path

from infra.local.app.errors import ServerFailed
from infra.local.process.processes import ServerPlan
from infra.local.stack.folders import Folders
from infra.local.stack.kept_secrets import kept_secret
from infra.local.stack.postgres_home import Home, prepare

SUPERUSER = "postgres"

_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    # No socket: its folder would have to be writable, and its path can be too long for the kernel.
    "unix_socket_directories": "",
    "wal_level": "logical",
    "max_replication_slots": "20",
    "max_wal_senders": "20",
    "max_connections": "200",
    "shared_buffers": "64MB",
    # A slot that nobody reads any more must not fill the disk.
    "max_slot_wal_keep_size": "4GB",
}


def plan(folders: Folders, *, port: int) -> ServerPlan:
    """The server at 127.0.0.1:`port`, its data made if they are new. Raises SetupMissing or ServerFailed."""
    home = prepare(folders.of("postgres"))
    password = superuser_password(folders)
    data = home.folder / "data"
    _make(home, data, password)
    settings = [word for key, value in _SETTINGS.items() for word in ("-c", f"{key}={value}")]
    return ServerPlan(
        name="PostgreSQL",
        command=[str(home.programs / "postgres"), "-D", str(data), "-p", str(port), *settings],
        folder=home.folder,
        log=folders.log("postgres"),
        pid_file=folders.pid_file("postgres"),
        ready=lambda: _answers(url(folders, port)),
        user=home.account,
        # SIGINT is its fast shutdown: clients are disconnected, the data stay clean (postgres(1)).
        stop_signal=signal.SIGINT,
    )


def superuser_password(folders: Folders) -> str:
    """Random, stored with the state."""
    return kept_secret(folders.state / "postgres-password")


def url(folders: Folders, port: int) -> str:
    """The superuser's URL, with the password."""
    return f"postgresql://{SUPERUSER}:{superuser_password(folders)}@127.0.0.1:{port}/postgres"


def _answers(address: str) -> bool:
    import psycopg

    try:
        with psycopg.connect(address, connect_timeout=2) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False


def _make(home: Home, data: Path, password: str) -> None:
    """Makes the data folder under another name and renames it, so that an interrupted run leaves no partial one."""
    if data.exists():
        return
    unfinished = data.with_name("data.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    password_file = home.write_private("new-password", password)
    command = [
        *(str(home.programs / "initdb"), "-D", str(unfinished), "-U", SUPERUSER, "-A", "scram-sha-256"),
        *("--pwfile", str(password_file), "-E", "UTF8", "--locale=C", "--locale-provider=builtin"),
        "--builtin-locale=C.UTF-8",
    ]
    try:
        result = home.run(command)
    finally:
        password_file.unlink()
    if result.returncode != 0:
        raise ServerFailed(f"initdb failed: {result.stderr.strip()[-2000:]}")
    unfinished.rename(data)
