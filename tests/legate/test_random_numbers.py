# SPDX-License-Identifier: Apache-2.0
"""Random numbers that are drawn here are those that cuPyNumeric's tasks draw."""

from __future__ import annotations

from pathlib import Path

from process import run_alone

DRAWS = """
import pickle, sys
import cupynumeric as cn
import numpy as np

ONE = {
    "exponential": (2.0,), "power": (2.0,), "rayleigh": (2.0,), "standard_t": (3.0,),
    "normal": (1.0, 2.0), "uniform": (-1.0, 3.0), "gumbel": (1.0, 2.0), "f": (2.0, 3.0),
    "laplace": (1.0, 2.0), "logistic": (1.0, 2.0), "cauchy": (1.0, 2.0),
    "weibull": (1.0, 2.0), "beta": (1.0, 2.0), "gamma": (1.5, 2.0), "wald": (1.0, 2.0),
    "lognormal": (0.5, 0.25), "chisquare": (2.0, 0.5), "vonmises": (0.5, 1.0),
    "pareto": (2.0,), "triangular": (0.0, 1.0, 3.0), "noncentral_f": (2.0, 3.0, 1.0),
    "poisson": (3.0,), "logseries": (0.5,), "zipf": (2.0,), "geometric": (0.25,),
    "binomial": (9, 0.5), "negative_binomial": (5, 0.5), "hypergeometric": (5, 6, 4),
}
SINGLE = ("normal", "uniform", "exponential", "pareto", "beta", "f", "gamma", "wald")
found = []

def keep(name, made):
    found.append((name, str(made.dtype), made.shape, made.__array__().tobytes()))

def draw(generator):
    for name, parameters in ONE.items():
        for shape in ((3,), (2, 3), (), None):
            keep(name, getattr(generator, name)(*parameters, shape=shape))
    for name in SINGLE:
        keep(name, getattr(generator, name)(*ONE[name], shape=5, dtype=np.float32))
    for dtype in (np.int16, np.int32, np.int64):
        keep("integers", generator.integers(-5, 90, (7,), dtype))
    keep("integers", generator.integers(7))
    keep("integers", generator.integers(3, 7))
    keep("integers", generator.integers(3, 7, 4, endpoint=True))
    keep("raw", generator.random_raw(5))
    keep("bytes", generator.bytes(7))
    keep("random", generator.random((2, 2)))
    keep("random", generator.random(0))
    keep("large", generator.normal(shape=(300, 300)))
    # to arrays that there are, or to parts of them
    array = cn.arange(6.0)
    generator.random((6,), np.float64, array)
    keep("out", array)
    generator.random((2,), np.float64, array[1:3])
    keep("part", array)
    generator.random((3, 2), np.float64, cn.zeros((2, 3)).T)

r = cn.random
kinds = r.XORWOW, r.MRG32k3a, r.PHILOX4_32_10
generators = [kind(seed) for kind in kinds for seed in (5, 2**40 + 3)]
for _ in range(2):
    for generator in generators:
        draw(generator)
del generators[0], generator
other = r.default_rng(8)
for _ in range(3):
    # unfused, draws that nobody waits for may change places
    keep("normal", other.normal(size=3))
    keep("random", other.random(3))
    keep("integers", other.integers(0, 9, 3))
    for size in (None, 4, (2, 3), (), (1, 1, 2), np.int64(3), 0, (2, 0)):
        keep("random", other.random(size))
        keep("uniform", other.uniform(-1, high=2.5, size=size))
        keep("normal", other.normal(scale=3, size=size))
        keep("exponential", other.exponential(2.0, size))
        keep("integers", other.integers(-3, 2**40, size=size))
    for dtype in (np.float32, np.float64, float, "f8", np.dtype("float64")):
        keep("uniform", other.uniform(True, 3, 2, dtype))
        keep("normal", other.normal(np.float64(1), size=2, dtype=dtype))
        keep("random", other.random(dtype=dtype))
    for dtype in (int, np.int16, "int64"):
        keep("integers", other.integers(0, 9, 3, dtype, True))
        keep("integers", other.integers(7, dtype=dtype))
    keep("out", other.random(out=cn.zeros(3)))
"""
REFUSED = """
for call in ("random([2])", "uniform(0, 1, size=[2])", "normal(None)", "integers()",
             "normal(size=-1)", "random(size=2.0)", "uniform(0, 1, 2, bool)",
             "exponential(1.0, 2, int)", "normal(1, loc=2)", "random(shape=2)"):
    try:
        keep(call, eval(f"other.{call}"))
    except Exception as error:
        found.append((call, type(error).__name__))
"""
KEEP = "with open(sys.argv[1], 'wb') as file: pickle.dump(found, file)"
COMPARE = """
with open(sys.argv[1], "rb") as file:
    kept = pickle.load(file)
wrong = [pair for pair in zip(found, kept, strict=True) if pair[0] != pair[1]]
assert not wrong, wrong[:3]
import legate_diffuse
assert legate_diffuse.stats()["failures"] == 0
tasks = legate_diffuse.stats()["tasks_submitted"]
sums = [float(other.random(100).sum()) for _ in range(10)]
tasks = legate_diffuse.stats()["tasks_submitted"] - tasks
assert tasks == 0, tasks
print("done")
"""


def test_they_are_those_of_tasks(tmp_path: Path) -> None:
    options = "--cpus 1 --gpus 0 --sysmem 256"
    path = str(tmp_path / "unfused")
    done = run_alone(
        DRAWS + REFUSED + KEEP, path, LEGATE_DIFFUSE="0", LEGATE_CONFIG=options
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    done = run_alone(
        DRAWS + REFUSED + COMPARE, path, LEGATE_DIFFUSE="1", LEGATE_CONFIG=options
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout.split()[-1] == "done"


MANY = """
import legate_diffuse
import cupynumeric as cn
few, many = cn.random.default_rng(8), cn.random.default_rng(8)
def submitted():
    return legate_diffuse.stats()["tasks_submitted"]
before = submitted()
seen = {float(each) for _ in range(50) for each in few.random(2)}
assert submitted() == before, "few numbers are drawn here"
large = few.random(200_000).__array__()
assert len(seen) == 100 and not seen.intersection(large.tolist()), "none comes twice"
large = many.random(200_000).__array__()
before = submitted()
drawn = many.random(3).__array__()
assert submitted() > before, "processors whose generators have drawn go on"
assert not set(drawn.tolist()).intersection(large.tolist())
"""


def test_several_processors_draw_many_numbers() -> None:
    options = "--cpus 2 --gpus 0 --sysmem 256"
    done = run_alone(MANY, LEGATE_DIFFUSE="1", LEGATE_CONFIG=options)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_few_numbers_are_those_of_the_first_of_several_processors(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "unfused")
    draw = """
import pickle, sys
import cupynumeric as cn
other = cn.random.default_rng(8)
found = [other.normal(size=3).__array__().tolist() for _ in range(9)]
"""
    # with two, the first one draws unless it is busy
    options = "--cpus 1 --gpus 0 --sysmem 256"
    done = run_alone(draw + KEEP, path, LEGATE_DIFFUSE="0", LEGATE_CONFIG=options)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    options = "--cpus 2 --gpus 0 --sysmem 256"
    done = run_alone(draw + COMPARE, path, LEGATE_DIFFUSE="1", LEGATE_CONFIG=options)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_what_waits_goes_on_waiting() -> None:
    done = run_alone(
        """
import cupynumeric as cn
from legate_diffuse.interpose.window import window
generator = cn.random.default_rng(3)
x = cn.arange(200_000.0)
for _ in range(3):
    y = x * 2.0
    noise = generator.normal(size=200_000)
    assert window.state.count > 0
    z = y + noise
    few = generator.random(3)
    assert window.state.count > 0
    total = float(z.sum())
assert abs(total / 200_000 - 199_999) < 0.1
print("done")
""",
        LEGATE_DIFFUSE="1",
        LEGATE_CONFIG="--cpus 1 --gpus 0 --sysmem 256",
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_bad_seeds_are_refused_as_they_are_unfused() -> None:
    program = """
import cupynumeric as cn
for seed in (-1, 2**64, 1.5):
    generator = cn.random.XORWOW(seed)
    try:
        generator.random(3)
    except Exception as error:
        print(type(error).__name__)
"""
    options = {"LEGATE_CONFIG": "--cpus 1 --gpus 0 --sysmem 256"}
    fused = run_alone(program, LEGATE_DIFFUSE="1", **options)
    unfused = run_alone(program, LEGATE_DIFFUSE="0", **options)
    assert fused.stdout == unfused.stdout and len(fused.stdout.split()) == 2
