"""MySQL, ready for change data capture: a binary log of whole rows with GTIDs."""

import shutil
from pathlib import Path

from infra.local.app.errors import ServerFailed
from infra.local.process.processes import ServerPlan
from infra.local.stack.folders import Folders
from infra.local.stack.kept_secrets import kept_secret
from infra.local.stack.mysql_home import Home, prepare
from infra.local.stack.mysql_programs import Programs, find_programs

SUPERUSER = "root"

_SETTINGS = {
    "bind-address": "127.0.0.1",
    "mysqlx": "OFF",
    # No socket: its path can be too long for the kernel.
    "socket": "",
    "pid-file": "mysqld.pid",
    # No statement reads or writes files of this machine. Elsewhere the default is a folder, which has to exist.
    "secure-file-priv": "NULL",
    "server-id": "1",
    "log-bin": "mysql-bin",
    # Not the default of MySQL 8.0, but what a source should have: a capture can then follow a failover.
    "gtid-mode": "ON",
    "enforce-gtid-consistency": "ON",
    "character-set-server": "utf8mb4",
    "max-connections": "200",
    "innodb-buffer-pool-size": "64M",
    "table-open-cache": "400",
}
# Smaller files than its default; later versions may not know this option.
_FILES = "--loose-innodb-log-file-size=16M"


def plan(folders: Folders, *, port: int, programs: Programs | None = None) -> ServerPlan:
    """The server at 127.0.0.1:`port`, its data made if they are new. Raises SetupMissing or ServerFailed.

    The programs are fetched where none are given.
    """
    home = prepare(folders.of("mysql"), programs or find_programs())
    data = home.folder / "data"
    if not data.exists():
        initialize(home, data)
    return ServerPlan(
        name="MySQL",
        command=[
            *home.programs.command,
            f"--datadir={data}",
            f"--port={port}",
            f"--init-file={_password_statements(home, superuser_password(folders))}",
            _FILES,
            *(f"--{key}={value}" for key, value in _SETTINGS.items()),
        ],
        folder=home.folder,
        log=folders.log("mysql"),
        pid_file=folders.pid_file("mysql"),
        ready=lambda: _answers(port, superuser_password(folders)),
        environment=home.programs.environment,
        user=home.account,
    )


def superuser_password(folders: Folders) -> str:
    """Random, stored with the state."""
    return kept_secret(folders.state / "mysql-password")


def url(folders: Folders, port: int) -> str:
    """The superuser's URL, with the password."""
    return f"mysql://{SUPERUSER}:{superuser_password(folders)}@127.0.0.1:{port}/"


def initialize(home: Home, data: Path) -> None:
    """Makes the data folder under another name and renames it, so that an interrupted run leaves no partial one.

    The superuser has no password in it; the server sets one at each start, before it accepts connections.
    """
    unfinished = data.with_name("data.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    result = home.run(
        [*home.programs.command, "--initialize-insecure", f"--datadir={unfinished}", _FILES],
        home.programs.environment,
    )
    if result.returncode != 0:
        raise ServerFailed(f"mysqld --initialize failed: {result.stderr.strip()[-2000:]}")
    unfinished.rename(data)


def _password_statements(home: Home, password: str) -> Path:
    """A file of statements, one a line. The first keeps the second out of the binary log."""
    statements = ("SET sql_log_bin = 0;", f"ALTER USER '{SUPERUSER}'@'localhost' IDENTIFIED BY '{password}';")
    return home.write_private("password.sql", "".join(f"{statement}\n" for statement in statements))


def _answers(port: int, password: str) -> bool:
    import pymysql

    try:
        connection = pymysql.connect(
            host="127.0.0.1", port=port, user=SUPERUSER, password=password, connect_timeout=2, read_timeout=2
        )
    except pymysql.MySQLError:
        return False
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        return bool(cursor.fetchone() == (1,))
