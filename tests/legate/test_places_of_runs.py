# SPDX-License-Identifier: Apache-2.0
"""An operation's place is found before the operation runs, which may fail."""

from __future__ import annotations

from process import run_alone

BEGIN = """
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
from legate_diffuse import _native

def fresh():
    x, m = cn.arange(12.0), cn.arange(16.0).reshape(4, 4)
    # both are here
    x += 1.0
    m += 1.0
    return x, m

# what each operation is called, and how often it is looked at
OPERATIONS = {
    "x += 1.0": {"add": 1},
    "return x + x": {"add": 1},
    "return x * 2.0": {"multiply": 1},
    "x[3] = 7.0": {"write": 1},
    "x[1:4] = 7.0": {"copy": 1},
    "return x[3]": {"read": 1},
    "return x[3] + x[4]": {"read": 2, "add": 1},
    "return x[x > 3.0]": {"greater": 1, "select": 1},
    "x[x > 3.0] = 0.0": {"greater": 1, "masked write": 1},
    "return cn.roll(x, 2)": {"copy": 2},
    "return m.reshape(2, 8).reshape(16)": {"reshape": 2},
    "return m @ m": {"matrix product": 1},
}
def functions():
    for text, expected in OPERATIONS.items():
        names = {"cn": cn}
        exec(f"def operate(x, m):\\n    {text}\\n", names)
        operate = names["operate"]
        for _ in range(3):
            operate(*fresh())
        yield text, operate, expected
"""


def test_who_stops_while_a_place_is_found_has_changed_nothing() -> None:
    program = """
def stop(name):
    raise KeyboardInterrupt(name)
for text, operate, expected in functions():
    x, m = fresh()
    a, b = fresh()
    count = legate_diffuse.stats()["ran_in_process"]
    _native.watch_runs(stop)
    try:
        operate(x, m)
        print(text, "is not looked at")
    except KeyboardInterrupt as error:
        assert str(error) in expected
    _native.watch_runs(lambda name: "")
    assert legate_diffuse.stats()["ran_in_process"] == count, text
    assert (x.tolist(), m.tolist()) == (a.tolist(), b.tolist()), text
"""
    done = run_alone(BEGIN + program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_runs_while_a_place_is_found_is_no_part_of_it() -> None:
    """Other code of the program uses the same arrays then, and new types."""
    program = """
for text, operate, expected in functions():
    x, m = fresh()
    a, b = fresh()
    right = operate(a, b)
    found, kept = [], []
    def nested(name):
        found.append(name)
        kept.append(cn.ones(5, dtype=f"int{8 << len(found) % 4}") * 2)
        x[5] = float(x[5])
        return f"place {len(found)}"
    _native.watch_runs(nested)
    made = operate(x, m)
    times = _native.run_times()
    _native.watch_runs(lambda name: "")
    assert (x.tolist(), m.tolist()) == (a.tolist(), b.tolist()), text
    assert right is None or made.tolist() == right.tolist(), text
    counts = {}
    for name, place, nanoseconds, count in times:
        assert nanoseconds > 0
        counts[name] = counts.get(name, 0) + count
    assert counts == expected, (text, times)
    assert len({place for _, place, *_ in times}) == len(times)
    assert all(place.startswith("place ") for _, place, *_ in times), times
"""
    done = run_alone(BEGIN + program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_place_that_is_no_text_is_an_error() -> None:
    """An exception of C++ does not end the program."""
    program = """
x, m = fresh()
_native.watch_runs(lambda name: 3)
try:
    x += 1.0
except RuntimeError as error:
    print(type(error).__name__)
_native.watch_runs(lambda name: "")
print(float(x[0]))
"""
    done = run_alone(BEGIN + program)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "RuntimeError\n1.0\n"
