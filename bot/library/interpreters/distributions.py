"""Distribution functions and their inverses, as floats, for SQL and for tests of tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from statistics import NormalDist

_NORMAL = NormalDist()
_MOST_STEPS = 20_000
_PRECISION = 1e-15
_TINY = 1e-300


def normal_cdf(x: float) -> float:
    """Return the share of a standard normal distribution below x."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


def normal_quantile(share: float) -> float:
    """Return the x below which a share of a standard normal distribution is."""
    return _NORMAL.inv_cdf(share)


def t_cdf(x: float, df: float) -> float:
    """Return the share of Student's t distribution below x."""
    tail = t_two_sided(x, df) / 2
    return 1 - tail if x > 0 else tail


def t_two_sided(x: float, df: float) -> float:
    """Return the share of Student's t distribution that is further from 0 than x."""
    square = x * x
    if square < df:  # the other fraction is too close to 1 to be written
        return 1 - _beta(0.5, df / 2, square / (df + square))
    return _beta(df / 2, 0.5, df / (df + square))


def t_quantile(share: float, df: float) -> float:
    """Return the x below which a share of Student's t distribution is."""
    return _solved(lambda x: t_cdf(x, df), share, -math.inf)


def f_cdf(x: float, df1: float, df2: float) -> float:
    """Return the share of an F distribution below x."""
    return 1 - f_above(x, df1, df2)


def f_above(x: float, df1: float, df2: float) -> float:
    """Return the share of an F distribution above x."""
    if x <= 0:
        return 1.0
    return _beta(df2 / 2, df1 / 2, df2 / (df2 + df1 * x))


def f_quantile(share: float, df1: float, df2: float) -> float:
    """Return the x below which a share of an F distribution is."""
    return _solved(lambda x: f_cdf(x, df1, df2), share, 0.0)


def chi2_cdf(x: float, df: float) -> float:
    """Return the share of a chi-squared distribution below x."""
    return _gamma(df / 2, x / 2)[0]


def chi2_above(x: float, df: float) -> float:
    """Return the share of a chi-squared distribution above x."""
    return _gamma(df / 2, x / 2)[1]


def chi2_quantile(share: float, df: float) -> float:
    """Return the x below which a share of a chi-squared distribution is."""
    return _solved(lambda x: chi2_cdf(x, df), share, 0.0)


FUNCTIONS: Mapping[str, tuple[Callable[..., float], int]] = {
    "normal_cdf": (normal_cdf, 1),
    "normal_quantile": (normal_quantile, 1),
    "t_cdf": (t_cdf, 2),
    "t_quantile": (t_quantile, 2),
    "f_cdf": (f_cdf, 3),
    "f_quantile": (f_quantile, 3),
    "chi2_cdf": (chi2_cdf, 2),
    "chi2_quantile": (chi2_quantile, 2),
}
"""The functions that SQL and calculations know, by name, with the number of their arguments."""


def _beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function, by its continued fraction (DLMF 8.17.22) in the
    form of Lentz. Raises ValueError where it does not converge, or is not defined."""
    if not (a > 0 and b > 0 and 0 <= x <= 1):
        raise ValueError("degrees of freedom are above 0")
    if x in (0, 1):
        return x
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, 1 - x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    log_front += a * math.log(x) + b * math.log1p(-x)

    def terms() -> Iterator[float]:
        yield 1.0
        for m in range(_MOST_STEPS):
            if m:
                yield m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
            yield -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))

    return math.exp(log_front) / a * _continued(terms(), lambda _: 1.0)


def _gamma(a: float, x: float) -> tuple[float, float]:
    """Return the regularized incomplete gamma functions P and Q: the series (DLMF 8.11.4) below the
    mean, the continued fraction (DLMF 8.9.2) above it. Raises ValueError as `_beta` does."""
    if not a > 0:
        raise ValueError("degrees of freedom are above 0")
    if x <= 0:
        return 0.0, 1.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        for step in range(1, _MOST_STEPS):
            term *= x / (a + step)
            total += term
            if term < total * _PRECISION:
                return front * total, 1 - front * total
        raise ValueError("it does not converge")

    def terms() -> Iterator[float]:
        yield 1.0
        yield from (-k * (k - a) for k in range(1, _MOST_STEPS))

    above = front * _continued(terms(), lambda k: x + 2 * k + 1 - a)
    return 1 - above, above


def _continued(terms: Iterator[float], denominator: Callable[[int], float]) -> float:
    """Return the value of a continued fraction. Raises ValueError where it does not converge."""
    value, c, d = _TINY, _TINY, 0.0
    for k, term in enumerate(terms):
        b = denominator(k)
        d = 1 / ((b + term * d) or _TINY)
        c = (b + term / c) or _TINY
        value *= c * d
        if k and abs(c * d - 1) < _PRECISION:
            return value
    raise ValueError("it does not converge")


def _solved(cdf: Callable[[float], float], share: float, low: float) -> float:
    """Return the x at which an increasing function has a value between 0 and 1, by halving. Raises
    ValueError for another value."""
    if not 0 < share < 1:
        raise ValueError("a share is between 0 and 1")
    high = 1.0
    while cdf(high) < share:
        high *= 2
    if low == -math.inf:
        low = -1.0
        while cdf(low) > share:
            low *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if cdf(middle) < share else (low, middle)
    return (low + high) / 2
