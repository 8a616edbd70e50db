"""The table of the differential test: `python -m tests.values [--cache FOLDER] [PACKAGE…]`.

Reads the files of packages with our reader and with others, and prints what differs. What is missing
is downloaded, some 150 MB. Exit code 1 if a difference is not explained, or a package is missing."""

from __future__ import annotations

import argparse
import multiprocessing
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.values import packages
from tests.values.checking import Checked, check, known_differences

_SECONDS = 300  # of computing, for one file and all readers
_LARGEST = 40_000_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.values", description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "slack-answer-bot")
    parser.add_argument("package", nargs="*", help="only these; all without")
    asked = parser.parse_args()
    try:
        packages.add_readers(asked.cache / "readers")
    except packages.Unreachable as error:
        print(error, file=sys.stderr)
        return 1
    seen: Counter[str] = Counter()
    missing = 0
    reasons: Counter[str] = Counter()
    print(f"{'package':<22} files  same  told known refused  UNEXPLAINED")
    for kind, package in _chosen(asked.package):
        try:
            archive = packages.archive(kind, package, asked.cache)
        except packages.Unreachable as error:
            missing += 1
            print(f"{package:<22} MISSING: {error}", flush=True)
            continue
        counts = Counter[str]()
        with archive.open("rb") as opened, multiprocessing.Pool(2) as pool:
            found = ((name, data) for name, data in packages.files(opened) if len(data) < _LARGEST)
            for each in pool.imap_unordered(_checked, found):
                counts[each.outcome] += 1
                reasons.update(known.reason for known in each.known)
                for line in each.silent:
                    print(f"  {each.file}: {line[:200]}")
        missing += not counts
        seen += counts
        _print(package, counts)
    _print("all", seen)
    for reason, count in reasons.most_common():
        print(f"{count:5} × {reason}")
    for known in known_differences():
        if not asked.package and not reasons[known.reason]:
            print(f"Not seen any more: {known.difference}")
    return int(seen["silent"] > 0 or missing > 0 or not seen)


def _chosen(asked: list[str]) -> Iterator[tuple[str, str]]:
    for kind, names in (
        ("wheel", packages.WHEELS),
        ("source", packages.SOURCES),
        ("npm", packages.NPM),
    ):
        yield from ((kind, name) for name in names if not asked or name in asked)


def _checked(file: tuple[str, bytes]) -> Checked:
    signal.signal(signal.SIGPROF, _give_up)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS)
    try:
        return check(*file)
    except Exception as error:  # noqa: BLE001 - a reader that breaks is a line of the table
        return Checked(file[0], silent=[f"{type(error).__name__}: {error}"])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _give_up(*_: object) -> None:
    raise TimeoutError(f"not read in {_SECONDS} s")


def _print(package: str, counts: Counter[str]) -> None:
    columns = (counts[each] for each in ("same", "told", "known", "refused", "silent"))
    same, told, known, refused, silent = columns
    print(
        f"{package:<22} {counts.total():5} {same:5} {told:5} {known:5} {refused:7} {silent:12}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
