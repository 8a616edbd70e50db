"""A server on `fastmcp`, which runs in an environment of its own."""
# mypy: ignore-errors

from dataclasses import dataclass

from fastmcp import Context, FastMCP

server = FastMCP("shop")


@dataclass
class Order:
    """What a person orders."""

    size: int
    gift: bool = False


@server.tool
def list_orders() -> list[dict[str, str | int]]:
    """List orders."""
    return [{"id": f"o{n}", "cost": n} for n in range(1, 5)]


@server.tool
async def order(item: str, ctx: Context) -> str:
    """Order something."""
    answer = await ctx.elicit(f"How many of {item}?", response_type=Order)
    return f"{answer.action} {getattr(answer, 'data', None)}"


@server.tool
async def pack(ctx: Context) -> str:
    """Pack all orders."""
    for done in range(1, 4):
        await ctx.report_progress(done, 3, f"order {done}")
    return "packed"


@server.resource("shop://prices.csv", mime_type="text/csv")
def prices() -> str:
    """All prices."""
    return "item,price\npen,1.5\nink,4\n"


@server.resource("shop://items/{name}")
def item(name: str) -> str:
    """One item."""
    return f"{name} is in stock."


if __name__ == "__main__":
    server.run(show_banner=False)
