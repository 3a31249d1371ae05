import os
import pwd
import tempfile
from pathlib import Path

import pytest

from infra.local.stack.postgres_home import prepare
from infra.local.stack.server_account import ACCOUNT

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only a run as root has to give PostgreSQL another account")


@pytest.fixture
def places():
    with tempfile.TemporaryDirectory() as made:
        top = Path(made)
        top.chmod(0o711)
        for name in ("closed", "open"):
            (top / name / "state").mkdir(parents=True)
        (top / "closed").chmod(0o700)
        yield top


@root_only
def test_data_stay_with_the_state_where_everybody_may_walk_to_it(places):
    home = prepare(places / "open" / "state", places / "elsewhere")
    assert home.folder == places / "open" / "state"
    assert home.account == ACCOUNT
    assert home.folder.stat().st_uid == pwd.getpwnam(ACCOUNT).pw_uid
    assert not (places / "elsewhere").exists()


@root_only
def test_data_go_elsewhere_from_a_closed_folder_and_are_found_again(places):
    state = places / "closed" / "state"
    home = prepare(state, places / "elsewhere")
    assert home.folder.parent == places / "elsewhere"
    assert (state / "elsewhere").read_text().strip() == str(home.folder)
    (home.folder / "data").mkdir()
    assert prepare(state, places / "elsewhere") == home
    assert (home.folder / "data").exists()


@root_only
def test_data_of_a_state_that_was_deleted_are_not_taken_over(places):
    state = places / "closed" / "state"
    home = prepare(state, places / "elsewhere")
    (home.folder / "data").mkdir()
    (state / "elsewhere").unlink()
    assert prepare(state, places / "elsewhere").folder == home.folder
    assert not (home.folder / "data").exists()


@root_only
def test_a_link_into_an_open_folder_is_followed(places):
    link = places / "closed" / "link"
    link.symlink_to(places / "open" / "state")
    assert prepare(link, places / "elsewhere").folder == places / "open" / "state"


@pytest.mark.skipif(os.geteuid() == 0, reason="an ordinary account runs PostgreSQL itself")
def test_an_ordinary_account_runs_postgresql_itself(places):
    home = prepare(places / "open" / "state", places / "elsewhere")
    assert (home.folder, home.account) == ((places / "open" / "state").resolve(), None)
