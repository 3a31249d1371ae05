"""Check 5: a first pipeline by keyboard alone on the real stack, from the sign-in to 1,000 rows at the target."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Browser

from infra.local.process.ports import free_port
from tests.console.console import Console
from tests.console.figures import Figure, at_most, none_of
from tests.console.keyboard import COUNT_POINTER, Keyboard
from tests.support.apps.local_run import LocalRun, fresh_state, started
from tests.support.apps.real_headgate import RealDatabase, new_database
from tests.support.chromium import visit

ROWS = 1_000
MAX_SECONDS = 300.0
PIPELINE, TOPIC = "orders", "orders.shop.orders"
ARRIVED = f"Everything so far is delivered: {ROWS:,} records to shop.orders."
"""What the page says once every record was delivered."""

_TABLE = (
    "CREATE TABLE shop.orders (id bigint PRIMARY KEY, customer text NOT NULL, amount numeric(10, 2))",
    "ALTER TABLE shop.orders OWNER TO {role}",
    f"INSERT INTO shop.orders SELECT n, 'customer ' || n, n FROM generate_series(1, {ROWS}) n",
    "ANALYZE",
)


@dataclass(frozen=True, kw_only=True)
class RealRun:
    """A run on the real stack: where its parts are, and who may sign in. `kafka` is empty where clusters are known."""

    url: str
    email: str
    password: str = field(repr=False)
    kafka: str
    connect: str
    postgres: str = field(repr=False)

    @classmethod
    def of(cls, run: LocalRun) -> "RealRun":
        names = {"email": "ADMIN_EMAIL", "password": "ADMIN_PASSWORD"}
        return cls(**{name: run.value_of(f"HEADGATE_{names.get(name, name.upper())}") for name in cls.__annotations__})


@dataclass(frozen=True, kw_only=True)
class Walk:
    """How somebody came to the rows. `rows` are counted in the source and in the target."""

    seconds: float
    pointer_events: int
    presses: int
    lost_focus: list[str]
    faults: list[str]
    rows: tuple[int, int]


def walk(browser: Browser, run: RealRun) -> Walk:
    """From the sign-in through all steps of Start to the rows at the target."""
    source = new_database(run.postgres, "first", *_TABLE)
    target = new_database(run.postgres, "first_target")
    with visit(browser, run.url) as opened:
        opened.page.add_init_script(COUNT_POINTER)
        keys = Keyboard(page=opened.page)
        opened.page.goto(f"{run.url}/console")
        began = time.monotonic()
        _sign_in(keys, run)
        _choose_tables(keys, source)
        _register_clusters(keys, run)
        _deploy(keys)
        _deliver(keys, target)
        return Walk(
            seconds=time.monotonic() - began,
            pointer_events=keys.pointer_events(),
            presses=keys.presses,
            lost_focus=keys.lost,
            faults=opened.all_faults(),
            rows=(_count(source), _count(target)),
        )


def _sign_in(keys: Keyboard, run: RealRun) -> None:
    keys.fill({"E-mail": run.email, "Password": run.password})
    keys.use("button", "Sign in", until="Sign out")
    keys.use("link", "Sources")
    keys.use("link", "From a database to delivered rows, step by step", until="Step 1 of 7")


def _register(keys: Keyboard, kind: str, database: RealDatabase) -> None:
    keys.fill({"Name": f"{PIPELINE} {kind}", "Host": database.host, "Port": str(database.port)})
    keys.fill({"Database": database.name, "User": database.username})
    keys.choose("TLS", "prefer")
    keys.fill({"Password": database.password})
    keys.use("button", "Test the connection", until="All checks passed.")
    keys.use("button", f"Save the {kind}")


def _choose_tables(keys: Keyboard, source: RealDatabase) -> None:
    _register(keys, "source", source)
    keys.page.get_by_text("This database can be captured.").first.wait_for()
    keys.use("button", "Go on to: Tables", until="Step 3 of 7")
    keys.use("button", "Discover the tables", until="Tables: 1, of which 1 can be captured;")
    keys.use("checkbox", "shop.orders", key="Space", until="1 table chosen.")
    keys.use("button", "Go on to: Clusters", until="Step 4 of 7")


def _register_clusters(keys: Keyboard, run: RealRun) -> None:
    if run.kafka:
        keys.fill({"Name": "broker", "Bootstrap servers": run.kafka})
        keys.use("button", "Register a Kafka cluster", until="Register a Connect cluster")
        keys.fill({"Name": "workers", "Address of the REST interface": run.connect})
        keys.use("button", "Register a Connect cluster")
    keys.page.get_by_text("The plug-in is installed").wait_for()
    keys.use("button", "Go on to: Preview", until="Step 5 of 7")


def _deploy(keys: Keyboard) -> None:
    keys.fill({"Name of the pipeline": PIPELINE})
    keys.use("button", f"Preview the pipeline {PIPELINE}", until=TOPIC)
    keys.use("button", f"Create the pipeline {PIPELINE}", until="Step 6 of 7")
    keys.use("button", f"Deploy the pipeline {PIPELINE}")
    keys.use("button", f"Deploy the pipeline {PIPELINE}")
    keys.page.get_by_role("cell", name=f"{ROWS:,}", exact=True).first.wait_for(timeout=120_000)
    keys.use("button", "Go on to: Deliver", until="Step 7 of 7")


def _deliver(keys: Keyboard, target: RealDatabase) -> None:
    _register(keys, "destination", target)
    keys.fill({"Target schema": "shop"})
    keys.use("button", "Preview the delivery", until="Tables under which everything arrives equal")
    name = f"{PIPELINE} to {PIPELINE} destination"
    keys.use("button", f"Deploy the delivery {name}")
    keys.use("button", f"Deploy the delivery {name}", until="Records delivered")
    keys.page.get_by_text(ARRIVED).wait_for(timeout=120_000)


def _count(database: RealDatabase) -> int:
    return int(database.run("SELECT count(*) FROM shop.orders")[0][0])


@contextmanager
def running_real() -> Iterator[RealRun]:
    """A new local run on the real stack, as `infra/run --no-demo --stack real` starts it."""
    options = ["--stack", "real", "--no-demo", "--port", str(free_port())]
    command = [sys.executable, "-m", "infra.local.app.main", *options]
    with fresh_state() as state, started(command, state) as run:
        run.wait_for(r"^HEADGATE_READY")
        yield RealRun.of(run)


def first_pipeline(console: Console) -> list[Figure]:
    """The start of the stack is not counted."""
    with running_real() as run:
        done = walk(console.browser, run)
    return [
        at_most("5 first pipeline by keyboard", done.seconds, MAX_SECONDS, "s"),
        at_most("5 pointer events", done.pointer_events, 0),
        Figure(
            what=f"5 rows in source and target ({done.presses} keys beside texts)",
            figure=f"{done.rows[0]:,} and {done.rows[1]:,}",
            target=f"{ROWS:,} in each",
            holds=done.rows == (ROWS, ROWS),
        ),
        none_of("5 actions after which nothing had the focus", done.lost_focus),
        none_of("5 complaints of the browser", done.faults),
    ]
