"""Who signs in is decided by the user's own address and identity: a claim only says where to look."""

import logging
from typing import Any

import pytest
from pynamodb.models import Model

from chalicelib.domain.accounts.sign_on import Person
from chalicelib.errors import HeadgateError, Unauthenticated
from chalicelib.kit.log import get_logger
from chalicelib.secrets.passwords import hash_password
from chalicelib.stores.all_tables import ALL_TABLES
from chalicelib.stores.claims import ClaimRow
from infra.aws.functions import FUNCTIONS
from infra.aws.permissions import allows, policy_of
from tests.support.entities import make_user, store_new
from tests.support.openid.client import running_double
from tests.support.openid.sign_on import PASSWORD, SignOn, sign_on

__all__ = ["running_double", "sign_on"]
ALICE = "alice@example.com"


def plant(sign_on: SignOn, key: str, holder: str) -> None:
    """Writes the claim into every table that has claims, as somebody who may write all of them."""
    for table in _claim_tables():
        table(key, holder=holder, write_id="planted").save()


def _claim_tables() -> list[type[Model]]:
    return [ClaimRow, *(table for table in ALL_TABLES if "account-claims" in table.Meta.table_name)]


def identity_of(sign_on: SignOn) -> str:
    person: dict[str, Any] = sign_on.double.person
    described = Person(
        issuer=sign_on.double.url, subject=person["sub"], email=ALICE, email_verified=True, groups=frozenset()
    )
    return described.identity


def test_a_planted_identity_signs_nobody_in_as_somebody_else(sign_on: SignOn) -> None:
    victim = sign_on.password_account("root@example.com")
    plant(sign_on, f"identity/{identity_of(sign_on)}", victim.id)
    with pytest.raises(HeadgateError):
        sign_on.sign_in()
    assert sign_on.services.users.get(victim.id).identity is None
    assert [record.actor_id for record in sign_on.records("session.login") if record.actor_id == victim.id] == []


def test_a_planted_address_signs_nobody_in_with_another_password(
    sign_on: SignOn, caplog: pytest.LogCaptureFixture
) -> None:
    attacker = make_user(email="attacker@example.com", password_hash=hash_password(PASSWORD))
    store_new(sign_on.services.stores.accounts.users, attacker)
    plant(sign_on, "email/victim@example.com", attacker.id)
    with caplog.at_level(logging.ERROR, logger=get_logger().name), pytest.raises(Unauthenticated) as refused:
        sign_on.services.sessions.login(sign_on.context(), "victim@example.com", PASSWORD)
    assert refused.value.code == "INVALID_CREDENTIALS"
    assert "claim" in caplog.text


def test_a_planted_address_links_no_account_of_somebody_else(sign_on: SignOn) -> None:
    sign_on.with_settings(sign_on.double.settings(link_accounts=True))
    victim = sign_on.password_account("root@example.com")
    sign_on.password_account("second@example.com")
    plant(sign_on, f"email/{ALICE}", victim.id)
    with pytest.raises(HeadgateError):
        sign_on.sign_in()
    assert sign_on.services.users.get(victim.id).identity is None


@pytest.mark.parametrize("function", [row.name for row in FUNCTIONS if row.name != "api_handler"])
def test_no_worker_may_touch_what_decides_who_signs_in(function: str) -> None:
    named = {permission.resource.rpartition("/")[2] for permission in policy_of(function)}
    assert named & {"${Prefix}account-claims", "${Prefix}users", "${Prefix}sessions", "${Prefix}login-tries"} == set()


def test_the_api_keeps_claims_of_accounts_in_a_table_of_their_own(sign_on: SignOn) -> None:
    sign_on.password_account(ALICE)
    keys = {row["id"] for row in sign_on.app.tables.rows("account-claims")}
    assert f"email/{ALICE}" in keys
    assert sign_on.app.tables.rows("claims") == []
    assert allows(policy_of("api_handler"), "dynamodb:PutItem", "table/${Prefix}account-claims")
