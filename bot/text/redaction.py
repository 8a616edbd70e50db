"""Redaction of secrets in text before it reaches the model, a log, Slack or a trace.

Tokens are found by the prefixes that the services document (the same that detect-secrets and
gitleaks use), other secrets by the word before them. A false positive loses one word, which is
better than a leaked secret.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import quote

from bot.text.scanning import scanner

_ASSIGNED = r"(?:passwo?r?d|passwd|pwd|secret|(?:auth|access|api|bearer|refresh)[_-]?token|api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key)"
_SIGNED = r"(?:ticket|access_token|refresh_token|auth_token|client_secret|api_?key|password|sig|x-amz-signature|x-amz-security-token)"

_PIECE = 50_000  # characters searched at once, so that other threads can run between two pieces
_ROWS_AT_ONCE = 200
_PRIVATE_KEY = re.compile(  # the only secret with several lines
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[^-]|-(?!----END)){0,20000}(?:-----END [A-Z0-9 ]{0,40}-----)?"
)


class _Kind(NamedTuple):
    """A kind of secret.

    A match of `pattern` always holds one of the `hints`, in upper or lower case. Most texts hold
    none, and looking for hints is far faster than matching the pattern.
    """

    hints: str  # a pattern
    is_hinted: Callable[[str], bool]
    pattern: re.Pattern[str]


def _hints_in(hints: str) -> Callable[[str], bool]:
    return scanner(f"(?i){hints}")


def _kind(hints: str, pattern: str) -> _Kind:
    any_hint = "|".join(map(re.escape, hints.split()))
    return _Kind(any_hint, _hints_in(any_hint), re.compile(pattern))


KINDS: dict[str, _Kind] = {
    "signature": _kind("? &", rf"(?i:(?<=[?&])(?P<name>{_SIGNED})=)[^&\s\"'<>`)\]]{{8,}}"),
    "secret": _kind(
        "passw pwd secret token key",
        rf"(?i:(?P<word>{_ASSIGNED}[\"']?[ \t]{{0,3}}(?:=>|:=|=|:)[ \t]{{0,3}}[\"'`]?))"
        r"(?=[^\s\"'`<>,;&]{0,60}\d)(?=[^\s\"'`<>,;&]{0,60}[A-Za-z])(?![$<{\[*])"
        r"[^\s\"'`<>,;&]{8,}",
    ),
    "credentials": _kind(
        "bearer basic",
        r"(?i:(?<=bearer )|(?<=basic ))(?=[A-Za-z+/._~-]{0,80}\d)[A-Za-z0-9+/._~-]{20,}=*",
    ),
    "password": _kind("://", r"(?<=://)[^\s:/@<>\"'`]{0,100}:[^\s/@<>\"'`]{1,200}(?=@[\w\[])"),
    # RFC 7519: header, claims and signature; the header begins with {"
    "token": _kind(".eyj", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*"),
    # docs.slack.dev/authentication/tokens; URLs of incoming and workflow webhooks are secrets too
    "Slack token": _kind(
        "xox xapp- xwfp-", r"\b(?:xox[a-z]|xapp|xwfp)(?:\.xox[a-z])?-[A-Za-z0-9-]{10,}"
    ),
    "Slack webhook": _kind(
        "//hooks.slack.com/",
        r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/-]{10,}",
    ),
    # github.blog, "Behind GitHub's new authentication token formats", and fine-grained tokens
    "GitHub token": _kind(
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"\bgh[pousr]_[A-Za-z0-9_]{36,}|\bgithub_pat_[A-Za-z0-9_]{40,}",
    ),
    "GitLab token": _kind(
        "glpat- gldt- glft- glsoat- glrt- glcbt- glptt- glagent- gloas-",
        r"\bgl(?:pat|dt|ft|soat|rt|cbt|ptt|agent|oas)-[A-Za-z0-9_-]{20,}",
    ),
    # docs.aws.amazon.com, IAM identifiers: the prefixes of ids that are access keys
    "AWS key": _kind("akia asia abia acca", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    "API key": _kind(
        "sk- aiza k_live_ k_test_ whsec_ sg. -us hf_ dop_v1_ sq0atp- sq0csp- shpat_ shpca_ shppa_ shpss_ xkeysib- npm_ pypi- hvs. :aa",
        r"\bsk-(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{20,}"  # OpenAI, Anthropic and similar
        r"|\bAIza[A-Za-z0-9_-]{35}"  # Google
        r"|\b[rs]k_(?:live|test)_[A-Za-z0-9]{20,}|\bwhsec_[A-Za-z0-9]{24,}"  # Stripe
        r"|\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"  # SendGrid
        r"|\b[0-9a-f]{32}-us\d{1,2}\b"  # Mailchimp
        r"|\bhf_[A-Za-z0-9]{30,}|\bdop_v1_[a-f0-9]{64}|\bsq0(?:atp|csp)-[A-Za-z0-9_-]{22,}"
        r"|\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|\bxkeysib-[a-f0-9]{64}"
        r"|\bnpm_[A-Za-z0-9]{36}|\bpypi-[A-Za-z0-9_-]{50,}|\bhvs\.[A-Za-z0-9_-]{20,}"
        r"|\b\d{8,10}:AA[A-Za-z0-9_-]{33}",  # Telegram
    ),
}
_is_hinted = _hints_in("|".join(kind.hints for kind in KINDS.values()))

_MOST_REMEMBERED = 1_000
_SHORTEST_REMEMBERED = 12  # characters; shorter values are words of ordinary text
_remembered: OrderedDict[str, None] = OrderedDict()
"""Secrets in use, which no pattern may find: the tokens of people's accounts."""


def remember_secret(secret: str) -> None:
    """Redact `secret` wherever it appears from now on, unless many others follow."""
    if len(secret) >= _SHORTEST_REMEMBERED:
        _remembered[secret] = None
        _remembered.move_to_end(secret)
        if len(_remembered) > _MOST_REMEMBERED:
            _remembered.popitem(last=False)


_SHORTEST_CONFIGURED = 6
_configured: dict[str, str] = {}
"""Secrets of tools' own clients, as texts, URLs and JSON hold them, and the names of their
settings."""


def redact_setting(secret: str, name: str) -> None:
    """Redact the value of the setting `name` wherever it appears from now on."""
    if len(secret) >= _SHORTEST_CONFIGURED:
        for form in (secret, quote(secret, safe=""), json.dumps(secret)[1:-1]):
            _configured[form] = name


def redacted(text: str) -> str:
    """Return `text` with each secret replaced by `[redacted KIND]`."""
    if len(text) < _SHORTEST_CONFIGURED:  # shorter than what any pattern matches, too
        return text
    found = [(each, "token") for each in tuple(_remembered) if each in text]
    found += [(each, name) for each, name in tuple(_configured.items()) if each in text]
    for secret, name in sorted(found, key=lambda each: -len(each[0])):  # one may hold another
        text = text.replace(secret, f"[redacted {name}]")
    text = _PRIVATE_KEY.sub("[redacted private key]", text)
    if not _is_hinted(text):
        return text
    for name, kind in KINDS.items():
        if kind.is_hinted(text):
            redact = partial(kind.pattern.sub, partial(_replacement, name))
            text = "".join(map(redact, _pieces(text)))
    return text


def _pieces(text: str) -> Iterator[str]:
    """Yield `text` in pieces of whole lines; no secret but a private key spans several lines."""
    begin = 0
    while end := text.find("\n", begin + _PIECE) + 1:
        yield text[begin:end]
        begin = end
    yield text[begin:]


def redacted_all(value: Any) -> Any:
    """Return the JSON `value` with all strings but keys redacted."""
    return each_text(value, redacted)


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """Return the JSON `value` with `change` applied to all strings but keys."""
    match value:
        case str():
            return change(value)
        case list() | tuple():
            return [each_text(item, change) for item in value]
        case dict():
            return {key: each_text(item, change) for key, item in value.items()}
        case _:
            return value


def redacted_cells(rows: Iterable[Sequence[Any]]) -> Iterator[list[Any]]:
    """Yield the rows of a table with each text in them redacted.

    Most rows hold no secret, and many are searched as one text: each cell alone would take long.
    """
    rows = iter(rows)
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        texts = "\n".join(cell for row in some for cell in row if isinstance(cell, str))
        if redacted(texts) == texts:
            yield from map(list, some)
        else:
            yield from (
                [redacted(cell) if isinstance(cell, str) else cell for cell in row] for row in some
            )


def _replacement(kind: str, found: re.Match[str]) -> str:
    groups = found.groupdict(default="")
    prefix = groups.get("word") or (f"{groups['name']}=" if "name" in groups else "")
    return f"{prefix}[redacted {kind}]"
