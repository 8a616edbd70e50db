"""Arithmetic is exact, and a mistake says what it is."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import ToolError
from tools.calculation import calculate


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("0.1 + 0.2", "0.3"),
        ("1 / 3", "0.333333333333333"),
        ("2 ^ 10", "1024"),
        ("2 * 3 ^ 2", "18"),
        ("15% of 240", "36"),
        ("100 / 5%", "2000"),
        ("(2 + 3)% * 100", "5"),
        ("200 * (1 + 19%)", "238"),
        ("10 % 3", "1"),
        ("7 // 2", "3"),
        ("-5 ** 2", "-25"),
        ("round(2.675, 2)", "2.68"),
        ("round(1234567, -3)", "1235000"),
        ("change(980, 1250)", "27.5510204081633"),
        ("mean(1, 2, 6) + median(1, 9, 5) + max(2, 3)", "11"),
        ("stdev(2, 4, 4, 4, 5, 5, 7, 9)", "2.1380899352994"),
        ("sqrt(2) * sqrt(2)", "2"),
        ("ln(e)", "1"),
        ("comb(5, 2)", "10"),
        ("factorial(25)", "15511210043330985984000000"),
        ("12 × 3 ÷ 4 − 1 =", "8"),
        ("1e300 * 1e300", "1E+600"),
        ("round(2 * t_cdf(-2.2, 12), 6)", "0.048137"),
        ("round(normal_quantile(0.975), 6)", "1.959964"),
        ("round(1 - f_cdf(4.2, 2, 27), 6)", "0.025815"),
        ("round(chi2_quantile(0.95, 3), 6)", "7.814728"),
    ],
)
def test_results_are_right_to_the_last_digit(expression: str, result: str) -> None:
    assert calculate(expression) == f"result: {result}\nexpression: {expression}"


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("1 / 0", "divides by zero"),
        ("1,234 * 2", "without thousands separators"),
        ("revenue * 2", "no 'revenue' here"),
        ("frobnicate(2)", "no function frobnicate"),
        ("sqrt(-1)", "no value"),
        ("stdev(1)", "no value"),
        ("t_quantile(1.5, 3)", "no value"),
        ("f_cdf(1, 0, 3)", "no value"),
        ("t_cdf(1)", "not an arithmetic"),
        ("9 ** 9 ** 9", "exponent may be up to"),
        ("1e400", "too large"),
        ("1e300 ** 2000", "too large"),
        ("factorial(1000000)", "0 to 500"),
        ("'a' * 3", "Only numbers"),
        ("__import__('os').system('id')", "not an arithmetic|no function|no '"),
        ("().__class__", "not an arithmetic"),
        ("[x for x in (1, 2)]", "not an arithmetic|one number"),
        ("1 < 2", "one number"),
        ("1 +", "not an arithmetic"),
        ("2 + 2\n3 + 3", "not an arithmetic"),
        ("1; 2", "not an arithmetic"),
        ("(" * 400, "not an arithmetic"),
    ],
)
def test_a_mistake_says_what_it_is(expression: str, why: str) -> None:
    with pytest.raises(ToolError, match=why):
        calculate(expression)


@given(st.text(max_size=60))
def test_whatever_is_given_ends_in_a_result_or_a_sentence(expression: str) -> None:
    with contextlib.suppress(ToolError):
        assert calculate(expression).startswith("result: ")
