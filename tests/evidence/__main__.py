"""The table of tracing: `python -m tests.evidence [--alarms]`.

Prints, by set, language and kind of corruption, how many right claims are found and how many are
warned of, and how many wrong ones are told. `--alarms` names the false alarms.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence

from tests.evidence.corruptions import OTHER_ROWS, SURE, catches
from tests.evidence.labelled import SETS, Labelled, answers, localised, score

_TRIES = 3  # corruptions of one kind of each answer


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.evidence", description=__doc__)
    parser.add_argument("--alarms", action="store_true", help="name the false alarms")
    asked = parser.parse_args()
    print(
        f"{'right answers':<24} answers claims  found  alarms  answers with one  wrong, certified"
    )
    groups = defaultdict[str, list[Labelled]](list)
    for source in SETS:
        for answer in answers(source):
            groups[source].append(answer)
            groups[f"in {answer.locale}"].append(answer)
        for answer in localised(source):
            groups[f"rewritten for {answer.locale}"].append(answer)
    for name, members in groups.items():
        _print_score(name, members, alarms=asked.alarms)
    print(f"\n{'corruptions':<36}" + "".join(f"{source:>16}" for source in SETS))
    for name, kind in {**SURE, **OTHER_ROWS}.items():
        counts = [catches(answers(source), kind, tries=_TRIES) for source in SETS]
        print(f"{name:<36}" + "".join(f"{_share(*count):>16}" for count in counts))


def _share(caught: int, tried: int) -> str:
    return f"{caught}/{tried} {caught / tried:4.0%}" if tried else "–"


def _print_score(name: str, members: Sequence[Labelled], *, alarms: bool) -> None:
    total, false = score(members)
    print(
        f"{name:<24} {total.answers:>7} {total.claims:>6} {total.found / total.claims:>6.1%} "
        f"{total.alarms:>7} {total.with_alarm:>17} {total.passed:>14}/{total.wrong}"
    )
    for answer, finding in false if alarms else ():
        print(f"    {answer.name} {finding.field}: {finding.text} {finding.reason}")


if __name__ == "__main__":
    main()
