"""An MCP server whose tools return fixed JSON: `python -m tests.evidence.mcp_server <file>`.

The file maps the name of each tool to what it returns: JSON is written as it is, text as text.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.support.stdio_server import serve, text, tool

RETURNED = json.loads(Path(sys.argv[1]).read_text("utf-8"))


def called(name: str, _arguments: dict[str, Any]) -> list[dict[str, Any]]:
    value = RETURNED[name]
    if isinstance(value, str):
        return [text(value)]
    indent = 2 if name.startswith("list") else None
    return [text(json.dumps(value, ensure_ascii=False, indent=indent))]


if __name__ == "__main__":
    serve("fixed", [tool(each, each, {}, required=[], reads=True) for each in RETURNED], called)
