"""A small shop's database with fixed content, for trying questions."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

_SCHEMA = """
CREATE TABLE customers (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, region TEXT NOT NULL, plan TEXT NOT NULL,
  since DATE NOT NULL
);
CREATE TABLE products (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, price REAL NOT NULL
);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id),
  product_id INTEGER NOT NULL REFERENCES products (id), quantity INTEGER NOT NULL,
  amount REAL NOT NULL, ordered_on DATE NOT NULL
);
CREATE TABLE tickets (
  id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id),
  subject TEXT NOT NULL, priority TEXT NOT NULL, status TEXT NOT NULL,
  opened_on DATE NOT NULL, closed_on DATE
);
"""
_FIRST_DAY = date(2026, 1, 1)
_REGIONS = ("North", "South", "East", "West")
_PLANS = ("Free", "Team", "Business")
_NAMES = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Ginkgo", "Hazel", "Juniper", "Larch")
_FORMS = ("Bakery", "Clinic", "Studio", "Works")
_PRODUCTS = (
    ("Desk lamp", "Office", 39.0),
    ("Standing desk", "Office", 420.0),
    ("Office chair", "Office", 260.0),
    ("Espresso beans", "Kitchen", 14.5),
    ("Kettle", "Kitchen", 48.0),
    ("Notebook", "Paper", 6.0),
    ("Planner", "Paper", 18.0),
    ("Headset", "Electronics", 89.0),
    ("Webcam", "Electronics", 75.0),
    ("Monitor", "Electronics", 310.0),
)
_SUBJECTS = (
    "Late delivery",
    "Wrong item",
    "Invoice question",
    "Broken on arrival",
    "Cannot log in",
)


def build(path: Path) -> None:
    """Write the database to `path`, replacing an existing file.

    It has 40 customers, 10 products, 800 orders and 160 support tickets of January to October 2026.
    """
    chance = random.Random(2026)  # noqa: S311 - sample data
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(_SCHEMA)
        database.executemany("INSERT INTO customers VALUES (?, ?, ?, ?, ?)", _customers(chance))
        database.executemany(
            "INSERT INTO products VALUES (?, ?, ?, ?)",
            [(number, *product) for number, product in enumerate(_PRODUCTS, start=1)],
        )
        database.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)", _orders(chance))
        database.executemany("INSERT INTO tickets VALUES (?, ?, ?, ?, ?, ?, ?)", _tickets(chance))


def _customers(chance: random.Random) -> list[tuple[object, ...]]:
    names = [f"{name} {form}" for form in _FORMS for name in _NAMES]
    return [
        (number, name, chance.choice(_REGIONS), chance.choice(_PLANS), _day(chance, -900, 0))
        for number, name in enumerate(names, start=1)
    ]


def _orders(chance: random.Random) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for number in range(1, 801):
        product = chance.randrange(len(_PRODUCTS))
        quantity = chance.choice((1, 1, 1, 2, 3, 5, 10))
        amount = round(_PRODUCTS[product][2] * quantity, 2)
        customer = chance.randint(1, 40)
        rows.append((number, customer, product + 1, quantity, amount, _day(chance, 0, 303)))
    return rows


def _tickets(chance: random.Random) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for number in range(1, 161):
        opened = _FIRST_DAY + timedelta(days=chance.randint(0, 303))
        solved = chance.random() < 0.8
        closed = str(opened + timedelta(days=chance.randint(0, 12))) if solved else None
        priority = chance.choice(("low", "normal", "normal", "high"))
        status = "closed" if solved else "open"
        subject = chance.choice(_SUBJECTS)
        rows.append((number, chance.randint(1, 40), subject, priority, status, str(opened), closed))
    return rows


def _day(chance: random.Random, first: int, last: int) -> str:
    return str(_FIRST_DAY + timedelta(days=chance.randint(first, last)))
