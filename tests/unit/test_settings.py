"""Settings that cannot work are refused with a text that says what is expected."""

import hashlib
from datetime import timedelta

import pytest

from chalicelib.domain.access import Role
from chalicelib.settings import Settings

CREDENTIAL = "a credential that nobody guesses"
HASHES = [hashlib.sha256(text.encode()).hexdigest() for text in (CREDENTIAL, "two")]


def hashes(**variables: str) -> tuple[str, ...]:
    return tuple(
        Settings.read({f"HEADGATE_{name}": value for name, value in variables.items()}).service_credential_hash
    )


def test_the_service_credential_is_set_by_its_hash_or_itself_and_may_have_a_successor() -> None:
    assert hashes() == ()
    assert hashes(SERVICE_CREDENTIAL_HASH=HASHES[0]) == hashes(SERVICE_CREDENTIAL=CREDENTIAL) == (HASHES[0],)
    assert hashes(SERVICE_CREDENTIAL_HASH=f" {HASHES[0].upper()}, {HASHES[1]}") == tuple(HASHES)
    assert hashes(SERVICE_CREDENTIAL_HASH=HASHES[1], SERVICE_CREDENTIAL=CREDENTIAL) == (HASHES[1], HASHES[0])


def test_a_service_credential_may_belong_to_one_connect_cluster() -> None:
    cluster = "7d0f3c7e-35a1-4d57-8a53-5a8f2a4f6d10"
    value = f"{HASHES[0]}@{cluster.upper()}, {HASHES[1]}"
    known = Settings.read({"HEADGATE_SERVICE_CREDENTIAL_HASH": value}).service_credential_hash
    assert known == {HASHES[0]: cluster, HASHES[1]: None}


@pytest.mark.parametrize(
    "value",
    [
        *("one", HASHES[0][1:], f"{HASHES[0]};{HASHES[1]}", f"{HASHES[0]}@", f"{HASHES[0]}@orders"),
        f"{HASHES[0]}@7d0f3c7e-35a1-4d57-8a53-5a8f2a4f6d10,{HASHES[0]}@8d0f3c7e-35a1-4d57-8a53-5a8f2a4f6d10",
    ],
)
def test_a_hash_of_another_form_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="64 hex digits"):
        hashes(SERVICE_CREDENTIAL_HASH=value)


@pytest.mark.parametrize("name", ["SERVICE_CREDENTIAL", "METRICS_TOKEN", "OIDC_CLIENT_SECRET", "ADMIN_PASSWORD"])
@pytest.mark.parametrize("value", [" ", "\n", "\t \r\n"])
def test_a_secret_of_blanks_is_refused_at_the_start(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"HEADGATE_{name} is set, and blank"):
        Settings.read({**SIGN_ON, f"HEADGATE_{name}": value})


@pytest.mark.parametrize("name", ["SERVICE_CREDENTIAL", "METRICS_TOKEN"])
def test_a_token_that_could_be_guessed_is_refused_at_the_start_without_being_shown(name: str) -> None:
    for value in ("guessed", f"{'0' * 15} \n"):
        with pytest.raises(ValueError, match=f"HEADGATE_{name} must have 16 characters") as refused:
            Settings.read({f"HEADGATE_{name}": value})
        assert value not in str(refused.value)
    assert Settings.read({f"HEADGATE_{name}": "0" * 16})


def test_the_hash_of_an_empty_credential_is_refused_at_the_start() -> None:
    nothing = hashlib.sha256(b"").hexdigest()
    for value in (nothing, f"{HASHES[0]},{nothing}", nothing.upper()):
        with pytest.raises(ValueError, match="hash of an empty text"):
            hashes(SERVICE_CREDENTIAL_HASH=value)


def test_an_empty_variable_counts_as_not_set() -> None:
    names = ("SERVICE_CREDENTIAL", "SERVICE_CREDENTIAL_HASH", "METRICS_TOKEN", "OIDC_CLIENT_SECRET")
    assert Settings.read({f"HEADGATE_{name}": "" for name in names}) == Settings.read({})


def test_the_public_address_ends_without_a_slash_and_may_be_left_out() -> None:
    assert Settings.read({}).public_url is None
    assert (
        Settings.read({"HEADGATE_PUBLIC_URL": "https://cdc.example.com/ops/"}).public_url
        == "https://cdc.example.com/ops"
    )


@pytest.mark.parametrize(
    "value", ["cdc.example.com", "https://", "https://me@cdc.example.com", "https://cdc.example.com/?a=1"]
)
def test_a_public_address_that_nobody_could_open_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="HEADGATE_PUBLIC_URL must be like"):
        Settings.read({"HEADGATE_PUBLIC_URL": value})


def test_the_hosts_of_chats_have_defaults_and_may_carry_a_port() -> None:
    usual, other = Settings.read({}), {"HEADGATE_CHAT_WEBHOOK_HOST": " chat.example.com:8443 "}
    assert (usual.chat_webhook_host, usual.bot_api_host) == ("hooks.slack.com", "api.telegram.org")
    assert Settings.read(other).chat_webhook_host == "chat.example.com:8443"


def test_keys_are_listed_with_commas_each_once_and_in_their_order() -> None:
    assert (Settings.read({}).master_key, Settings.read({}).kms_key_id) == ((), ())
    listed = Settings.read({"HEADGATE_MASTER_KEY": " new, old,,new ", "HEADGATE_KMS_KEY_ID": "arn:one"})
    assert [one.reveal() for one in listed.master_key] == ["new", "old"]
    assert listed.kms_key_id == ("arn:one",)
    assert "old" not in repr(listed)


SIGN_ON = {
    "HEADGATE_PUBLIC_URL": "https://headgate.example.com/",
    "HEADGATE_OIDC_ISSUER": "https://login.example.com/",
    "HEADGATE_OIDC_CLIENT_ID": "headgate",
    "HEADGATE_OIDC_ROLES": "cdc-admins=Admin, cn=ops=Ops ,everyone=Viewer",
}


def test_single_sign_on_is_off_unless_it_is_configured() -> None:
    assert Settings.read({}).oidc is None
    deployed = {"HEADGATE_OIDC_SCOPES": "openid", "HEADGATE_OIDC_GROUPS_CLAIM": "groups"}
    assert Settings.read({**deployed, "HEADGATE_OIDC_ISSUER": "", "HEADGATE_OIDC_LINK_ACCOUNTS": "false"}).oidc is None


def test_single_sign_on_has_defaults_and_keeps_the_issuers_own_spelling() -> None:
    config = Settings.read(SIGN_ON).oidc
    assert config is not None
    assert (config.issuer, config.client_id, config.client_secret) == ("https://login.example.com/", "headgate", None)
    assert (config.scopes, config.groups_claim, config.link_accounts) == ("openid email", "groups", False)
    assert config.roles == (("cdc-admins", "Admin"), ("cn=ops", "Ops"), ("everyone", "Viewer"))


def test_the_roles_of_groups_are_the_roles_that_there_are() -> None:
    assert {role for _, role in Settings.read(SIGN_ON).oidc.roles} == {role.value for role in Role}  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_ROLES", "PUBLIC_URL"])
def test_a_part_of_single_sign_on_that_is_missing_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=f"HEADGATE_{name}"):
        Settings.read({**SIGN_ON, f"HEADGATE_{name}": " "})


def test_a_secret_alone_does_not_make_single_sign_on() -> None:
    with pytest.raises(ValueError, match="HEADGATE_OIDC_ISSUER") as raised:
        Settings.read({"HEADGATE_OIDC_CLIENT_SECRET": "hunter2"})
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OIDC_ISSUER", "http://login.example.com"),
        ("OIDC_ISSUER", "https://login.example.com/?tenant=1"),
        ("OIDC_ISSUER", "https://login.example.com/#a"),
        ("OIDC_ISSUER", "https://me@login.example.com"),
        ("OIDC_ISSUER", "login.example.com"),
        ("OIDC_ISSUER", "https://login.exämple.com"),
        ("PUBLIC_URL", "http://headgate.example.com"),
        ("OIDC_SCOPES", "email groups"),
        ("OIDC_ROLES", "cdc-admins"),
        ("OIDC_ROLES", "cdc-admins=admin"),
        ("OIDC_ROLES", "=Admin"),
        ("OIDC_ROLES", "cdc-admins=Admin,"),
        ("OIDC_ROLES", "cdc-admins=Admin,cdc-admins=Viewer"),
    ],
)
def test_a_part_of_single_sign_on_that_cannot_work_is_refused(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"HEADGATE_{name}"):
        Settings.read({**SIGN_ON, f"HEADGATE_{name}": value})


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "[::1]:8080"])
def test_plain_http_is_enough_on_this_machine(host: str) -> None:
    urls = {"HEADGATE_PUBLIC_URL": f"http://{host}", "HEADGATE_OIDC_ISSUER": f"http://{host}"}
    assert Settings.read({**SIGN_ON, **urls}).oidc is not None


def test_audit_records_are_kept_for_seven_years_unless_the_installation_says_otherwise() -> None:
    days = [Settings.read({"HEADGATE_AUDIT_RETENTION_DAYS": value}).audit_retention for value in ("", "365", "0")]
    assert days == [timedelta(days=2_557), timedelta(days=365), None]


@pytest.mark.parametrize("value", ["29", "-1", "36501", "a year", "365.5"])
def test_a_time_for_which_no_trail_can_be_kept_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="0 \\(for ever\\), or from 30 to 36500"):
        Settings.read({"HEADGATE_AUDIT_RETENTION_DAYS": value})


@pytest.mark.parametrize("value", ["ssm:/headgate/audit-anchor", "s3://audit-bucket/headgate/last"])
def test_the_last_anchor_may_be_copied_to_a_parameter_or_an_object(value: str) -> None:
    assert Settings.read({"HEADGATE_AUDIT_ANCHOR_COPY": value}).audit_anchor_copy == value
    assert Settings.read({}).audit_anchor_copy is None


@pytest.mark.parametrize("value", ["/headgate/audit-anchor", "s3://bucket", "s3:bucket/key", "ssm:", "ssm:a b"])
def test_another_place_for_the_anchor_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="HEADGATE_AUDIT_ANCHOR_COPY must be like"):
        Settings.read({"HEADGATE_AUDIT_ANCHOR_COPY": value})


def test_passwords_are_on_and_second_factors_are_not_required() -> None:
    settings = Settings.read({})
    assert (settings.password_login, settings.require_second_factor) == (True, False)
    assert Settings.read({"HEADGATE_REQUIRE_SECOND_FACTOR": "True"}).require_second_factor


def test_passwords_are_off_only_where_there_is_single_sign_on() -> None:
    assert not Settings.read({**SIGN_ON, "HEADGATE_PASSWORD_LOGIN": "false"}).password_login
    with pytest.raises(ValueError, match="HEADGATE_PASSWORD_LOGIN=false needs single sign-on"):
        Settings.read({"HEADGATE_PASSWORD_LOGIN": "false"})


@pytest.mark.parametrize("name", ["PASSWORD_LOGIN", "REQUIRE_SECOND_FACTOR"])
@pytest.mark.parametrize("value", ["no", "0", "flase", "off"])
def test_a_protection_is_not_switched_off_by_a_misspelled_word(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"HEADGATE_{name} must be true or false"):
        Settings.read({**SIGN_ON, f"HEADGATE_{name}": value})
