"""Arithmetic on the numbers that stand in a message."""

from __future__ import annotations

import re

from .findings import Findings
from .outputs import failed, reason
from .times import MONTH
from .view import View
from .wording import plain
from .words import content, has, listed, shown

SUM = re.compile(
    r"(?<![\w.])(?<!\d,)(?:sqrt\(\d[\d.,]*+\)|[-+(]*+\d[\d.,]*+\s*(?:%|(?:[-+*/^×÷x]|\*\*)\s*[-+(]*\d))"
    r"(?:[\d\s.,+*/^()×÷x%-]|sqrt(?=\())*"
)
# Read from its first digit to its last and never in part: a long row of them takes no long time.
FIGURE = r"\d[\d,]*+(?:\.\d++)?"
NUMBER = rf"(?<!\d)(?<!\d,)[$€£]?({FIGURE})"
TAX = r"(?:vat|tax|tip|sales tax|commission|interest)"
PERCENT = r"(?:per cent|p[er]{0,2}c\w{0,2}t)"
"""However it is misspelt: what is left would be taken for a number of things."""
RATE = rf"(?<!\d)(\d++(?:\.\d++)?)\s*(?:%|{PERCENT})"
WRITTEN = (
    (
        rf"{NUMBER}\s*% tip (?:on|of|for) {NUMBER},?(?: \w+)? (?:split|shared|divided) (?:between|among|by|with) {NUMBER}",
        r"\2 * (1 + \1 / 100) / \3",
    ),
    (rf"{NUMBER}\s*% tip (?:on|of|for) {NUMBER}", r"(\1 / 100 * \2)"),
    (
        rf"(?:split|share|divide) {NUMBER}(?: (?:eur|usd|gbp|euros?|dollars?|pounds?))? (?:equally )?(?:between|among|by) {NUMBER}",
        r"(\1 / \2)",
    ),
    (rf"(?<![\w.]){NUMBER}\s*/\s*{NUMBER} (?:as|in)(?: an?)? percent\w*", r"(\1 / \2 * 100)"),
    (
        rf"{NUMBER}\s*(?:\+|plus|and|with|(?:and )?(?:it )?(?:goes|rises|grows|went) up|increased?|more)(?: by)?\s*(?:{TAX} (?:of|at) )?{RATE}(?!\s*of)",
        r"(\1 * (1 + \2 / 100))",
    ),
    (
        rf"{NUMBER}\s*(?:-|minus|less|(?:and )?(?:it )?(?:goes|falls|went) down|decreased?)(?: by)?\s*{RATE}(?!\s*of)",
        r"(\1 * (1 - \2 / 100))",
    ),
    (rf"(?:increase|raise) {NUMBER} by {RATE}", r"(\1 * (1 + \2 / 100))"),
    (rf"(?:decrease|reduce|lower) {NUMBER} by {RATE}", r"(\1 * (1 - \2 / 100))"),
    (rf"{RATE} more than {NUMBER}", r"(\2 * (1 + \1 / 100))"),
    (rf"{RATE} less than {NUMBER}", r"(\2 * (1 - \1 / 100))"),
    (rf"(?:how many|what) {PERCENT} (?:is|are) {NUMBER} (?:out )?of {NUMBER}", r"(\1 / \2 * 100)"),
    (rf"{NUMBER} (?:out )?of {NUMBER} (?:as|in)(?: an?)? {PERCENT}", r"(\1 / \2 * 100)"),
    (rf"difference between {NUMBER} and {NUMBER}", r"(\1 - \2)"),
    (rf"{RATE}\s+(?:off|discount on|off of)\s+{NUMBER}", r"(\2 * (1 - \1 / 100))"),
    (
        rf"{RATE}\s+{TAX}\s+(?:on|of|for)\s+{NUMBER}",
        r"(\1 / 100 * \2)",
    ),
    (rf"{NUMBER}\s*(?:%|{PERCENT})\s+of\s+{NUMBER}", r"(\1 / 100 * \2)"),
    (rf"half of {NUMBER}", r"(\1 / 2)"),
    (rf"{NUMBER} to the power of {NUMBER}", r"(\1 ** \2)"),
    (rf"(?<![\w.]){NUMBER} squared", r"(\1 ** 2)"),
    (rf"(?<![\w.]){NUMBER} cubed", r"(\1 ** 3)"),
    (rf"(?:square root|sqrt) of {NUMBER}", r"sqrt(\1)"),
    (
        rf"{NUMBER}\s+(?!dozen|out)(?:[a-z]+\s){{1,2}}(?:of|at)\s+{NUMBER}(?!\s*(?:%|{PERCENT}))(?:\s+each)?",
        r"(\1 * \2)",
    ),
    (r"(?<=[\d)])\s+(?:plus|and then)\s+(?=[\d($€£])", " + "),
    (r"(?<=[\d)])\s+(?:minus|less)\s+(?=[\d($€£])", " - "),
    (r"(?<=[\d)])\s+(?:times|multiplied by)\s+(?=[\d($€£])", " * "),
    (r"(?<=[\d)])\s+(?:divided by)\s+(?=[\d($€£])", " / "),
    (r"[$€£](?=\d)", ""),
)
"""What people write in words, and how a calculator takes it; in this order."""
FUNCTIONS = {
    "sum": r"sum|add(?: up)?|total|together|altogether", "mean": r"average|mean", "median": r"median",
    "max": r"maximum|max|largest|biggest|highest", "min": r"minimum|min|smallest|lowest",
}  # fmt: skip
"""What is to be worked out of a list of numbers, by the words that ask for it."""
ONE = r"(?>[-−]?[$€£]?(?:\d{1,3}(?:,\d{3})++(?!,?\d)|\d++)(?:\.\d++)?(?:\s?(?:€|EUR|USD|dollars|euros))?)"
LIST = re.compile(
    rf"(?<![\w.,-]){ONE}(?:(?:\s*[,;\n]\s*(?:and\s+)?|\s+(?:and|plus)\s+|\s+){ONE})+(?![\w%])"
)
WORK = frozenset(["sum", "add", "up", "total", "together", "altogether", "average", "mean", "median", "max", "min", "maximum", "minimum", "number", "value", "figure", "result", "calculate", "compute", "work", "out", "percent", "square", "root", "plus", "minus", "time", "divided", "multiplied", "largest", "biggest", "highest", "smallest", "lowest", "much", "many", "please", "equal"])  # fmt: skip


GOES_ON = re.compile(
    rf"\W*(?:(?:and|now|then|ok|what about|how about|with|at)\W+)*(?:[$€£]?(?P<share>{FIGURE})\s*%|(?P<fixed>double|triple|halve|half(?: of)?)|"
    rf"(?P<sign>plus|minus|times|divided by|add|[-+*/×÷])\s*[$€£]?(?P<by>{FIGURE})(?P<rate>\s*%(?:\s*{TAX})?)?)(?:\s+(?:it|that|this|of (?:it|that|this)))?\W*",
    re.IGNORECASE,
)
"""What is to be done with the result before, or with another share of the same."""
CHANGES = re.compile(
    r"\b(?:net|gross|without|excluding|inclu\w+|before|compound|dozens?)\b", re.IGNORECASE
)
"""What makes another sum of the same numbers."""
FIXED = {"double": " * 2", "triple": " * 3"}
SIGNS = {"plus": "+", "add": "+", "minus": "-", "times": "*", "divided by": "/", "×": "*", "÷": "/"}


def _going_on(view: View) -> list[str]:
    """The sum of a message that goes on with the sum before."""
    said, before = GOES_ON.fullmatch(view.text), view.earlier[0] if view.earlier else None
    if said is None or before is None or before.tool != "calculate":
        return []
    result = re.match(r"result: (-?[\d.,]+)", before.output or "")
    expression = str(before.arguments.get("expression"))
    if said["share"] and expression.count("/ 100") == 1:
        return [re.sub(r"[\d.]+(?= / 100)", _plain(said["share"]), expression)]
    if result is None or said["share"]:
        return []
    if said["sign"]:
        sign = SIGNS.get(said["sign"].lower(), said["sign"])
        if said["rate"]:
            return [f"{_plain(result[1])} * (1 {sign} {_plain(said['by'])} / 100)"] * (sign in "+-")
        return [f"{_plain(result[1])} {sign} {_plain(said['by'])}"]
    return [f"{_plain(result[1])}{FIXED.get(said['fixed'].lower(), ' / 2')}"]


def is_asked(view: View) -> bool:
    """Whether there is something to work out, and it is not the figures of a file or a database."""
    if _going_on(view):
        return True
    if not expressions(view.text):
        return False
    return not (view.turn.files or has(view.text, r"files?|csv|xlsx|table|database")) or is_all(
        view.text
    )


def is_all(text: str) -> bool:
    """Whether a message holds nothing but numbers and what is to be done with them."""
    return bool(expressions(text)) and not set(content(re.sub(r"[\d.,]+", " ", text))) - WORK


DAYS = re.compile(rf"\b\d{{1,2}}\s*[-–]\s*\d{{1,2}}\.? {MONTH}", re.IGNORECASE)
"""No sums, as 15-20 March."""


def expressions(text: str) -> list[str]:
    """The sums in a message, as a calculator takes them."""
    text = DAYS.sub(" ", plain(text))
    return _written(text) or _lists(text)


def answer(view: View, found: Findings) -> None:
    """Let the calculator work it out, but no part of it for the whole."""
    codes, results = _going_on(view), []
    if not codes and (codes := expressions(view.text)) and (left := _left_out(view, codes)):
        found.summary = (
            f"I cannot work this out as a whole: my rules would leave out “{left}”. Write it as a sum, "
            "as “(1,340 + 60) / 12” or “19% of 119”."
        )
        return
    for code in codes:
        output = view.do("calculate", f"I work out {code} with the calculator.", expression=code)
        if failed(output) or not output.startswith("result: "):
            found.lower(
                f"{_readable(code)} could not be worked out: {reason(output).partition('. ')[0]}",
                "low",
            )
            continue
        result = output.strip().splitlines()[0].removeprefix("result: ")
        results.append(_told(code, shown(result)))
        found.figure = _figure(result)
        found.source("Calculator", None, f"The result of {_readable(code)}.")
    found.summary = (
        listed(results) or "I could not work this out. Write decimals with a point, as 3.5."
    )


def _left_out(view: View, codes: list[str]) -> str:
    """What no sum takes in of a message that is about nothing else, as it was written; "" for nothing."""
    if view.turn.files:
        return ""
    taken = {float(each) for each in re.findall(r"\d+(?:\.\d+)?", " ".join(codes))}
    for number in re.findall(rf"(?<![\w.,:/-]){ONE}(?![\w:/-])", plain(view.text)):
        if float(re.sub(r"[^\d.]", "", number)) not in taken:
            return str(number).strip()
    changed = CHANGES.search(view.text)
    return changed[0] if changed else ""


def _figure(result: str) -> float | None:
    try:
        number = float(result.replace(",", ""))
    except ValueError:
        return None
    return int(number) if number.is_integer() else number


def _written(text: str) -> list[str]:
    """Sums with signs, or with words for these."""
    for words, symbols in WRITTEN:
        text = re.sub(words, symbols, text, flags=re.IGNORECASE)
    codes = []
    for match in SUM.finditer(text):
        code = _plain(match[0].lstrip(" .,?+*/").rstrip(" .,?-+*/")).translate(
            str.maketrans("×÷x", "*/*")
        )
        code = code.removeprefix("(").removesuffix(")") if _is_wrapped(code) else code
        if _is_balanced(code) and (
            code.startswith("sqrt(")
            or (re.search(r"\d\s*[-+*/^]+\s*[(\d]", code) and not _is_a_date(code))
        ):
            codes.append(code.replace("^", "**"))
    return codes


def _lists(text: str) -> list[str]:
    """Numbers one after the other, of which the words want the sum or another figure."""
    function = next((name for name, words in FUNCTIONS.items() if has(text, words)), None)
    match = LIST.search(text)
    if function is None or match is None:
        return []
    numbers = [re.sub(r"[^\d.-]", "", each.replace("−", "-")) for each in re.findall(ONE, match[0])]
    if function == "sum":
        return [" + ".join(each if each[0] != "-" else f"({each})" for each in numbers)]
    return [f"{function}({', '.join(numbers)})"]


def _told(code: str, result: str) -> str:
    """The result as an equation, or as a sentence about a list of numbers."""
    named = re.fullmatch(r"(mean|median|max|min)\((.+)\)", code)
    if named is None:
        return f"{_readable(code)} = **{result}**"
    what = {"mean": "average", "max": "highest", "min": "lowest"}.get(named[1], named[1])
    return f"The {what} of {listed(named[2].split(', '))} is **{result}**"


def _readable(code: str) -> str:
    """A sum as people write it."""
    code = re.sub(r"([\d.]+) / 100 \* ([\d.]+)", r"\1% of \2", code)
    code = re.sub(r"([\d.]+) \* \(1 ([-+]) ([\d.]+) / 100\)", r"\1 \2 \3%", code)
    code = re.sub(r"^\(([^()]*)\)$", r"\1", code)
    code = code.replace("**", "^").replace("*", "×")
    return re.sub(r"(?<![\d.])\d{4,}", lambda number: f"{int(number[0]):,}", code)


def _is_wrapped(code: str) -> bool:
    """Whether one pair of brackets holds all of it."""
    return bool(re.fullmatch(r"\([^()]*\)", code))


def _is_balanced(code: str) -> bool:
    return code.count("(") == code.count(")")


def _plain(text: str) -> str:
    return re.sub(r"(?<=\d),(?=\d{3})", "", text).strip(" .,")


def _is_a_date(code: str) -> bool:
    return bool(re.fullmatch(r"\d{4}-\d\d(?:-\d\d)?|\d{1,2}/\d{1,2}(?:/\d{2,4})?", code.strip()))
