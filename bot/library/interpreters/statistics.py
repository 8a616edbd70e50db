"""Tests of hypotheses on the columns of a table.

Each takes columns or groups of numbers, and returns rows, with what it assumes. References: the definitions in R's `stats` and in SciPy's `scipy.stats`, whose results
the tests compare.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bot.library.interpreters import distributions
from bot.library.isolated import Refused

Floats = np.ndarray[Any, np.dtype[np.float64]]
Row = dict[str, object]

_MOST_EXACT, _MOST_BESIDE = 8, 100
"""Values of the smaller and of the larger group with which ranks are counted exactly."""
_NOISE = 1e-12
"""The share of a value below which a difference is rounding."""
_MOST_SHAPIRO = 5_000
_MOST_GROUPS = 50


@dataclass(frozen=True)
class Tested:
    """The rows of a result, and sentences on what it assumes."""

    rows: Sequence[Row]
    notes: Sequence[str] = ()


def with_gaps(column: Any) -> Floats:
    """Return a column with NaN in the place of missing values."""
    return np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan)


def present(columns: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return columns without their missing values."""
    return {name: values[~np.isnan(values)] for name, values in columns.items()}


def grouped(values: Floats, names: Any) -> dict[str, Floats]:
    """Return the values of each group, in the order of their names. Raises Refused for too many."""
    texts: Any = np.ma.filled(np.ma.asarray(names, dtype=object), None)
    known = sorted({name for name in texts if name is not None})
    _check(
        len(known) <= _MOST_GROUPS, f"It has {len(known):,} groups; {_MOST_GROUPS} can be compared."
    )
    return {name: values[texts == name] for name in known}


def correlation(columns: Mapping[str, Floats], *, ranks: bool = False) -> Tested:
    """Correlate each pair of columns: Pearson's r, or Spearman's of the ranks."""
    rows: list[Row] = []
    names = list(columns)
    for at, first in enumerate(names):
        for second in names[at + 1 :]:
            a, b = columns[first], columns[second]
            present = ~(np.isnan(a) | np.isnan(b))
            a, b = a[present], b[present]
            _check(len(a) >= 3, f"{first} and {second} have fewer than 3 rows in common.")
            if ranks:
                a, b = _ranks(a), _ranks(b)
            _check(_varies(a) and _varies(b), f"{first} or {second} has one value only.")
            r = float(np.clip(np.corrcoef(a, b)[0, 1], -1, 1))
            df = len(a) - 2
            t = math.inf if abs(r) == 1 else r * math.sqrt(df / (1 - r * r))
            p = 0.0 if math.isinf(t) else distributions.t_two_sided(t, df)
            rows.append({"a": first, "b": second, "r": r, "p_value": p, "n": len(a)})
    kind = "the ranks (Spearman); p approximated by t" if ranks else "straight lines (Pearson)"
    return Tested(
        rows, (f"about {kind}; two-sided; rows with a missing value of the pair left out",)
    )


def t_test(groups: Mapping[str, Floats], *, kind: str) -> Tested:
    """Compare two means: `welch` (other variances), `student` (equal ones), `paired` (row by row)."""
    (first, a), (second, b) = _two(groups)
    if kind == "paired":
        whole = ~(np.isnan(a) | np.isnan(b)) if len(a) == len(b) else slice(None)
        a, b = a[whole], b[whole]
        _check(len(a) == len(b) and len(a) >= 2, "A paired test needs two values in each row.")
        difference = a - b
        spread = float(np.abs(difference).max())
        _check(difference.std() > spread * _NOISE, "The differences do not vary.")
        error = difference.std(ddof=1) / math.sqrt(len(difference))
        df = float(len(difference) - 1)
        mean = float(difference.mean())
        notes = ["paired: each row has both values; the differences are about normal; two-sided"]
    else:
        _check(min(len(a), len(b)) >= 2, "Each group needs 2 values or more.")
        va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
        mean = float(a.mean() - b.mean())
        _check(_varies(a) or _varies(b), "The values of both groups do not vary.")
        if kind == "student":
            df = float(len(a) + len(b) - 2)
            pooled = (a.var(ddof=1) * (len(a) - 1) + b.var(ddof=1) * (len(b) - 1)) / df
            error = math.sqrt(pooled * (1 / len(a) + 1 / len(b)))
            notes = ["Student: equal variances, values about normal; two-sided"]
        else:
            error = math.sqrt(va + vb)
            df = float((va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1)))
            notes = ["Welch: variances may differ, values about normal; two-sided"]
    _check(error > 0, "The values do not vary.")
    t = mean / error
    row: Row = {
        "a": first,
        "b": second,
        "mean_a": float(a.mean()),
        "mean_b": float(b.mean()),
        "difference": mean,
        "t": t,
        "df": df,
        "p_value": distributions.t_two_sided(t, df),
        "n_a": len(a),
        "n_b": len(b),
    }
    return Tested([row], notes)


def anova(groups: Mapping[str, Floats]) -> Tested:
    """Compare the means of two or more groups."""
    _check(len(groups) >= 2, "It needs two groups or more.")
    values = list(groups.values())
    _check(min(map(len, values)) >= 2, "Each group needs 2 values or more.")
    total = np.concatenate(values)
    between = sum(len(group) * (group.mean() - total.mean()) ** 2 for group in values)
    within = sum(((group - group.mean()) ** 2).sum() for group in values)
    df1, df2 = len(values) - 1, len(total) - len(values)
    _check(any(map(_varies, values)), "The values do not vary within the groups.")
    f = float((between / df1) / (within / df2))
    row: Row = {
        "f": f,
        "df_between": df1,
        "df_within": df2,
        "p_value": distributions.f_above(f, df1, df2),
        "groups": len(values),
        "n": len(total),
    }
    means: list[Row] = [
        {"group": name, "n": len(group), "mean": float(group.mean())}
        for name, group in groups.items()
    ]
    text = "; ".join(
        f"{row['group']}: mean {row['mean']:.6g} of {row['n']:,}" for row in means[:20]
    )
    return Tested([row], ("equal variances, values about normal within groups", text))


def mann_whitney(groups: Mapping[str, Floats]) -> Tested:
    """Compare two groups by ranks."""
    (first, a), (second, b) = _two(groups)
    _check(min(len(a), len(b)) >= 1, "Each group needs a value.")
    ranks = _ranks(np.concatenate([a, b]))
    n1, n2 = len(a), len(b)
    fewer, more = sorted((n1, n2))
    u = float(ranks[:n1].sum() - n1 * (n1 + 1) / 2)
    counts = np.unique(ranks, return_counts=True)[1]
    has_ties = bool((counts > 1).any())
    if fewer <= _MOST_EXACT and more <= _MOST_BESIDE and not has_ties:
        p = min(1.0, 2 * _exact_above(max(u, n1 * n2 - u), fewer, more))
        how = "exact"
    else:
        n = n1 + n2
        ties = float((counts**3 - counts).sum())
        deviation = math.sqrt(n1 * n2 / 12 * ((n + 1) - ties / (n * (n - 1))))
        _check(deviation > 0, "All values are the same.")
        z = (max(u, n1 * n2 - u) - n1 * n2 / 2 - 0.5) / deviation
        p = min(1.0, 2 * distributions.normal_cdf(-z))
        how = "normal approximation, corrected for ties and continuity"
    row: Row = {
        "a": first,
        "b": second,
        "u": u,
        "p_value": p,
        "median_a": float(np.median(a)),
        "median_b": float(np.median(b)),
        "n_a": n1,
        "n_b": n2,
    }
    return Tested([row], (f"distributions of the same shape; two-sided; {how}",))


def chi_squared(pairs: Sequence[tuple[str, str, int]]) -> Tested:
    """Test whether two columns of categories are independent, from the counts of their pairs."""
    first = list(dict.fromkeys(a for a, _, _ in pairs))
    second = list(dict.fromkeys(b for _, b, _ in pairs))
    _check(len(first) >= 2 and len(second) >= 2, "Each column needs two values or more.")
    counts = np.zeros((len(first), len(second)))
    for a, b, count in pairs:
        counts[first.index(a), second.index(b)] = count
    expected = counts.sum(1, keepdims=True) * counts.sum(0, keepdims=True) / counts.sum()
    df = (len(first) - 1) * (len(second) - 1)
    distance = np.abs(counts - expected)
    if df == 1:
        distance -= np.minimum(0.5, distance)
    chi2 = float((distance**2 / expected).sum())
    row: Row = {
        "chi2": chi2,
        "df": df,
        "p_value": distributions.chi2_above(chi2, df),
        "least_expected": float(expected.min()),
        "n": int(counts.sum()),
    }
    notes = ["rows are independent of one another"]
    notes += ["Yates's correction, as the table is 2 × 2"] if df == 1 else []
    notes += ["an expected count is below 5: the p-value is rough"] if expected.min() < 5 else []
    return Tested([row], notes)


def shapiro(columns: Mapping[str, Floats]) -> Tested:
    """Test whether the values of each column are normal: Shapiro and Wilk, in Royston's form (1995)."""
    rows: list[Row] = []
    for name, values in present(columns).items():
        _check(3 <= len(values) <= _MOST_SHAPIRO, f"{name} needs 3 to {_MOST_SHAPIRO:,} values.")
        ordered = np.sort(values)
        _check(ordered[0] < ordered[-1], f"{name} has one value only.")
        w, p = _shapiro_wilk(ordered)
        rows.append({"column": name, "w": w, "p_value": p, "n": len(values)})
    return Tested(rows, ("a small p-value speaks against a normal distribution",))


def _shapiro_wilk(ordered: Floats) -> tuple[float, float]:
    n = len(ordered)
    m = np.array([distributions.normal_quantile((i - 0.375) / (n + 0.25)) for i in range(1, n + 1)])
    norm = float((m**2).sum())
    weights = m / math.sqrt(norm)
    if n > 3:
        u = 1 / math.sqrt(n)
        last = np.polyval([-2.706056, 4.434685, -2.071190, -0.147981, 0.221157, weights[-1]], u)
        if n > 5:
            before = np.polyval(
                [-3.582633, 5.682633, -1.752461, -0.293762, 0.042981, weights[-2]], u
            )
            rest = (norm - 2 * m[-1] ** 2 - 2 * m[-2] ** 2) / (1 - 2 * last**2 - 2 * before**2)
            weights = m / math.sqrt(rest)
            weights[[0, -1]], weights[[1, -2]] = (-last, last), (-before, before)
        else:
            rest = (norm - 2 * m[-1] ** 2) / (1 - 2 * last**2)
            weights = m / math.sqrt(rest)
            weights[[0, -1]] = -last, last
    else:
        weights = np.array([-math.sqrt(0.5), 0.0, math.sqrt(0.5)])
    centred = ordered - ordered.mean()
    w = float(min(1.0, (weights @ centred) ** 2 / (centred @ centred)))
    if n == 3:
        p = 6 / math.pi * (math.asin(math.sqrt(w)) - math.asin(math.sqrt(0.75)))
        return w, max(0.0, p)
    if w == 1.0:
        return w, 1.0
    y, log_n = math.log(1 - w), math.log(n)
    if n <= 11:
        gamma = -2.273 + 0.459 * n
        if y >= gamma:
            return w, 1e-99
        y = -math.log(gamma - y)
        mean = np.polyval([-0.0006714, 0.025054, -0.39978, 0.5440], n)
        deviation = math.exp(np.polyval([-0.0020322, 0.062767, -0.77857, 1.3822], n))
    else:
        mean = np.polyval([0.0038915, -0.083751, -0.31082, -1.5861], log_n)
        deviation = math.exp(np.polyval([0.0030302, -0.082676, -0.4803], log_n))
    return w, distributions.normal_cdf(-(y - float(mean)) / deviation)


def kolmogorov_smirnov(groups: Mapping[str, Floats]) -> Tested:
    """Compare the distributions of two groups, or of one with the normal one of its mean and
    deviation."""
    if len(groups) == 1:
        [(name, values)] = groups.items()
        _check(len(values) >= 3 and _varies(values), f"{name} needs 3 different values.")
        ordered = np.sort(values)
        scaled = (ordered - values.mean()) / values.std(ddof=1)
        cdf = np.array([distributions.normal_cdf(x) for x in scaled])
        n = len(ordered)
        steps = np.arange(1, n + 1) / n
        d = float(max((steps - cdf).max(), (cdf - steps + 1 / n).max()))
        row: Row = {"column": name, "d": d, "p_value": _kolmogorov(d, float(n)), "n": n}
        return Tested(
            [row],
            (
                "against a normal distribution with this mean and deviation; as these come from the "
                "values, the p-value is too large: prefer shapiro",
                "asymptotic p-value",
            ),
        )
    (first, a), (second, b) = _two(groups)
    _check(min(len(a), len(b)) >= 1, "Each group needs a value.")
    both = np.sort(np.concatenate([a, b]))
    shares = [np.searchsorted(np.sort(g), both, side="right") / len(g) for g in (a, b)]
    d = float(np.abs(shares[0] - shares[1]).max())
    p = _kolmogorov(d, len(a) * len(b) / (len(a) + len(b)))
    row = {"a": first, "b": second, "d": d, "p_value": p, "n_a": len(a), "n_b": len(b)}
    return Tested([row], ("continuous values; two-sided", "asymptotic p-value"))


def _kolmogorov(d: float, n: float) -> float:
    """Return the share of Kolmogorov's distribution above d, for n values."""
    x = d * math.sqrt(n)
    if x < 0.2:
        return 1.0
    total = sum(math.exp(-2 * (k * x) ** 2) * (1 if k % 2 else -1) for k in range(1, 101))
    return min(1.0, max(0.0, 2 * total))


def regression(outcome: str, columns: Mapping[str, Floats]) -> tuple[Tested, Row]:
    """Explain the column `outcome` by the others, by least squares. Return the terms, and how well they
    explain it."""
    names = [name for name in columns if name != outcome]
    _check(bool(names), "It needs a column beside the outcome.")
    present = ~np.isnan(np.column_stack(list(columns.values()))).any(axis=1)
    y = columns[outcome][present]
    x = np.column_stack([np.ones(len(y)), *(columns[name][present] for name in names)])
    n, k = x.shape
    _check(n > k, f"{n} rows are too few for {k} terms.")
    _check(int(np.linalg.matrix_rank(x)) == k, "A column is a combination of others: leave it out.")
    coefficients = np.linalg.lstsq(x, y, rcond=None)[0]
    residuals = y - x @ coefficients
    left = float(residuals @ residuals)
    total = float(((y - y.mean()) ** 2).sum())
    _check(_varies(y), f"{outcome} has one value only.")
    errors = np.sqrt(np.diag(np.linalg.inv(x.T @ x)) * left / (n - k))
    rows: list[Row] = []
    for name, value, error in zip(["intercept", *names], coefficients, errors, strict=True):
        t = float(value / error) if error else math.inf
        p = distributions.t_two_sided(t, n - k) if math.isfinite(t) else 0.0
        rows.append(
            {
                "term": name,
                "coefficient": float(value),
                "std_error": float(error),
                "t": t,
                "p_value": p,
            }
        )
    r2 = 1 - left / total
    f = math.inf if left == 0 else ((total - left) / (k - 1)) / (left / (n - k))
    fit: Row = {
        "r_squared": r2,
        "adjusted_r_squared": 1 - (1 - r2) * (n - 1) / (n - k),
        "f": f,
        "p_value": distributions.f_above(f, k - 1, n - k) if math.isfinite(f) else 0.0,
        "n": n,
    }
    notes = (
        "ordinary least squares: straight lines, errors independent, about normal, of equal variance",
        "rows with a missing value left out",
    )
    return Tested(rows, notes), fit


def _two(groups: Mapping[str, Floats]) -> tuple[tuple[str, Floats], tuple[str, Floats]]:
    if len(groups) != 2:
        known = ", ".join(list(groups)[:10])
        raise Refused(f"It compares two groups; there are {len(groups)}: {known}.")
    first, second = groups.items()
    return first, second


def _ranks(values: Floats) -> Floats:
    """Return the rank of each value from 1; equal ones share the mean of theirs."""
    _, at, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    means: Floats = last - (counts - 1) / 2
    return means[at]


def _exact_above(u: float, n1: int, n2: int) -> float:
    """Return the share of orders of two groups without ties whose U is at least `u`."""
    ways: Counter[tuple[int, int]] = Counter({(0, 0): 1})
    for rank in range(1, n1 + n2 + 1):
        for (taken, total), count in [*ways.items()]:
            if taken < n1:
                ways[taken + 1, total + rank - taken - 1] += count
    sums = {total: count for (taken, total), count in ways.items() if taken == n1}
    above = sum(count for total, count in sums.items() if total >= u - 1e-9)
    return float(above / math.comb(n1 + n2, n1))


def _varies(values: Floats) -> bool:
    return bool(values.max() > values.min())


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Refused(otherwise)


ON_GROUPS: Mapping[str, Callable[[Mapping[str, Floats]], Tested]] = {
    "welch": lambda groups: t_test(groups, kind="welch"),
    "student": lambda groups: t_test(groups, kind="student"),
    "paired": lambda groups: t_test(groups, kind="paired"),
    "anova": anova,
    "mann_whitney": mann_whitney,
    "ks": kolmogorov_smirnov,
}
ON_COLUMNS: Mapping[str, Callable[[Mapping[str, Floats]], Tested]] = {
    "pearson": correlation,
    "spearman": lambda columns: correlation(columns, ranks=True),
    "shapiro": shapiro,
}
