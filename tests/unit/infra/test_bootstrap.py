import shutil
import subprocess

import pytest

from infra.local.stack.layout import ROOT

TOOLS = ("bash", "find", "sort", "sed")
WORKS = "#!/usr/bin/env bash\nexit 0\n"
RUNS_NOTHING = "#!/usr/bin/env bash\nexit 127\n"
WITHOUT_VENV = '#!/usr/bin/env bash\ncase "$2" in *ensurepip*) exit 1 ;; esac\n'


@pytest.fixture
def machine(tmp_path):
    """A machine with the few tools that the script needs, and no Python at all."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "env").symlink_to(shutil.which("env"))
    for tool in TOOLS:
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    return tmp_path


def put(machine, place, script):
    file = machine / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(script)
    file.chmod(0o755)
    return str(file)


def find_python(machine):
    script = 'set -euo pipefail; source infra/bootstrap.sh; headgate_find_python; echo "$HEADGATE_PYTHON"'
    return subprocess.run(
        [shutil.which("bash"), "-c", script],
        cwd=ROOT,
        env={"PATH": str(machine / "bin"), "HOME": str(machine / "home"), "PYENV_ROOT": str(machine / "pyenv")},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_the_newest_python_wins_wherever_it_lies(machine):
    put(machine, "bin/python3.11", WORKS)
    put(machine, "pyenv/versions/3.12.4/bin/python3.12", WORKS)
    newest = put(machine, "pyenv/versions/3.12.11/bin/python3.12", WORKS)
    assert find_python(machine).stdout.strip() == newest


def test_a_shim_that_runs_nothing_is_passed_over(machine):
    put(machine, "bin/python3.13", RUNS_NOTHING)
    works = put(machine, "bin/python3.11", WORKS)
    assert find_python(machine).stdout.strip() == works


def test_without_any_python_the_run_says_which_is_needed_and_how_to_get_it(machine):
    done = find_python(machine)
    assert done.returncode == 2
    assert "Python 3.11, 3.12 or 3.13 is needed" in done.stderr
    assert "apt-get install" in done.stderr


def test_a_python_that_cannot_make_environments_is_named(machine):
    lacking = put(machine, "bin/python3.12", WITHOUT_VENV)
    done = find_python(machine)
    assert done.returncode == 2
    assert lacking in done.stderr
    assert "python3-venv" in done.stderr


def bootstrap(tmp_path, scope, stamped):
    """The lock file that would be installed, or nothing; `stamped` is the one that was installed before."""
    script = f"""
        set -euo pipefail; source infra/bootstrap.sh; headgate_find_python
        HEADGATE_VENV={tmp_path}/venv
        mkdir -p "$HEADGATE_VENV/bin"
        ln -sf "$HEADGATE_PYTHON" "$HEADGATE_VENV/bin/python"
        [ -z "{stamped}" ] || headgate_key "{stamped}" >"$HEADGATE_VENV/stamp"
        headgate_make_venv() {{ echo "$HEADGATE_LOCK_FILE"; }}
        headgate_bootstrap {scope}
    """
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


RUN, TEST = "infra/requirements-run.txt", "tests/requirements.txt"


@pytest.mark.parametrize(
    ("scope", "stamped", "installs"),
    [
        ("run", "", RUN),
        ("run", RUN, ""),
        ("run", TEST, ""),
        ("test", "", TEST),
        ("test", RUN, TEST),
        ("test", TEST, ""),
    ],
)
def test_running_installs_less_than_testing_and_takes_what_testing_installed(tmp_path, scope, stamped, installs):
    assert bootstrap(tmp_path, scope, stamped) == installs
