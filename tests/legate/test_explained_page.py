# SPDX-License-Identifier: Apache-2.0
"""A page names a program's walls at their lines, with advice, and measured times."""

from __future__ import annotations

import re
import time
from html import unescape
from pathlib import Path

import pytest
from process import DIFFUSE, LEGATE_OPTIONS, run_alone, run_file, run_forked

PROGRAM = """\
import colorsys
import cupynumeric as cn
n = 64
x = cn.arange(n * n, dtype="float64").reshape(n, n)
a = cn.ones((n, n))
for step in range(4):
    y = 2.0 * x - 1.0
    picked = y[y > 3.0].shape
    z = a @ y
    w = cn.sort(y)
    mixed = colorsys.rgb_to_yiq(y, w, z)
    x = z * 1e-9 + y + w + mixed[0]
    print(float(x.sum()), picked)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "app.py"
    path.write_text(PROGRAM)
    return path


def explain(program: Path, *options: str, **environment: str) -> str:
    """Return the text of a program's page; its small arrays stand for large ones."""
    environment.setdefault("LEGATE_DIFFUSE_SMALL_BYTES", "0")
    target = program.parent / "report.html"
    done = run_forked(
        *(DIFFUSE, "explain", "--html", str(target), str(program)),
        LEGATE_CONFIG=" ".join(options),
        **environment,
    )
    assert done.returncode == 0, done.stderr
    assert "What legate_diffuse makes of" not in done.stdout
    text = target.read_text()
    assert len(text) < 5_000_000
    return text


def walls(page: str) -> str:
    section = page.split('<h2 id="walls">')[1].split("</section>")[0]
    return " ".join(unescape(re.sub("<[^>]*>", " ", section)).split())


def walls_of_lines(page: str) -> dict[int, list[str]]:
    """Return the texts of walls by their lines, without how long they take."""
    found: dict[int, list[str]] = {}
    for line, text in re.findall(
        r"app\.py:(\d+) : (.*?)(?=app\.py:\d+ : |\d+ more|$)", walls(page)
    ):
        found.setdefault(int(line), []).append(
            re.sub(r", [\d.]+ [mµ]?s\.", ".", text).strip()
        )
    return found


def test_walls_are_named_at_their_lines_with_advice(program: Path) -> None:
    found = walls_of_lines(explain(program, *LEGATE_OPTIONS))
    mask = "AdvancedIndexing runs as it is (4 times). picked = y[y > 3.0].shape A mask"
    assert any(text.startswith(mask) for text in found[8])
    (product,) = found[9]
    assert product.startswith("MatMul runs as it is (4 times). z = a @ y A large")
    assert any("Sorting moves elements" in text for text in found[10])
    assert any("program waits for its tasks (4 times)" in text for text in found[13])


AT_ONCE = """\
import cupynumeric as cn
x = cn.ones(20)
for _ in range(30000):
    x = cn.sqrt(x)
    x = x * 2.0 + 1.0
print(float(x.sum()))
"""


def test_operations_that_run_at_once_have_times_of_their_own(program: Path) -> None:
    program.write_text(AT_ONCE)
    page = explain(program, *LEGATE_OPTIONS, LEGATE_DIFFUSE_SMALL_BYTES="65536")
    text = " ".join(unescape(re.sub("<[^>]*>", " ", page)).split())
    # the fill and the sum as well, which is filled first
    assert "tasks, unfused and fused 90,003 → 0" in text
    assert "Nothing keeps tasks apart" in text
    (seconds,) = re.findall(r"operations on small arrays, at once ([\d.]+) ms", text)
    assert float(seconds) > 0
    # the first ones are exact, the rest is estimated
    told = re.findall(r"in the program's thread: (.*?), [\d.]+ [mµ]?s", text)
    assert told[0] == "fill once"
    counts = [
        int(n.replace(",", "")) for n in re.findall(r"([\d,]+) times", " ".join(told))
    ]
    assert len(counts) == 3
    assert all(15_000 < count < 45_000 for count in counts)


WALLS = """\
import cupynumeric as cn
n = 64
x = cn.arange(n * n, dtype="float64").reshape(n, n)
a = cn.ones((n, n))
for step in range(4):
    y = 2.0 * x - 1.0
    y[y > 1e6] = 0.0
    picked = y[y > 3.0]
    near = cn.roll(y, 1, axis=0)
    far = cn.roll(y, 3)
    corner = y[3, 4] * 2.0
    value = float(y[5, 6])
    z = a @ (y + value)
    x = z * 1e-9 + near + far + corner
    print(picked.size)
"""


@pytest.mark.parametrize("partitioned", [False, True])
def test_masks_rolls_elements_and_products_are_walls_where_they_are_not_fused(
    program: Path, partitioned: bool
) -> None:
    program.write_text(WALLS)
    if partitioned:
        options = ("--cpus", "2", *LEGATE_OPTIONS[2:])
        names = ("LEGATE_TEST", "CUPYNUMERIC_TEST", "LEGATE_DIFFUSE_THREADS")
        page = explain(program, *options, **dict.fromkeys(names, "1"))
    else:
        page = explain(program, *LEGATE_OPTIONS)
    found = walls_of_lines(page)

    def named(line: int, what: str, advice: str) -> bool:
        return any(
            text.startswith(what) and advice in text for text in found.get(line, ())
        )

    assert named(8, "AdvancedIndexing runs as it is (4", "Write where(mask, a, b)")
    assert named(10, "copy runs as it is", "roll along an axis")
    assert named(12, "the program waits for its tasks (4", "Leave values in arrays")
    assert named(13, "MatMul runs as it is", "A large matrix product")
    # a masked write, a roll along an axis and a single element that is computed with
    assert 7 not in found
    assert named(11, "read runs as it is (4", "Reading or writing one") == partitioned
    assert (9 in found or 11 in found) == partitioned


def test_loops_have_times_and_a_librarys_lines_are_the_callers(program: Path) -> None:
    page = explain(program, *LEGATE_OPTIONS)
    assert "colorsys.py" not in page
    costs = re.findall(r'id="L(\d+)-[^"]*" style="--heat:([\d.]+)"', page)
    shown = {int(line): float(heat) for line, heat in costs}
    assert {4, 5, 7, 8, 9, 10, 11, 12, 13} == set(shown)
    assert max(shown.values()) == 1.0
    assert shown[9] > 0.0
    assert re.search(r"<p>Loop 1 of \d over 64 x 64, [1-9][\d.]* [mµ]s in all", page)


TIMED = """\
import time
import legate.core
start = time.perf_counter()
import cupynumeric as cn
x = cn.ones((600, 600))
while time.perf_counter() - start < 2.0:
    x[1:-1, 1:-1] = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
    float(x.sum())
print(time.perf_counter() - start)
"""
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}


def test_times_add_up_to_the_programs(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(TIMED)
    target = tmp_path / "report.html"
    command = (DIFFUSE, "explain", "--html", str(target))
    start = time.perf_counter()
    done = run_forked(*command, *LEGATE_OPTIONS, str(tmp_path / "app.py"))
    whole = time.perf_counter() - start
    assert done.returncode == 0, done.stderr
    page = target.read_text()
    (took,) = re.findall(r"the program took</dt><dd>([\d.]+) s<", page)
    table = page.split('<h2 id="times">')[1].split("</section>")[0]
    times = re.findall(r'<th scope="row">.*?</th><td>([\d.]+) ([mµ]?s)</td>', table)
    seconds = [float(value) * UNITS[unit] for value, unit in times]
    # those of the program's own thread come first, then those of the processors
    assert sum(seconds[:-3]) == pytest.approx(float(took), rel=0.02)
    # between the program's clock and one around its process, whose start and end take
    # as long as they like on a busy machine
    assert float(done.stdout.split()[-1]) * 0.99 <= float(took) <= whole


ITERATIONS = """\
import cupynumeric as cn
x = cn.ones((64, 64))
for step in range(8):
    x = x * 0.5 + 1.0
    y = x[:, 0] * 3.0 + 2.0
    print(float(y.sum()))
"""


def test_an_iteration_is_counted(program: Path) -> None:
    program.write_text(ITERATIONS)
    page = explain(program, *LEGATE_OPTIONS)
    # four operations, a sum and the fill of its result
    assert "iterations</dt><dd>6 → 1, with 2 loops</dd>" in page
    assert page.count(">1 loop, 1 task</span>") == 3
    assert "In each iteration: 2 operations in 1 loop of 1 task<" in page


def test_the_variable_asks_for_a_page_too(program: Path) -> None:
    target = program.parent / "other.html"
    done = run_file(
        program,
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_EXPLAIN=str(target),
        LEGATE_DIFFUSE_SMALL_BYTES="0",
        LEGATE_CONFIG=" ".join(LEGATE_OPTIONS),
    )
    assert done.returncode == 0, done.stderr
    assert "MatMul runs as it is" in walls(target.read_text())


@pytest.mark.parametrize("explained", ["", "-"])
def test_without_a_page_nothing_is_measured(explained: str) -> None:
    done = run_alone(
        """
        import legate_diffuse
        import cupynumeric as cn
        print(float((cn.arange(10.0) * 3.0).sum()))
        from legate_diffuse import _native
        assert legate_diffuse.stats()["groups"] > 0
        print(_native.task_times(), set(_native.kernel_nanoseconds()))
        """,
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_EXPLAIN=explained,
    )
    assert done.stdout.startswith("135.0\n[] {0}\n"), done.stderr


def test_a_page_has_a_name_that_ends_in_html(program: Path) -> None:
    for arguments, message in (
        (("--html",), "--html needs the name of a file that ends in .html"),
        (
            ("--html", "report.txt", str(program)),
            "--html needs the name of a file that ends in .html",
        ),
    ):
        done = run_forked(DIFFUSE, "explain", *arguments)
        assert done.returncode == 2
        assert done.stderr.splitlines()[0] == f"legate_diffuse: {message}"


STOPPED = """
import numpy
import cupynumeric as np
from legate_diffuse import _native, stats

def stop(name):
    raise KeyboardInterrupt(name)

x = np.zeros(10)
for _ in range(3):
    x += 1.0
before = stats()["ran_in_process"]
for change in (lambda: x.__iadd__(1.0), lambda: x.__setitem__(3, 7.0)):
    _native.watch_runs(stop)
    try:
        change()
    except KeyboardInterrupt as error:
        print(error)
assert stats()["ran_in_process"] == before
_native.watch_runs(lambda name: "here")
assert numpy.array_equal(x, [3] * 10), x
"""


def test_who_stops_while_a_place_is_found_stops_before_the_operation() -> None:
    done = run_alone(STOPPED, LEGATE_DIFFUSE="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["add", "write"]
