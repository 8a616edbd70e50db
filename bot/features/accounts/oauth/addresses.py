"""Addresses of the bot's own that browsers and issuers use to connect an account."""

from __future__ import annotations

from dataclasses import dataclass

from bot.slack.edge.install_flow import SIGN_IN_PATH

CONNECT = "/accounts/connect"
PROOF = SIGN_IN_PATH
CALLBACK = "/accounts/callback"
CLIENT_DOCUMENT = "/accounts/client.json"


@dataclass(frozen=True, slots=True)
class PublicAddress:
    """The address under which browsers reach the bot, without a slash at its end."""

    url: str

    @property
    def is_loopback(self) -> bool:
        """Whether only browsers on the bot's own machine reach it."""
        return self.url.startswith("http:")

    def cookie(self, name: str) -> str:
        """Return the full name of a cookie.

        Browsers take a name with this prefix only from the host itself. Otherwise another host of the
        same domain could set it, and have somebody finish what it began.
        """
        return name if self.is_loopback else f"__Host-{name}"

    @property
    def redirect_uri(self) -> str:
        """The address to which issuers send browsers back."""
        return f"{self.url}{CALLBACK}"

    @property
    def client_url(self) -> str:
        """The bot's client id at issuers that read it from there; "" where they could not."""
        return "" if self.is_loopback else f"{self.url}{CLIENT_DOCUMENT}"
