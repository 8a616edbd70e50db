"""Secrets in text: what was read or written by anybody may hold some, and they go no further
(reliability 11): not to the model, a log, Slack or a trace.

Tokens are known by their prefixes, as the services document them (the same that detect-secrets and
gitleaks look for); what has none, by the word before it. A text that only looks so loses a word;
that is the better mistake.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_ASSIGNED = r"(?:passwo?r?d|passwd|pwd|secret|(?:auth|access|api|bearer|refresh)[_-]?token|api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key)"
_SIGNED = r"(?:ticket|access_token|refresh_token|auth_token|client_secret|api_?key|password|sig|x-amz-signature|x-amz-security-token)"

_KINDS: dict[str, str] = {
    "private key": (
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]|-(?!----END)){0,20000}(?:-----END [A-Z0-9 ]{0,40}-----)?"
    ),
    # docs.slack.dev/authentication/tokens; incoming and workflow webhooks are secrets as well
    "Slack token": r"\b(?:xox[a-z]|xapp|xwfp)(?:\.xox[a-z])?-[A-Za-z0-9-]{10,}",
    "Slack webhook": r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/-]{10,}",
    # github.blog, "Behind GitHub's new authentication token formats", and fine-grained tokens
    "GitHub token": r"\bgh[pousr]_[A-Za-z0-9_]{36,}|\bgithub_pat_[A-Za-z0-9_]{40,}",
    "GitLab token": r"\bgl(?:pat|dt|ft|soat|rt|cbt|ptt|agent|oas)-[A-Za-z0-9_-]{20,}",
    # docs.aws.amazon.com, IAM identifiers: prefixes of unique ids that are keys
    "AWS key": r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    "API key": (
        r"\bsk-(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{20,}"  # OpenAI, Anthropic and their likes
        r"|\bAIza[A-Za-z0-9_-]{35}"  # Google
        r"|\b[rs]k_(?:live|test)_[A-Za-z0-9]{20,}|\bwhsec_[A-Za-z0-9]{24,}"  # Stripe
        r"|\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"  # SendGrid
        r"|\b[0-9a-f]{32}-us\d{1,2}\b"  # Mailchimp
        r"|\bhf_[A-Za-z0-9]{30,}|\bdop_v1_[a-f0-9]{64}|\bsq0(?:atp|csp)-[A-Za-z0-9_-]{22,}"
        r"|\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|\bxkeysib-[a-f0-9]{64}"
        r"|\bnpm_[A-Za-z0-9]{36}|\bpypi-[A-Za-z0-9_-]{50,}|\bhvs\.[A-Za-z0-9_-]{20,}"
        r"|\b\d{8,10}:AA[A-Za-z0-9_-]{33}"  # Telegram
    ),
    # RFC 7519: a header, claims and a signature, of which the header begins with {"
    "token": r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*",
    "password": r"(?<=://)[^\s:/@<>\"'`]{0,100}:[^\s/@<>\"'`]{1,200}(?=@[\w\[])",
    "credentials": r"(?i:(?<=bearer )|(?<=basic ))(?=[A-Za-z+/._~-]{0,80}\d)[A-Za-z0-9+/._~-]{20,}=*",
    "signature": rf"(?i:(?<=[?&])(?P<name>{_SIGNED})=)[^&\s\"'<>`)\]]{{8,}}",
    "secret": (
        rf"(?i:(?P<word>{_ASSIGNED}[\"']?[ \t]{{0,3}}(?:=>|:=|=|:)[ \t]{{0,3}}[\"'`]?))"
        r"(?=[^\s\"'`<>,;&]{0,60}\d)(?=[^\s\"'`<>,;&]{0,60}[A-Za-z])(?![$<{\[*])"
        r"[^\s\"'`<>,;&]{8,400}"
    ),
}
_SECRET = re.compile(
    "|".join(f"(?P<k{number}>{pattern})" for number, pattern in enumerate(_KINDS.values()))
)
_NAMES = {f"k{number}": name for number, name in enumerate(_KINDS)}


def redacted(text: str) -> str:
    """`text` with `[redacted …]` in the place of each secret; says of what kind it was."""
    return _SECRET.sub(_replaced, text)


def redacted_all(value: Any) -> Any:
    """JSON `value` with all of its texts redacted, keys excepted."""
    return each_text(value, redacted)


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """JSON `value` with all of its texts changed, keys excepted."""
    match value:
        case str():
            return change(value)
        case list() | tuple():
            return [each_text(item, change) for item in value]
        case dict():
            return {key: each_text(item, change) for key, item in value.items()}
        case _:
            return value


def _replaced(found: re.Match[str]) -> str:
    kind = next(name for key, name in _NAMES.items() if found[key] is not None)
    kept = found["word"] or (f"{found['name']}=" if found["name"] else "")
    return f"{kept}[redacted {kind}]"
