"""The table of the check: `python -m tests.evidence [--alarms] [--speed]`.

Prints, by set, style of numbers and kind of corruption, how many claims of right answers are flagged
and how many wrong ones are caught. `--alarms` names the false alarms, `--speed` prints what hostile
pages and the labelled answers cost, in seconds of a core.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from bot.evidence.arguments import Arguments
from bot.evidence.entries import Entry
from bot.evidence.indexing import index
from tests.evidence.corruptions import HARD_KINDS, KINDS, catches
from tests.evidence.labelled import SETS, Labelled, answers, checked, localised, score
from tests.unit.evidence.test_properties import HOSTILE

_TRIES = 3  # corruptions of one kind of each answer


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.evidence", description=__doc__)
    parser.add_argument("--alarms", action="store_true", help="name the false alarms")
    parser.add_argument("--speed", action="store_true", help="print what it costs")
    asked = parser.parse_args()
    if asked.speed:
        _print_speed()
        return
    print(f"{'right answers':<24} answers claims false alarms   no head arithmetic  wrong, caught")
    for source in SETS:
        _print_score(source, answers(source), alarms=asked.alarms)
    everything = [each for source in SETS for each in answers(source)]
    _print_groups("in", everything, lambda each: each.locale, alarms=False)
    rewritten = [each for source in SETS for each in localised(source)]
    _print_groups("rewritten for", rewritten, lambda each: each.locale, alarms=asked.alarms)
    _print_groups("about", everything, lambda each: each.world, alarms=False)
    print(f"\n{'corruptions':<36}" + "".join(f"{source:>16}" for source in SETS))
    for kinds in (KINDS, HARD_KINDS):
        totals = dict.fromkeys(SETS, (0, 0))
        for name, kind in kinds.items():
            found = {s: catches(answers(s), kind, tries=_TRIES) for s in SETS}
            print(f"{name:<36}" + "".join(f"{_share(*found[s]):>16}" for s in SETS))
            totals = {s: (totals[s][0] + found[s][0], totals[s][1] + found[s][1]) for s in SETS}
        if kinds is KINDS:
            print(f"{'all of these':<36}" + "".join(f"{_share(*totals[s]):>16}" for s in SETS))


def _share(caught: int, tried: int) -> str:
    return f"{caught}/{tried} {caught / tried:4.0%}" if tried else "–"


def _print_groups(
    title: str, given: Iterable[Labelled], key: Callable[[Labelled], str], *, alarms: bool
) -> None:
    groups = defaultdict(list)
    for each in given:
        groups[key(each)].append(each)
    for name, members in sorted(groups.items()):
        _print_score(f"{title} {name}", members, alarms=alarms)


def _print_score(name: str, given: Sequence[Labelled], *, alarms: bool) -> None:
    found, false = score(given)
    without_head = found.alarms - found.head_alarms
    print(
        f"{name:<24} {found.answers:>7} {found.claims:>6} {found.alarms:>4} {found.rate:>7.1%} "
        f"{without_head:>12} {found.rate_without_head:>7.1%} {found.caught:>10}/{found.wrong}"
    )
    for answer, finding in false if alarms else ():
        head = " (head arithmetic)" if answer.label_of(finding) == "head" else ""
        print(f"    {answer.name} {finding.field}: {finding.text} {finding.reason}{head}")


def _print_speed() -> None:
    print("indexing 1 MB of           seconds of a core")
    for name, part in HOSTILE.items():
        text = (part * 1_000_000)[:1_000_000]
        start = time.process_time()
        index(Entry("c", "t", text))
        print(f"{name:<26} {time.process_time() - start:.2f}")
    print("arguments with 1 MB of")
    for name, part in HOSTILE.items():
        text = "select " + (part * 1_000_000)[:1_000_000]
        arguments = json.dumps({"sql": text})
        start = time.process_time()
        Arguments.of(Entry("c", "t", "", arguments=arguments))
        print(f"{name:<26} {time.process_time() - start:.2f}")
    taken = []
    for each in [each for source in SETS for each in answers(source)]:
        start = time.process_time()
        checked(each.result, each.world)
        taken.append(time.process_time() - start)
    taken.sort()
    mean, worst = sum(taken) / len(taken), taken[-2]  # the first loads the names of months
    print(
        f"check of a labelled answer: {mean * 1000:.0f} ms on average, {worst * 1000:.0f} ms at worst"
    )


if __name__ == "__main__":
    main()
