import base64

import pytest

from infra.local.app.first_admin import DEFAULT_EMAIL, PasswordFile
from infra.local.stack.kept_secrets import kept_secret

KEY = base64.b64encode(bytes(32)).decode()
OTHER_KEY = base64.b64encode(bytes(31) + b"1").decode()


@pytest.fixture
def password_file(tmp_path):
    return PasswordFile(tmp_path, KEY)


def test_a_password_is_made_once_and_found_again_by_later_runs(password_file, tmp_path):
    first = password_file.first_admin({})
    again = PasswordFile(tmp_path, KEY).first_admin({})
    assert first == again
    assert first.email == DEFAULT_EMAIL
    assert first.made_here


def test_the_password_is_nowhere_in_clear(password_file, tmp_path):
    password = password_file.first_admin({}).password
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files
    for file in files:
        assert password.encode() not in file.read_bytes()
        assert file.stat().st_mode & 0o077 == 0


def test_a_password_from_the_environment_is_used_and_not_kept(password_file, tmp_path):
    admin = password_file.first_admin({"HEADGATE_ADMIN_EMAIL": "me@example.com", "HEADGATE_ADMIN_PASSWORD": "chosen"})
    assert (admin.email, admin.password, admin.made_here) == ("me@example.com", "chosen", False)
    assert list(tmp_path.iterdir()) == []


def test_the_password_is_printed_until_a_run_has_printed_it(password_file):
    password_file.first_admin({})
    assert not password_file.was_printed()
    password_file.mark_printed()
    assert password_file.was_printed()


def test_with_another_master_key_a_new_password_is_made_and_printed(password_file, tmp_path):
    first = password_file.first_admin({})
    password_file.mark_printed()
    other = PasswordFile(tmp_path, OTHER_KEY)
    assert other.load() is None
    assert other.first_admin({}).password != first.password
    assert not other.was_printed()


def test_the_password_is_kept_when_the_master_key_is_exchanged(password_file, tmp_path):
    first = password_file.first_admin({})
    assert PasswordFile(tmp_path, f"{OTHER_KEY},{KEY}").first_admin({}) == first
    assert PasswordFile(tmp_path, OTHER_KEY).first_admin({}) == first
    assert password_file.load() is None


def test_a_kept_secret_is_made_once_and_readable_by_its_owner_only(tmp_path):
    file = tmp_path / "deep" / "secret"
    value = kept_secret(file)
    assert kept_secret(file) == value
    assert file.stat().st_mode & 0o777 == 0o600
