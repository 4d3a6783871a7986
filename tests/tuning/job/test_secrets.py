"""Nothing secret is shown or written down, by name or by shape, wherever it is cut; no other operators is taken for one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from commandline import ROOT
from hypothesis import given
from hypothesis import strategies as st
from tuning.jobs import Bench

from aoe_reports.tuning.job.secrets import Redacting, Redactor
from aoe_reports.tuning.plan.plan import Job

AK, SK = "QTWAOYTTINDUT2QVKYUC", "MFyfvK41ba2giqM7Uio6PznpdUKGpownRZlmVmHc"
"""In the form of the example in Huawei Cloud's guide to signing."""

NAMES = {
    "OBS_AK": "HPUAF2QVKYUC1TTINDUT",
    "OBS_SK": "x9fvK41ba2giqM7Uio6PznpdUKGpownRZlmVmHc1",
    "GITEE_PAT": "f2a7c1e9b04d",
    "MYSQL_PWD": "pw-of-mysql",
    "SHORT_PWD": "a1!",
    "REDIS_URL": "redis://:of-redis-7@cache:6379/0",
    "DATABASE_URL": "postgres://tuner:p%40ss-word@db/x",
    "SLACK_WEBHOOK_URL": "https://hooks.slack.com/services/T000/B000/XXXXXXXX",
    "HF_TOKEN": "hf-of-the-hub",
    "SMTP_PASS": "of-the-mail",
}
SHAPES = {
    "key pair": (f"signing with {AK} and {SK} now", (AK, SK)),
    "pair in JSON": (f'{{"access": "{AK}", "secret": "{SK}"}}', (AK, SK)),
    "aws": (
        "AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        ("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI"),
    ),
    "bearer": ("curl -H 'Authorization: Bearer abcdef0123456789abcdef'", ("abcdef0123456789",)),
    "basic": ("> authorization: Basic dHVuZXI6c2VjcmV0LXdvcmQ=", ("dHVuZXI6",)),
    "sdk": (f"Authorization: SDK-HMAC-SHA256 Access={AK}, Signature=7be6668032f70418", (AK, "7be6668032f70418")),
    "iam": ("X-Auth-Token: MIIFvgYJKoZIhvcNAQcCoIIFrzCC", ("MIIFvgYJ",)),
    "url": ("cloning https://tuner:hunter2@example.com/model.git", ("hunter2",)),
    "url token": ("https://ghs16C7e42F292c6912E7710c838347Ae178B4a@github.com/x/y", ("ghs16C7e42",)),
    "presigned": (
        f"GET https://b.obs.cn-north-4.myhuaweicloud.com/m?AccessKeyId={AK}&Expires=1&Signature=aB3%3D",
        (AK, "aB3%3D"),
    ),
    "huggingface": ("login hf_" + "aB3dEfGhIjKlMnOpQrStUvWxYz01234567", ("hf_aB3d",)),
    "github": ("token ghp_" + "0123456789abcdefABCDEF0123456789abcd", ("ghp_0123",)),
    "modelscope": ("ms-01234567-89ab-cdef-0123-456789abcdef", ("ms-01234567",)),
    "jwt": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", ("eyJzdWIi",)),
    "password": ('{"db_password": "of the db", "user": "x"}', ("of the db",)),
    "option": ("python train.py --secret-key=abc/DEF+12 --epochs=3", ("abc/DEF+12",)),
    "one-line key": (
        r'"private": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----\n"',
        ("MIIEvQ",),
    ),
}
PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n"
    + "MIIEpAIBAAKCAQEA7bq\n" * 20
    + "ab==\n-----END RSA PRIVATE KEY-----\nAoe\n"
)
HARMLESS = """\
commit 3f786850e387550fdab836ed7e6dc881de23001b of Ascend910B4-1, sha256:01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b
soc_version=Ascend910B4 op_type=MatMulV2 repo_key: 15294858920613849201 modelhash: 15294858920613849201
max_tokens: 4096, eos_token: </s>, pad_token=<pad>, tokens: 128, token: 5, tokenizer=LlamaTokenizerFast, num_key_value_heads=8
[Aoe]stand_in process finished. Performance improved by 20.00%
EG0013: Device operation failed. KeyError: 'layer6/conv', primary key: id, author: somebody
http://example.com:8080/a@b?page=2&size=3 git@github.com:a/b.git ssh://git@host/x.git s3://bucket/key/part
20260101020304005 TRANSFORMERATTENTION1 net/layer1/Conv2DBackpropInput/ReluGradX/Mul
password: None, secret=false, OLDPWD=/root PWD=/root/work basic block of 12 tasks
transformer/hf_config/attention_mask_key shape: 1,32,128 dtype=DT_FLOAT16 format=FRACTAL_NZ
"""


def redacted(text: str, **environment: str) -> str:
    return Redactor(environment).text(text)


@pytest.mark.parametrize("kind", SHAPES)
def test_a_secret_is_known_by_its_shape(kind: str) -> None:
    text, secrets = SHAPES[kind]
    shown = redacted(text)
    assert not [secret for secret in secrets if secret in shown], shown
    assert "***" in shown
    assert redacted(shown) == shown, "what is redacted stays what it is"


def test_a_private_key_over_many_lines_goes_and_what_follows_stays() -> None:
    shown = redacted(PEM)
    assert "MIIE" not in shown
    assert "ab==" not in shown
    assert shown.startswith("-----BEGIN RSA PRIVATE KEY-----\n")
    assert shown.endswith("-----END RSA PRIVATE KEY-----\nAoe\n")
    assert redacted(
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq\nAoe process finished\nabcdefghijklmnopqrst\n"
    ).endswith("***\nAoe process finished\nabcdefghijklmnopqrst\n")


def test_nothing_else_is_taken_for_a_secret() -> None:
    for line in HARMLESS.splitlines():
        assert (
            redacted(line, AUTHOR_NAME="somebody", TOKENIZERS_PARALLELISM="tokenizer", OS_AUTH_URL="http://example.com")
            == line
        )


@pytest.mark.slow
def test_nothing_in_real_and_documented_files_is_taken_for_a_secret() -> None:
    texts = [*(ROOT / "fixtures").rglob("*.json"), *(ROOT / "fixtures").rglob("*.csv"), *(ROOT / "src").rglob("*.py")]
    texts += [
        path for path in (ROOT.parent / "shared" / "data").rglob("*") if path.suffix in {".log", ".txt", ".md", ".json"}
    ][:100]
    for path in sorted(texts):
        if path.name == "secrets.py" or not path.is_file() or path.stat().st_size > 1 << 20:
            continue
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        differing = [(a, b) for a, b in zip(text.splitlines(), redacted(text).splitlines(), strict=True) if a != b]
        assert differing == [], path


def test_a_shorter_secret_that_stands_in_a_longer_one_leaves_no_rest_of_it() -> None:
    environment = {"A_TOKEN": "abcdef", "B_TOKEN": "abcdef-ghijkl", "C_TOKEN": "ijkl-mnopqr"}
    assert redacted("x abcdef-ghijkl y abcdef z", **environment) == "x *** y *** z"
    assert redacted("x abcdef-ghijkl-mnopqr y", **environment) == "x *** y", "nor two that overlap"


@pytest.mark.parametrize("name", NAMES)
def test_a_variable_is_secret_by_its_name(bench: Bench, name: str) -> None:
    value = NAMES[name]
    bench.plan()
    ended = bench.run("tune", "run", bench.folder, STAND_IN="tells-environment", **{name: value})
    assert ended.code == 0, ended.err
    secret = (
        value.split("//")[-1].partition("@")[0].partition(":")[2]
        if name.endswith(("REDIS_URL", "DATABASE_URL"))
        else value
    )
    for text in (ended.out, ended.err, bench.everything_written()):
        assert secret not in text
    assert f"  {name}=" in ended.err


def test_what_a_console_prints_is_shown_and_kept_without_secrets(bench: Bench) -> None:
    bench.plan(scenario="tf-training", job=Job())
    said = "\n".join(text for text, _ in SHAPES.values()) + "\n" + PEM
    (bench.root / "said").write_text(said)
    ended = bench.tune("--", "/bin/cat", bench.root / "said", "--password", "hunter2-hunter2")
    secrets = {secret for _, told in SHAPES.values() for secret in told} | {"MIIEpAIB", "hunter2-hunter2"}
    for text in (ended.out, ended.err, bench.everything_written()):
        assert [secret for secret in sorted(secrets) if secret in text] == []
    assert json.loads((bench.folder / "state.json").read_text())["job"]["command"][-2:] == ["--password", "***"]


@pytest.mark.parametrize("before", [65_530, 65_536 - 20, 65_536, 81_910, 131_060, 200_000])
def test_a_secret_across_the_cut_of_a_long_line_is_redacted(bench: Bench, before: int) -> None:
    bench.plan(scenario="tf-training", job=Job())
    secret = "s3cr3t-of-the-environment"
    text = "x" * before + " " + secret + " " + f"{AK} {SK}" + " y" * 40_000 + " end\n"
    (bench.root / "said").write_text(text)
    ended = bench.tune("--", "/bin/cat", bench.root / "said", MY_SECRET=secret)
    log = (bench.folder / "runs" / "001-opat" / "aoe.log").read_text()
    assert log.replace("\n", "") == text.replace(secret, "***").replace(AK, "***").replace(SK, "***").replace("\n", "")
    for part in (secret[:12], secret[12:], AK[:10], SK[20:]):
        assert part not in ended.err + log


@pytest.mark.parametrize("size", [1, 3, 7, 64])
def test_however_it_comes_in_pieces_the_same_is_shown(size: int) -> None:
    data = (
        "\r\n".join(text for text, _ in SHAPES.values()) + "\n" + PEM + HARMLESS + f"{'a' * 300} {AK} {SK}"
    ).encode()
    redactor = Redactor({"A_TOKEN": "layer1/Conv2D"})
    stream = Redacting(redactor)
    lines = [line for at in range(0, len(data), size) for line in stream.take(data[at : at + size])] + list(
        stream.rest()
    )
    assert b"".join(line.raw for line in lines) == data
    assert b"".join(line.shown for line in lines).decode() == redactor.text(data.decode())


def test_a_secret_without_end_is_redacted_to_its_end() -> None:
    redactor = Redactor({})
    stream = Redacting(redactor, 100)
    data = b"password=" + b"Ab1" * 15_000 + b" and then\n"
    lines = [line for at in range(0, len(data), 5_000) for line in stream.take(data[at : at + 5_000])] + list(
        stream.rest()
    )
    assert b"Ab1" not in b"".join(line.shown for line in lines)
    assert lines[-1].shown == b" and then\n"


@pytest.mark.parametrize("text", ["git", "key_", "api access_", "://a:", "eyJaaaaaaaaaaaa.", "AKIAABCDEFGHIJKLMNOP "])
def test_a_line_that_nearly_is_a_secret_again_and_again_comes_to_its_end(text: str) -> None:
    assert redacted(text * (200_000 // len(text)))


def test_a_claim_of_the_console_keeps_no_secret(bench: Bench) -> None:
    bench.plan()
    said = f"{AK}:{SK} process finished. Performance improved by 20.00%"
    (bench.root / "bin" / "aoe").write_text(f"#!/bin/sh\necho '{said}'\n")
    ended = bench.tune()
    assert "20.00" in ended.out
    assert [secret for secret in (AK, SK) if secret in ended.out + ended.err + bench.everything_written()] == []


def test_a_plan_keeps_no_secret_of_its_options(bench: Bench, tmp_path: Path) -> None:
    command = [
        "--scenario",
        "tf-training",
        "--",
        "python3",
        "train.py",
        "--db-password",
        "hunter2-hunter2",
        "--lr=3",
        f"{AK}:{SK}",
    ]
    profile = ROOT / "fixtures" / "msprof" / "valid" / "torch_npu_two_ranks"
    ended = bench.run("plan", profile, "-o", tmp_path / "made", *command)
    written = "".join(path.read_text() for path in (tmp_path / "made").rglob("*") if path.is_file())
    assert '"--lr=3"' in written, ended.err
    assert [secret for secret in ("hunter2-hunter2", AK, SK) if secret in written + ended.out + ended.err] == []


def test_a_secret_that_ends_with_a_line_end_is_redacted_and_the_lines_stay_apart() -> None:
    assert redacted("say X_TOKEN=abc\nnext\n", X_TOKEN="abc\n") == "say X_TOKEN=***\nnext\n"
    shown = redacted("say first-line\nof-the-second\nnext\n", X_URL="redis://:first-line%0Aof-the-second@host/0")
    assert shown == "say ***\n***\nnext\n"


def test_a_job_runs_with_a_secret_that_ends_with_a_line_end(bench: Bench) -> None:
    bench.plan()
    ended = bench.run("tune", "run", bench.folder, STAND_IN="tells-environment", X_TOKEN="abc\n")
    assert ended.code == 0, ended.err
    assert "X_TOKEN=abc" not in ended.out + ended.err + bench.everything_written()


VALUES = st.lists(st.sampled_from([*"ab@:/=0 é\t", "%0A", "%0D", "\r", "\n", "\r\n", "abcdef"]), max_size=6).map(
    "".join
)


@given(st.lists(VALUES, min_size=1, max_size=3), VALUES)
def test_whatever_line_ends_a_secret_has_no_line_of_it_is_shown(values: list[str], between: str) -> None:
    environment = {f"X{number}_TOKEN": value for number, value in enumerate(values)}
    told = [f"{name}={value}" for name, value in environment.items()]
    environment |= {f"X{number}_URL": f"redis://:{value}@host" for number, value in enumerate(values)}
    shown = Redactor(environment).text(between.join([*told, *map(unquote, values), *environment.values(), ""]))
    lines = {line for value in values for line in re.split(r"\r\n|\n|\r", value) if len(line) >= 6}
    assert [line for line in lines if line in shown] == []


@pytest.mark.parametrize("value", ["12345", "123456", "hunter2", "none", "True", "\u0661\u0662"])
def test_an_option_and_its_value_are_held_to_the_rule_that_a_text_is(value: str) -> None:
    (_, shown), text = Redactor({}).arguments(["--password", value]), redacted(f"password={value}")
    assert f"password={shown}" == text
    assert (shown == value) == (value in {"12345", "none", "True"})
