# shellcheck shell=bash
# Makes .headgate/venv, the Python environment of infra/run and infra/test. To be sourced from the project's root.
#
#   headgate_bootstrap run     returns when .headgate/venv has the packages of infra/requirements-run.txt
#   headgate_bootstrap test    the same with tests/requirements.txt, which contains all of the former
#
# Both print the reason and exit with 2 when the environment cannot be made.
#
# The environment is keyed by the interpreter's version and the lock file: a stamp in it holds that key, and packages are
# installed only when the key differs. Of two runs at once the second waits for the first. An interrupted run leaves
# a marker, and the next run starts with an empty environment.

HEADGATE_VENV=.headgate/venv
HEADGATE_RUN_LOCK=infra/requirements-run.txt
HEADGATE_TEST_LOCK=tests/requirements.txt
HEADGATE_VERSIONS="3.13 3.12 3.11"

headgate_say() { printf 'headgate: %s\n' "$*" >&2; }

headgate_fail() {
    headgate_say "$*"
    exit 2
}

# Whether the interpreter $1 runs, is of version $2, and can make environments. A pyenv shim may exist and run nothing.
headgate_python_works() {
    "$1" -c "import sys; sys.exit(sys.version_info[:2] != tuple(map(int, '$2'.split('.'))))" >/dev/null 2>&1 || return 1
    if ! "$1" -c 'import ensurepip, ssl, venv' >/dev/null 2>&1; then
        HEADGATE_INCOMPLETE="$HEADGATE_INCOMPLETE $1"
        return 1
    fi
}

# Prints the candidates for version $1, one a line: those on the PATH, then those of pyenv, newest first.
headgate_candidates() {
    command -v "python$1" || true
    local pyenv="${PYENV_ROOT:-$HOME/.pyenv}/versions"
    [ -d "$pyenv" ] && find "$pyenv" -maxdepth 1 -name "$1.*" | sort -rV | sed "s|\$|/bin/python$1|"
    command -v python3 || true
}

# Sets HEADGATE_PYTHON to the newest interpreter that works.
headgate_find_python() {
    local version candidate
    HEADGATE_INCOMPLETE=""
    for version in $HEADGATE_VERSIONS; do
        while IFS= read -r candidate; do
            if headgate_python_works "$candidate" "$version"; then
                HEADGATE_PYTHON=$candidate
                return
            fi
        done < <(headgate_candidates "$version")
    done
    if [ -n "$HEADGATE_INCOMPLETE" ]; then
        headgate_fail "these interpreters cannot make environments (no venv, ensurepip or ssl):$HEADGATE_INCOMPLETE." \
            "On Debian and Ubuntu, install the matching package, for example: apt-get install python3-venv"
    fi
    headgate_fail "Python 3.11, 3.12 or 3.13 is needed, and none was found on the PATH or under pyenv." \
        "Get one with: apt-get install python3 python3-venv (Debian 12, Ubuntu 24.04 or newer), or: pyenv install 3.13"
}

# The key of an environment with the packages of the lock file $1.
headgate_key() {
    "$HEADGATE_PYTHON" - "$1" <<'PYTHON'
import hashlib, pathlib, platform, sys
print(platform.python_version(), hashlib.sha256(pathlib.Path(sys.argv[1]).read_bytes()).hexdigest())
PYTHON
}

# Whether the environment works and its key is one of the arguments.
headgate_venv_is() {
    local key stamp
    stamp=$(cat "$HEADGATE_VENV/stamp" 2>/dev/null) || return 1
    for key in "$@"; do
        [ "$stamp" = "$key" ] && "$HEADGATE_VENV/bin/python" -c '' 2>/dev/null && return
    done
    return 1
}

# Prints the progress of pip every two seconds, from its log $1, as long as the process $2 runs: background jobs of a
# script do not receive Ctrl-C. Pip keeps what it has downloaded in $3 until it installs it.
headgate_tick() {
    local began=$SECONDS total
    total=$(grep -c -E '^[A-Za-z0-9].*==' "$HEADGATE_LOCK_FILE")
    while sleep 2 && kill -0 "$2" 2>/dev/null; do
        headgate_say "Python packages: $(grep -c '^Collecting ' "$1") of up to $total resolved," \
            "$(du -shc "$HEADGATE_VENV" "$3" 2>/dev/null | tail -n 1 | cut -f1) on disk ($((SECONDS - began)) s)"
    done
}

headgate_install() {
    local log=.headgate/pip.log temporary="$PWD/.headgate/pip" ticker status=0
    headgate_say "installing the Python packages of $HEADGATE_LOCK_FILE into $HEADGATE_VENV (once; usually a minute)"
    : >"$log"
    rm -rf "$temporary"
    mkdir "$temporary"
    headgate_tick "$log" "$BASHPID" "$temporary" &
    ticker=$!
    TMPDIR=$temporary "$HEADGATE_VENV/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off \
        --require-hashes -r "$HEADGATE_LOCK_FILE" >"$log" 2>&1 </dev/null || status=$?
    kill "$ticker" 2>/dev/null
    wait "$ticker" 2>/dev/null || true
    rm -rf "$temporary"
    if [ "$status" -ne 0 ]; then
        tail -n 15 "$log" | sed 's/^/  | /' >&2
        headgate_fail "pip could not install the packages; the whole output is in $log"
    fi
}

headgate_make_venv() {
    local began=$SECONDS key=$1
    if [ -e .headgate/venv.unfinished ] || ! "$HEADGATE_VENV/bin/python" -c "
import platform, sys
sys.exit(platform.python_version() != '${key%% *}')" 2>/dev/null; then
        rm -rf "$HEADGATE_VENV"
        headgate_say "making a Python environment with $HEADGATE_PYTHON (${key%% *})"
        : >.headgate/venv.unfinished
        "$HEADGATE_PYTHON" -m venv "$HEADGATE_VENV" >&2 || headgate_fail "$HEADGATE_PYTHON could not make $HEADGATE_VENV"
    fi
    : >.headgate/venv.unfinished
    headgate_install
    printf '%s\n' "$key" >"$HEADGATE_VENV/stamp"
    rm -f .headgate/venv.unfinished
    headgate_say "the Python environment is ready ($((SECONDS - began)) s, $(du -sh "$HEADGATE_VENV" | cut -f1))"
}

headgate_bootstrap() {
    local keys
    headgate_find_python
    case $1 in
    run) HEADGATE_LOCK_FILE=$HEADGATE_RUN_LOCK ;;
    test) HEADGATE_LOCK_FILE=$HEADGATE_TEST_LOCK ;;
    esac
    keys=("$(headgate_key "$HEADGATE_LOCK_FILE")" "$(headgate_key "$HEADGATE_TEST_LOCK")")
    headgate_venv_is "${keys[@]}" && return
    command -v flock >/dev/null || headgate_fail "flock is needed (package util-linux)"
    mkdir -p .headgate
    # In a subshell, so that the lock is released at the end, and no server inherits it.
    (
        flock -n 9 || { headgate_say "waiting for another run that is making $HEADGATE_VENV"; flock 9; }
        headgate_venv_is "${keys[@]}" || headgate_make_venv "${keys[0]}"
    ) 9>.headgate/venv.lock
}
