"""A protected server on `fastmcp`'s own auth: `fastmcp_protected.py PORT`.

`/signed_in/NAME` says who sits at the browser, `/expire` ends all access tokens."""
# mypy: ignore-errors

import sys

from fastmcp import FastMCP
from fastmcp.server.auth.auth import ClientRegistrationOptions, RevocationOptions
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from fastmcp.server.dependencies import get_access_token
from starlette.responses import PlainTextResponse

PORT = int(sys.argv[1])
SCOPES = ["notes:read"]


class Provider(InMemoryOAuthProvider):
    """Its people have accounts of their own."""

    signed_in = "anna"

    def __init__(self, **options):
        super().__init__(**options)
        self.people = {}  # by code, access token and refresh token

    async def authorize(self, client, params):
        address = await super().authorize(client, params)
        self.people[list(self.auth_codes)[-1]] = self.signed_in
        return address

    async def exchange_authorization_code(self, client, code):
        return self._known(
            await super().exchange_authorization_code(client, code), self.people[code.code]
        )

    async def exchange_refresh_token(self, client, token, scopes):
        return self._known(
            await super().exchange_refresh_token(client, token, scopes), self.people[token.token]
        )

    def _known(self, tokens, person):
        self.people[tokens.access_token] = self.people[tokens.refresh_token] = person
        return tokens


provider = Provider(
    base_url=f"http://127.0.0.1:{PORT}",
    client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=SCOPES),
    revocation_options=RevocationOptions(enabled=True),
    required_scopes=SCOPES,
)
server = FastMCP("diary", auth=provider)


@server.tool(annotations={"readOnlyHint": True})
def read_notes() -> str:
    """Read the notes of whoever is signed in."""
    return f"the notes of {provider.people[get_access_token().token]}"


@server.custom_route("/signed_in/{name}", methods=["GET"])
async def signed_in(request):
    Provider.signed_in = request.path_params["name"]
    return PlainTextResponse("")


@server.custom_route("/expire", methods=["GET"])
async def expire(request):
    provider.access_tokens.clear()
    return PlainTextResponse("")


if __name__ == "__main__":
    server.run(transport="http", host="127.0.0.1", port=PORT, show_banner=False, log_level="error")
