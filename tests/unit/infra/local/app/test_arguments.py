import pytest

from infra.local.app.arguments import Options, parse


def test_without_arguments_the_demonstration_runs_on_the_best_stack_and_the_service_stays_up():
    assert parse([]) == Options(once=False, demo=True, port=8000, stack="auto")


def test_every_option_of_the_contract_is_understood():
    assert parse(["--once", "--port", "9001", "--stack", "real"]) == Options(
        once=True, demo=True, port=9001, stack="real"
    )
    assert parse(["--no-demo", "--stack=sandbox"]) == Options(once=False, demo=False, port=8000, stack="sandbox")


@pytest.mark.parametrize("words", [["--with", "mysql"], ["--with=mysql"], ["--with", "mysql, mysql"]])
def test_mysql_is_started_only_when_it_is_asked_for(words):
    assert parse(words).mysql
    assert not parse(["--stack", "real"]).mysql
    assert not parse(words).minio


@pytest.mark.parametrize("names", ["minio", "mysql,minio", "minio, mysql"])
def test_minio_is_started_only_when_it_is_asked_for_and_goes_with_mysql(names):
    options = parse(["--with", names])
    assert (options.minio, options.mysql) == (True, "mysql" in names)
    assert not parse(["--stack", "real"]).minio


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--port", "0"], "not a port"),
        (["--port", "65536"], "not a port"),
        (["--port", "eight"], "not a port"),
        (["--port", "٨٠"], "not a port"),
        (["--stack", "cloud"], "invalid choice"),
        (["--with", "mysql,oracle"], "'oracle' is no server to add; choose from: mysql, minio"),
        (["--with", ""], "choose from: mysql, minio"),
        (["--with"], "expected one argument"),
        (["--once", "--no-demo"], "does not go with"),
        (["--on"], "unrecognized arguments"),
        (["surplus"], "unrecognized arguments"),
    ],
)
def test_what_makes_no_sense_ends_with_status_2_and_a_sentence(words, complaint, capsys):
    with pytest.raises(SystemExit) as ended:
        parse(words)
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err
