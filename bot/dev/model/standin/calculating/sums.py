"""Arithmetic on the numbers that stand in a message."""

from __future__ import annotations

import re
from decimal import Decimal

from ..findings import Findings
from ..outputs import failed, reason
from ..phrasing import phrase
from ..view import View
from ..words import listed

_N = r"(\d++(?:\.\d++)?)"
_RATE = rf"{_N} ?(?:%|per ?cent)(?: (?:vat|tax))?"
ASKED = phrase(
    r"(?:(?:what|how much)(?:['’]?s| is)? |calculate |compute |work out |add up )?(?:the )?(?P<sum>[\d(\[$€£√saxm-].*?)(?: ?=)?"
)
WRITTEN = (
    (r"[$€£]", ""),
    (r"(?<=\d),(?=\d{3}\b)", ""),
    (rf"square root of {_N}", r"sqrt(\1)"),
    (rf"{_RATE} of {_N}", r"(\1 / 100 * \2)"),
    (rf"{_RATE} off {_N}", r"(\2 * (1 - \1 / 100))"),
    (r"\bplus\b", "+"),
    (r"\bminus\b|−", "-"),
    (r"\b(?:times|multiplied by|x)\b|×", "*"),
    (r"\bdivided by\b|÷", "/"),
    (r"\^", "**"),
    (rf"^{_N} ?([-+]) ?{_RATE}$", r"\1 * (1 \2 \3 / 100)"),
)
"""What people write, and how a calculator takes it; in this order."""
SUM = re.compile(r"(?:sqrt(?=\()|[\d\s.()+*/-])+")
OPERATION = re.compile(r"[\d)]\s*(?:\*\*|[-+*/])\s*[-(]*(?:\d|sqrt)|^sqrt")
A_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}/\d{2,4}")
LIST = re.compile(
    r"(?P<what>sum|total|average|mean|median|maximum|minimum)(?: of| these)?:? (?P<numbers>[\d\s.,-]+(?: and [\d.,]+)?)",
    re.IGNORECASE,
)
FUNCTIONS = {"average": "mean", "maximum": "max", "minimum": "min"}
GOES_ON = phrase(
    r"(?P<share>\d[\d.]*) ?%|(?P<sign>plus|minus|times|divided by|[-+*/×÷]) ?(?P<by>\d[\d,.]*)"
)
"""Another share of the same, or what is to be done with the result before."""


MOST_DECIMALS = 6  # that are told; more are rounded


def is_asked(view: View) -> bool:
    """Whether the message is a sum, or goes on with one."""
    return bool(expressions(view.text) or _going_on(view))


def expressions(text: str) -> list[str]:
    """The sum that a message is, as a calculator takes it; none for a message that is not only that."""
    asked = ASKED.fullmatch(text)
    if asked is None:
        return []
    if named := LIST.fullmatch(asked["sum"]):
        return [_of_list(named)]
    code = asked["sum"]
    for words, symbols in WRITTEN:
        code = re.sub(words, symbols, code, flags=re.IGNORECASE)
    code = re.sub(r"^\(([^()]*)\)$", r"\1", code.strip())
    is_sum = SUM.fullmatch(code) and OPERATION.search(code) and not A_DATE.fullmatch(code)
    return [code] if is_sum and code.count("(") == code.count(")") else []


def _of_list(named: re.Match[str]) -> str:
    pieces = re.split(r",?\s+and\s+|,\s+|,(?!\d{3}\b)|\s+", named["numbers"].strip(" .,"))
    numbers = [piece.replace(",", "") for piece in pieces if piece]
    what = named["what"].lower()
    if what in ("sum", "total"):
        return " + ".join(f"({each})" if each.startswith("-") else each for each in numbers)
    return f"{FUNCTIONS.get(what, what)}({', '.join(numbers)})"


def _going_on(view: View) -> list[str]:
    """The sum of a message that goes on with the sum before."""
    said, before = GOES_ON.fullmatch(view.text), view.earlier[0] if view.earlier else None
    result = re.match(r"result: (-?[\d.,]+)", (before and before.output) or "")
    if said is None or before is None or before.tool != "calculate" or result is None:
        return []
    expression = str(before.arguments.get("expression"))
    if said["share"]:
        share = re.fullmatch(r"[\d.]+( / 100 \* [\d.]+)", expression)
        return [said["share"] + share[1]] if share else []
    return expressions(f"{result[1].rstrip('.')} {said['sign']} {said['by']}")


def answer(view: View, found: Findings) -> None:
    """Let the calculator work it out."""
    for code in expressions(view.text) or _going_on(view):
        output = view.do("calculate", f"I work out {code} with the calculator.", expression=code)
        if failed(output) or not output.startswith("result: "):
            found.summary = "I could not work this out."
            found.lower(f"{_readable(code)}: {reason(output).partition('. ')[0]}", "low")
            return
        result = output.strip().splitlines()[0].removeprefix("result: ")
        found.summary = _told(code, result)
        found.figure = _figure(result)
        found.source("Calculator", None, f"The result of {_readable(code)}.")


def _figure(result: str) -> float | None:
    try:
        number = float(result.replace(",", ""))
    except ValueError:
        return None
    return int(number) if number.is_integer() else number


def _told(code: str, output: str) -> str:
    """The result as an equation, or as a sentence about a list of numbers."""
    result, is_exact = _in_full(output)
    named = re.fullmatch(r"(mean|median|max|min)\((.+)\)", code)
    if named is None:
        return f"{_readable(code)} {'=' if is_exact else '≈'} **{result}**"
    what = {"mean": "average", "max": "maximum", "min": "minimum"}.get(named[1], named[1])
    about = "" if is_exact else "about "
    return f"The {what} of {listed(named[2].split(', '))} is {about}**{result}**"


def _in_full(output: str) -> tuple[str, bool]:
    """The calculator's number as people read it, and whether that is all of it."""
    value = Decimal(output)
    figure = f"{value:,f}"
    decimals = len(figure.partition(".")[2])
    if decimals <= MOST_DECIMALS:
        return figure + "0" * (decimals == 1), True
    return (f"{value:,.2f}" if abs(value) >= 1 else f"{float(value):.4g}"), False


def _readable(code: str) -> str:
    """A sum as people write it."""
    code = re.sub(r"\(?([\d.]+) / 100 \* ([\d.]+)\)?", r"\1% of \2", code)
    code = re.sub(r"\(?([\d.]+) \* \(1 ([-+]) ([\d.]+) / 100\)\)?", r"\1 \2 \3%", code)
    code = code.replace("**", "^").replace("*", "×")
    return re.sub(r"(?<![\d.])\d{4,}", lambda number: f"{int(number[0]):,}", code)
