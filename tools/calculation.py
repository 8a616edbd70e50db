"""Exact decimal arithmetic."""

from __future__ import annotations

import ast
import decimal
import math
import re
import statistics
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any

import simpleeval
from pydantic import Field

from bot.library.interpreters.distributions import FUNCTIONS as DISTRIBUTIONS
from bot.toolkit import Reads, ToolError, tool

_DIGITS = 34
_SHOWN_DIGITS = 15
_MAX_EXPONENT = 2_000
_MAX_FACTORIAL = 500
_PERCENT_OF = re.compile(r"%\s*of\b", re.IGNORECASE)
_PERCENT = re.compile(r"%(?!\s*[\w(.])")
_HUNDREDTHS = Decimal("0.01")


def _through_float(function: Callable[..., float]) -> Callable[..., Decimal]:
    return lambda *values: Decimal(repr(function(*(float(value) for value in values))))


def _power(base: Decimal, exponent: Decimal) -> Decimal:
    """Raise `base` to a power. A percent sign is the power `_percent`, which binds as tightly."""
    if exponent is _HUNDREDTHS:
        return base / 100
    if abs(exponent) > _MAX_EXPONENT:
        raise ToolError(f"An exponent may be up to {_MAX_EXPONENT:,}.")
    return base**exponent


def _quotient(dividend: Decimal, divisor: Decimal) -> Decimal:
    """Round towards minus infinity, as Python does; decimals round towards zero."""
    return (dividend - _remainder(dividend, divisor)) // divisor


def _remainder(dividend: Decimal, divisor: Decimal) -> Decimal:
    """Return the remainder with the sign of the divisor, as Python and spreadsheets do."""
    remainder = dividend % divisor
    return remainder + divisor if remainder and (remainder < 0) != (divisor < 0) else remainder


def _factorial(value: Decimal) -> Decimal:
    if value != int(value) or not 0 <= value <= _MAX_FACTORIAL:
        raise ToolError(f"factorial takes a whole number from 0 to {_MAX_FACTORIAL}.")
    return Decimal(math.factorial(int(value)))


def _rounded(value: Decimal, digits: Decimal = Decimal(0)) -> Decimal:
    """Round half away from zero, as people do."""
    places = Decimal(1).scaleb(-int(digits))
    return value.quantize(places, rounding=decimal.ROUND_HALF_UP)


def _mean(*values: Decimal) -> Decimal:
    return sum(values, Decimal(0)) / len(values)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "min": min,
    "max": max,
    "sum": lambda *values: sum(values, Decimal(0)),
    "mean": _mean,
    "avg": _mean,
    "median": lambda *values: statistics.median(values),
    "stdev": lambda *values: statistics.stdev(values),
    "round": _rounded,
    "floor": lambda value: value.to_integral_value(decimal.ROUND_FLOOR),
    "ceil": lambda value: value.to_integral_value(decimal.ROUND_CEILING),
    "sqrt": lambda value: value.sqrt(),
    "exp": lambda value: _power(Decimal(1).exp(), value),
    "ln": lambda value: value.ln(),
    "log10": lambda value: value.log10(),
    "log2": lambda value: value.ln() / Decimal(2).ln(),
    "sin": _through_float(math.sin),
    "cos": _through_float(math.cos),
    "tan": _through_float(math.tan),
    "atan": _through_float(math.atan),
    "factorial": _factorial,
    "comb": lambda n, k: _factorial(n) / (_factorial(k) * _factorial(n - k)),
    **{name: _through_float(function) for name, (function, _) in DISTRIBUTIONS.items()},
    "change": lambda old, new: (new - old) / abs(old) * 100,
}
_CONSTANTS = {
    "_percent": _HUNDREDTHS,
    "pi": Decimal("3.141592653589793238462643383279503"),
    "e": Decimal("2.718281828459045235360287471352662"),
}


class _Evaluator(simpleeval.SimpleEval):  # type: ignore[misc]  # untyped library
    """An evaluator that calculates in decimals: 0.1 + 0.2 is 0.3."""

    def __init__(self) -> None:
        operators = {
            **simpleeval.DEFAULT_OPERATORS,
            ast.Pow: _power,
            ast.Mult: lambda a, b: a * b,
            ast.FloorDiv: _quotient,
            ast.Mod: _remainder,
        }
        super().__init__(operators=operators, functions=_FUNCTIONS, names=_CONSTANTS)

    def _eval_constant(self, node: ast.Constant) -> Decimal:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            raise ToolError("Only numbers can be calculated with.")
        if not math.isfinite(node.value):
            raise ToolError("A number in it is too large; up to 1e308 can be written.")
        return Decimal(repr(node.value))


@tool(
    group="math",
    summary="Calculate an arithmetic expression",
    safety=Reads(calculates=True),
    offered_with=("figure",),
    title="Calculate {expression}",
)
def calculate(
    expression: Annotated[
        str,
        Field(
            min_length=1,
            max_length=1000,
            description='As "(1250 - 980) / 980 * 100" or "15% of 240".',
        ),
    ],
) -> str:
    """Calculate exactly, in decimals: + - * / ^ // (rounds down), a % b (sign of b), 15% is 0.15; abs
    min max sum mean median stdev round(x, digits) floor ceil sqrt exp ln log10 log2 sin cos tan
    factorial comb change(old, new) in percent; pi, e; normal_cdf(x) t_cdf(x, df) f_cdf(x, df1, df2)
    chi2_cdf(x, df), and _quantile(share, …) of each. No thousands separators."""
    with decimal.localcontext(prec=_DIGITS, Emax=9_999, Emin=-9_999):
        return f"result: {_shown(_evaluated(expression))}\nexpression: {expression.strip()}"


def _evaluated(expression: str) -> Decimal:
    try:
        code = _python(expression)
        # Parsed here, because simpleeval would silently evaluate only the first of several.
        result = _Evaluator().eval(code, ast.parse(code, mode="eval").body)
    except simpleeval.NameNotDefined as error:
        raise ToolError(f"There is no {error.name!r} here; write its number. {_HELP}") from None
    except simpleeval.FunctionNotDefined as error:
        raise ToolError(f"There is no function {error.func_name}. {_HELP}") from None
    except (decimal.DivisionByZero, ZeroDivisionError, decimal.DivisionUndefined):
        raise ToolError("It divides by zero.") from None
    except decimal.Overflow:
        raise ToolError("The result is too large to be written.") from None
    except (decimal.InvalidOperation, statistics.StatisticsError, ValueError):
        raise ToolError("It has no value among the real numbers.") from None
    except (simpleeval.InvalidExpression, SyntaxError, TypeError, RecursionError, MemoryError):
        raise ToolError(f"{expression[:100]} is not an arithmetic expression. {_HELP}") from None
    if isinstance(result, bool) or not isinstance(result, Decimal):
        raise ToolError(f"The expression must give one number. {_HELP}")
    return result


_HELP = f"Write numbers without thousands separators. Functions: {', '.join(sorted(_FUNCTIONS))}."


def _python(expression: str) -> str:
    """Rewrite the expression in Python syntax. A percent sign before an operand is a remainder."""
    text = expression.replace("^", "**").replace("×", "*").replace("÷", "/").replace("−", "-")
    text = _PERCENT_OF.sub("**_percent*", text)
    return _PERCENT.sub("**_percent", text).strip().removeprefix("=").removesuffix("=").strip()


def _shown(value: Decimal) -> str:
    """Write a number with 15 significant digits, without an exponent while people can read it."""
    if value == value.to_integral_value() and abs(value) < Decimal(10) ** _DIGITS:
        return f"{value.to_integral_value():f}"
    with decimal.localcontext(prec=_SHOWN_DIGITS):
        value = +value
    if Decimal("1e-9") < abs(value) < Decimal(10) ** _DIGITS:
        return f"{value.normalize():f}"
    return str(value.normalize())
