from dataclasses import replace

from infra.local.app.addresses import StackAddresses
from infra.local.app.startup_lines import for_people, lines

ADDRESSES = StackAddresses(
    kafka="127.0.0.1:9092", connect="http://127.0.0.1:8083", postgres="postgresql://postgres:pw@127.0.0.1:5432/postgres"
)


def test_the_lines_stand_in_the_order_that_programs_rely_on():
    assert lines("http://127.0.0.1:8000", "a@b.example", "secret", ADDRESSES) == [
        "HEADGATE_URL=http://127.0.0.1:8000",
        "HEADGATE_ADMIN_EMAIL=a@b.example",
        "HEADGATE_ADMIN_PASSWORD=secret",
        "HEADGATE_KAFKA=127.0.0.1:9092",
        "HEADGATE_CONNECT=http://127.0.0.1:8083",
        "HEADGATE_POSTGRES=postgresql://postgres:pw@127.0.0.1:5432/postgres",
        "HEADGATE_READY",
    ]


def test_mysql_stands_after_postgresql_where_it_was_started():
    addresses = replace(ADDRESSES, mysql="mysql://root:pw@127.0.0.1:3306/")
    assert lines("u", "e", None, addresses)[-3:] == [
        "HEADGATE_POSTGRES=postgresql://postgres:pw@127.0.0.1:5432/postgres",
        "HEADGATE_MYSQL=mysql://root:pw@127.0.0.1:3306/",
        "HEADGATE_READY",
    ]


def test_a_password_that_this_run_did_not_make_is_not_printed():
    assert not [line for line in lines("u", "e", None, ADDRESSES) if "PASSWORD" in line]


def test_the_object_store_stands_last_of_the_servers_where_it_was_started():
    addresses = replace(ADDRESSES, mysql="mysql://root:pw@127.0.0.1:3306/", s3="http://key:pw@127.0.0.1:9000/headgate")
    assert lines("u", "e", None, addresses)[-3:] == [
        "HEADGATE_MYSQL=mysql://root:pw@127.0.0.1:3306/",
        "HEADGATE_S3=http://key:pw@127.0.0.1:9000/headgate",
        "HEADGATE_READY",
    ]


def test_people_get_a_line_of_their_own_that_programs_do_not_take_for_a_variable():
    line = for_people("http://127.0.0.1:8000")
    assert "http://127.0.0.1:8000/console" in line
    assert "console" in line.partition("http")[0]
    assert "=" not in line
