# SPDX-License-Identifier: Apache-2.0
"""A cuPyNumeric whose tasks are others than they are taken for is found out."""

from __future__ import annotations

from pathlib import Path

import pytest
from process import run_alone

from legate_diffuse.check import self_test
from legate_diffuse.libraries.cupynumeric import tasks

# Tests these versions as if nobody had tested them together.
UNTESTED = """
import legate_diffuse
from legate_diffuse.check import self_test
self_test.TESTED = frozenset()
legate_diffuse.enable()
"""
# Takes tasks of one form after the other for what they are not: another code, the last
# two operands of one type in the other order, or a number for its opposite.
WRONG = """
from dataclasses import replace
def find(package, recognizer):
    forms = recognizer.forms(self_test._library())
    operations = recognizer.operations
    numbers = {form.name: number for number, form in forms.items() if form.fuse}
    known, lower = dict(forms), operations.lower
    print(find_different(package, recognizer))
    statements = self_test._STATEMENTS
    for name in statements:
        self_test._STATEMENTS = {name: statements[name]}
        form = known[numbers[name]]
        codes = [*form.codes.values()]
        def wrong(kind, builder, operands):
            operands = list(operands)
            if kind.task == name and (name in TURNED or not codes):
                pairs = [
                    (i, j)
                    for j in reversed(range(len(operands)))
                    for i in reversed(range(j))
                    if operands[i].dtype == operands[j].dtype
                ]
                if pairs and name not in NEGATED:
                    i, j = pairs[0]
                    operands[i], operands[j] = operands[j], operands[i]
                else:
                    operands[0] = builder.op("neg", operands[0].dtype, operands[0])
            return lower(kind, builder, operands)
        operations.lower = wrong
        changed = dict(zip(form.codes, [*codes[1:], *codes[:1]]))
        if name in TURNED:
            changed = form.codes
        forms[numbers[name]] = replace(form, codes=changed)
        print(name, find_different(package, recognizer))
        operations.lower = lower
        forms.update(known)
    return []
TURNED = ("BINARY_RED",)
# their operands may be in any order
NEGATED = ("DOT", "MATVECMUL")
find_different, self_test.find_different = self_test.find_different, find
import cupynumeric
"""
# Swaps two scalars of one task after the other, or takes one that is alone for its
# opposite; then takes other scalars for the code.
SWAPPED = """
from dataclasses import replace
def find(package, recognizer):
    forms = recognizer.forms(self_test._library())
    operations = recognizer.operations
    numbers = {form.name: number for number, form in forms.items() if form.fuse}
    known, lower = dict(forms), operations.lower
    seen = set()
    def see(kind, builder, operands):
        if kind.scalars and kind.task in numbers:
            count = len(operands)
            seen.add((kind.task, kind.code, count - len(kind.scalars), count))
        return lower(kind, builder, operands)
    operations.lower = see
    find_different(package, recognizer)
    statements = self_test._STATEMENTS
    def test(task, **changes):
        self_test._STATEMENTS = {task: statements[task]}
        forms.update(known)
        forms[numbers[task]] = replace(known[numbers[task]], **changes)
        return find_different(package, recognizer)
    for task, code, first, count in sorted(seen):
        for j in range(first, count):
            for i in range(first, max(j, first + (count == first + 1))):
                def wrong(kind, builder, operands):
                    operands = list(operands)
                    if (kind.task, kind.code) == (task, code):
                        if i == j:
                            operands[i] = builder.op(
                                "neg", operands[i].dtype, operands[i]
                            )
                        else:
                            operands[i], operands[j] = operands[j], operands[i]
                    return lower(kind, builder, operands)
                operations.lower = wrong
                print(task, code, i - first, j - first, test(task))
    operations.lower = lower
    print("SCALAR_UNARY_RED", test("SCALAR_UNARY_RED", code_scalar=1))
    print("UNARY_RED", test("UNARY_RED", code_scalar=0))
    return []
find_different, self_test.find_different = self_test.find_different, find
import cupynumeric
"""
# Swaps the codes of sums and differences.
OTHER_CODES = """
from dataclasses import replace
find_different = self_test.find_different
def change(recognizer):
    forms = recognizer.forms(self_test._library())
    for number, form in list(forms.items()):
        if form.name == "BINARY_OP":
            names = {"ADD": "SUBTRACT", "SUBTRACT": "ADD"}
            codes = {code: names.get(each, each) for code, each in form.codes.items()}
            forms[number] = replace(form, codes=codes)
apply = self_test.apply
def changed(legate, package, recognizer):
    change(recognizer)
    apply(legate, package, recognizer)
self_test.apply = changed
"""
DIFFERENCE = """
import cupynumeric as cn
x, y = cn.arange(4.0), cn.ones(4)
for _ in range(3):
    x = x - y
print(x, x.sqrt if False else cn.sqrt(cn.abs(x)).sum())
"""
# Says whether the test runs.
NOTED = """
known = self_test.find_different
def noted(*of):
    print("tested")
    return known(*of)
self_test.find_different = noted
"""
SAID = (
    "legate_diffuse: the tasks BINARY_OP of cuPyNumeric 26.6.1 compute something else "
    "than was expected, and are not fused\n"
)


def test_each_form_has_a_statement() -> None:
    assert {*self_test._STATEMENTS} == {*tasks._LAYOUTS}


def test_a_swapped_scalar_of_each_form_is_found() -> None:
    # a plan would be refuted, as operations change meanwhile
    done = run_alone(
        UNTESTED + WRONG, LEGATE_DIFFUSE_CACHE="0", LEGATE_DIFFUSE_PROOF="0"
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, *others = done.stdout.splitlines()
    assert first == "[]"
    assert others == [f"{name} {[name]}" for name in self_test._STATEMENTS]


def test_swapped_scalars_of_each_operation_are_found() -> None:
    done = run_alone(
        UNTESTED + SWAPPED, LEGATE_DIFFUSE_CACHE="0", LEGATE_DIFFUSE_PROOF="0"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "ARANGE  0 1 ['ARANGE']",
        "BINARY_OP ISCLOSE 0 1 ['BINARY_OP']",
        "BINARY_RED ISCLOSE 0 1 ['BINARY_RED']",
        "EYE  0 0 ['EYE']",
        "SELECT  0 0 ['SELECT']",
        # a number for a truth value is no program, which a sentence says
        "TRILU  0 1 []",
        "UNARY_OP CLIP 0 1 ['UNARY_OP']",
        "UNARY_OP ROUND 0 1 ['UNARY_OP']",
        "SCALAR_UNARY_RED ['SCALAR_UNARY_RED']",
        "UNARY_RED ['UNARY_RED']",
    ]
    assert done.stderr.count("\n") == 1
    assert "select cannot give bool from int32" in done.stderr


def test_what_was_found_is_kept(tmp_path: Path) -> None:
    cache = {"LEGATE_DIFFUSE_CACHE_DIR": str(tmp_path / "cache")}
    for times in (1, 0):
        done = run_alone(UNTESTED + OTHER_CODES + NOTED + DIFFERENCE, **cache)
        assert (
            done.stdout == "tested\n" * times + "[-3. -2. -1.  0.] 4.146264369941973\n"
        )
        assert (done.returncode, done.stderr) == (0, SAID)


def test_without_a_test_it_would_be_wrong() -> None:
    done = run_alone(
        UNTESTED.replace("self_test.TESTED", "_") + OTHER_CODES + DIFFERENCE
    )
    assert done.stdout.startswith("[3. 4. 5. 6.]")


@pytest.mark.parametrize("begin", ["", UNTESTED])
def test_versions_that_were_tested_are_not_tested_again(begin: str) -> None:
    program = (begin or UNTESTED.replace("self_test.TESTED", "_")) + NOTED + DIFFERENCE
    done = run_alone(program, LEGATE_DIFFUSE_CACHE="0")
    assert ("tested" in done.stdout) == bool(begin)
    assert (done.returncode, done.stderr) == (0, "")


def test_versions_are_compared_as_packages_name_them() -> None:
    assert self_test._plain("26.06.01") == self_test._plain("26.6.1") == "26.6.1"
    assert self_test._plain("26.07.00.dev3") == "26.7.0.dev3"
