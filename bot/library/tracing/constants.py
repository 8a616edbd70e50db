"""Numbers that a call's own arguments give: those written there, and plain arithmetic with them.

A model can write a figure into a query or a program and have it come back as a result. What comes of
`SELECT 900000 + 87654` was not read, and neither was what a program makes of its own numbers.
"""

from __future__ import annotations

import ast
import decimal
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

_NUMBER = r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_LITERAL = re.compile(rf"(?<![\w.]){_NUMBER}(?![\w.])")
_ARITHMETIC = re.compile(
    rf"(?<![\w.]){_NUMBER}(?:[ ]{{0,3}}[-+*/][ ]{{0,3}}\(?{_NUMBER}\)?){{1,20}}(?![\w.])"
)
_QUOTED = re.compile(r"'[^']*'")
"""A text in SQL: the parts of a date are no arithmetic."""
_MOST_TEXT, _MOST_STEPS = 20_000, 5_000
_DIGITS = 34

_OPERATIONS: Mapping[type[ast.operator], Callable[[Decimal, Decimal], Decimal]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: a**b if abs(b) <= 100 else Decimal(0),
}
_FUNCTIONS: Mapping[str, Callable[[Sequence[Decimal]], Decimal]] = {
    "int": lambda values: values[0].to_integral_value(decimal.ROUND_DOWN),
    "float": lambda values: values[0],
    "Decimal": lambda values: values[0],
    "abs": lambda values: abs(values[0]),
    "round": lambda values: round(values[0], int(values[1]) if len(values) > 1 else 0),
    "sum": lambda values: sum(values, Decimal(0)),
    "max": max,
    "min": min,
}


def literals_in(arguments: str) -> frozenset[Decimal]:
    """Return the numbers that are written in a call's arguments."""
    return frozenset(Decimal(text) for text in _LITERAL.findall(arguments))


def worked_out_in(arguments: str) -> frozenset[Decimal]:
    """Return what arithmetic with the numbers in a call's arguments (JSON) gives: in an expression, or
    over the names of a program. The time is bounded."""
    values = set[Decimal]()
    for text in _texts(arguments):
        if len(text) > _MOST_TEXT or not any(sign in text for sign in "+-*/("):
            continue
        tree = _parsed(text)
        plain = _QUOTED.sub("''", text)
        trees = [tree] if tree else [_parsed(match[0]) for match in _ARITHMETIC.finditer(plain)]
        for parsed in filter(None, trees):
            values |= _Folding().values_in(parsed)
    return frozenset(map(abs, values))


def _texts(arguments: str) -> Iterator[str]:
    try:
        waiting = [json.loads(arguments)]
    except (ValueError, RecursionError):
        return
    while waiting:
        match waiting.pop():
            case str(text):
                yield text
            case dict(fields):
                waiting += fields.values()
            case list(items):
                waiting += items
            case _:
                pass


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Folding:
    """The values of expressions in which there are only numbers, and names of such expressions."""

    def __init__(self) -> None:
        self._names: dict[str, Decimal | None] = {}
        self._values: dict[int, Decimal] = {}

    def values_in(self, tree: ast.Module) -> set[Decimal]:
        """Return the value of each such expression."""
        nodes = list(ast.walk(tree))[:_MOST_STEPS]
        found = set[Decimal]()
        with decimal.localcontext(prec=_DIGITS, Emax=9_999, Emin=-9_999):
            for statement in nodes:
                match statement:
                    case ast.Assign(targets=targets, value=assigned):
                        self._assign(targets, self._value(assigned))
                    case ast.AnnAssign(target=target, value=ast.expr() as assigned):
                        self._assign([target], self._value(assigned))
                    case ast.AugAssign(target=target):
                        self._assign([target], None)
                    case _:
                        pass
            for node in reversed(nodes):  # what is inside comes before what it is inside of
                if isinstance(node, ast.BinOp | ast.Call | ast.UnaryOp):
                    value = self._value(node)
                    if value is not None:
                        self._values[id(node)] = value
                        found.add(value)
        return found

    def _assign(self, targets: Sequence[ast.expr], value: Decimal | None) -> None:
        for target in targets:
            if isinstance(target, ast.Name):
                known = target.id in self._names and self._names[target.id] != value
                self._names[target.id] = None if known else value

    def _value(self, node: ast.AST, depth: int = 0) -> Decimal | None:
        if id(node) in self._values:
            return self._values[id(node)]
        if depth > 50:
            return None
        try:
            return self._computed(node, depth + 1)
        except (ArithmeticError, ValueError, LookupError, TypeError):
            return None

    def _computed(self, node: ast.AST, depth: int) -> Decimal | None:
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return Decimal(repr(number))
            case ast.Name(id=name):
                return self._names.get(name)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                value = self._value(inner, depth)
                return None if value is None else -value
            case ast.BinOp(left=left, op=operator, right=right):
                values = self._all([left, right], depth)
                return _OPERATIONS[type(operator)](*values) if values else None
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in _FUNCTIONS:
                values = self._all(_items(arguments), depth)
                return _FUNCTIONS[name](values) if values else None
        return None

    def _all(self, nodes: Sequence[ast.AST], depth: int) -> list[Decimal]:
        values = [self._value(node, depth) for node in nodes]
        return [value for value in values if value is not None] if None not in values else []


def _items(arguments: Sequence[ast.expr]) -> Sequence[Any]:
    """Return the arguments of a function of many numbers, also where they are in one list."""
    match arguments:
        case [ast.List(elts=items) | ast.Tuple(elts=items)]:
            return items
        case _:
            return arguments
