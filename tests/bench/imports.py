"""CPU time of importing the API, compared with importing its main libraries alone, each in a new interpreter."""

import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import quantiles

ROOT = Path(__file__).resolve().parents[2]
BUDGET = 1.3
REPEATS = 41
BARE = "pass"
# Each library is used once: pydantic loads most of its modules with the first model.
BASE = (
    "from chalice.app import Chalice; Chalice(app_name='a')\n"
    "from pynamodb.models import Model\n"
    "from pynamodb.transactions import TransactGet\n"
    "from pydantic import BaseModel\n"
    "class One(BaseModel):\n    a: int\n"
    "from aws_lambda_powertools.logging import Logger; Logger(service='a')\n"
)
OURS = "import app"


@dataclass(frozen=True, kw_only=True)
class ImportCost:
    """Milliseconds of CPU over a bare interpreter."""

    base_ms: float
    ours_ms: float

    @property
    def ratio(self) -> float:
        """The API divided by the libraries alone."""
        return self.ours_ms / self.base_ms


def import_cost() -> ImportCost:
    """The lower quartile of several runs (the minimum is one lucky run), with compiled bytecode."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONPATH": str(ROOT)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        spent: dict[str, list[float]] = {BARE: [], BASE: [], OURS: []}
        for _ in range(REPEATS + 1):
            for code, runs in spent.items():
                runs.append(_cpu(code, environment))
    bare, base, ours = (quantiles(runs[1:], n=4)[0] for runs in spent.values())
    return ImportCost(base_ms=base - bare, ours_ms=ours - bare)


def modules_loaded() -> frozenset[str]:
    """Every module that is loaded once the API is imported."""
    code = "import app, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True, env={**os.environ}
    )
    return frozenset(done.stdout.split())


def route_modules() -> frozenset[str]:
    """Every module with the routes or models of one kind of resource."""
    files = (ROOT / "chalicelib/api/contract").glob("[a-z]*.py")
    routes = {f"chalicelib.api.routes.{name}" for name in import_module("app").ROUTE_MODULES}
    return frozenset(routes | {f"chalicelib.api.contract.{file.stem}" for file in files})


def _cpu(code: str, environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000
