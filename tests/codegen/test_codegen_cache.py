# SPDX-License-Identifier: Apache-2.0
import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from legate_diffuse.codegen import Compiler, ObjectCache, default_folder, machine
from legate_diffuse.kernel import Argument, Builder


def kernel(factor):
    builder = Builder(
        [
            Argument("float64", reads=True, writes=False),
            Argument("float64", reads=False, writes=True),
        ],
        [],
    )
    product = builder.op(
        "mul", "float64", builder.load(0), builder.constant("float64", factor)
    )
    builder.store(1, product)
    return builder.build()


def compile_and_check(call, folder, factor=2.0):
    compiler = Compiler(cache=ObjectCache(folder))
    compiled = compiler.compile(kernel(factor))
    x, y = np.arange(100.0), np.empty(100)
    call(compiled, kernel(factor), [x, y])
    assert np.array_equal(y, factor * x)
    return compiler


def entries(folder):
    return sorted(folder.glob("*.kernel"))


def test_a_kernel_is_compiled_once_in_a_process(tmp_path):
    compiler = Compiler(cache=ObjectCache(tmp_path))
    first = compiler.compile(kernel(2.0))
    assert first.compiled
    assert compiler.compile(kernel(2.0)) is first
    assert compiler.compile(kernel(3.0)).address != first.address
    assert (compiler.kernels_compiled, compiler.disk_hits) == (2, 0)
    assert compiler.compile_seconds > 0


def test_kernels_with_the_same_code_are_one_object(call, tmp_path):
    compiler = Compiler(cache=ObjectCache(tmp_path))
    twin = dataclasses.replace(kernel(2.0), scalars=("float64",))
    for each, scalars in ((kernel(2.0), []), (twin, [5.0])):
        x, y = np.arange(100.0), np.empty(100)
        call(compiler.compile(each), each, [x, y], scalars)
        assert np.array_equal(y, 2.0 * x)
    assert (compiler.kernels_compiled, compiler.disk_hits) == (1, 1)


def test_another_compiler_takes_the_object_from_disk(call, tmp_path):
    compile_and_check(call, tmp_path)
    again = compile_and_check(call, tmp_path)
    assert (again.kernels_compiled, again.disk_hits) == (0, 1)


def test_finding_a_kernel_with_maths_compiles_nothing(tmp_path):
    builder = Builder([Argument("float64", reads=True, writes=True)], [])
    builder.store(0, builder.op("exp", "float64", builder.load(0)))
    exponential = builder.build()
    Compiler(cache=ObjectCache(tmp_path)).compile(kernel(2.0))
    before = entries(tmp_path)
    assert Compiler(cache=ObjectCache(tmp_path)).find(exponential) is None
    assert entries(tmp_path) == before
    Compiler(cache=ObjectCache(tmp_path)).compile(exponential)
    found = Compiler(cache=ObjectCache(tmp_path)).find(exponential)
    assert found is not None
    assert not found.compiled


def test_another_process_takes_the_object_from_disk(tmp_path, call):
    compile_and_check(call, tmp_path)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import test_codegen_cache as t\n"
        "from pathlib import Path\n"
        "c = t.Compiler(cache=t.ObjectCache(Path(sys.argv[2])))\n"
        "c.compile(t.kernel(2.0))\n"
        "print(c.kernels_compiled, c.disk_hits)\n"
    )
    here = Path(__file__)
    environment = dict(os.environ, PYTHONPATH=str(here.parents[2]))
    done = subprocess.run(
        [sys.executable, "-c", code, str(here.parent), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert done.stdout.split() == ["0", "1"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content[:20],
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda content: b"something else entirely",
        lambda content: content + b"more",
    ],
    ids=["empty", "half", "header", "flipped", "foreign", "longer"],
)
def test_a_damaged_entry_is_a_miss(call, tmp_path, damage):
    compile_and_check(call, tmp_path)
    for path in entries(tmp_path):
        path.write_bytes(damage(path.read_bytes()))
    again = compile_and_check(call, tmp_path)
    assert (again.kernels_compiled, again.disk_hits) == (1, 0)
    assert compile_and_check(call, tmp_path).disk_hits == 1


def test_another_processor_is_a_miss(call, tmp_path, monkeypatch):
    compile_and_check(call, tmp_path)
    host = machine.host_target()
    other = dataclasses.replace(host, features=host.features + ",-sse4a")
    monkeypatch.setattr(machine, "host_target", lambda: other)
    assert compile_and_check(call, tmp_path).disk_hits == 0


def test_a_folder_that_cannot_be_written_is_told_of_once(call, tmp_path, capsys):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    compiler = Compiler(cache=ObjectCache(blocked / "cache"))
    compiler.compile(kernel(2.0))
    compiler.compile(kernel(3.0))
    assert capsys.readouterr().err == (
        f"legate_diffuse: cannot keep compiled kernels in {blocked / 'cache'} "
        "(Not a directory); set LEGATE_DIFFUSE_CACHE_DIR to a folder that can be "
        "written\n"
    )
    assert compiler.kernels_compiled == 2


def test_a_folder_that_can_only_be_read_still_gives_hits(
    call, tmp_path, monkeypatch, capsys
):
    compile_and_check(call, tmp_path)

    def refuse(*_args, **_keywords):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(os, "replace", refuse)
    assert compile_and_check(call, tmp_path).disk_hits == 1
    assert capsys.readouterr().err == ""
    compile_and_check(call, tmp_path, factor=3.0)
    assert "Permission denied" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.tmp"))


def test_the_oldest_entries_go_when_the_folder_is_full(tmp_path):
    sizes = {"a": 400, "b": 400, "c": 400}
    cache = ObjectCache(tmp_path)
    for age, (key, size) in enumerate(sizes.items()):
        cache.store(key, bytes(size))
        os.utime(tmp_path / f"{key}.kernel", (1000 + age, 1000 + age))
    cache.load("a")
    ObjectCache(tmp_path, size_limit=1500).store("d", bytes(400))
    assert [path.stem for path in entries(tmp_path)] == ["a", "c", "d"]


def test_the_environment_names_the_folder():
    named = {"LEGATE_DIFFUSE_CACHE_DIR": "/x/y", "XDG_CACHE_HOME": "/z"}
    assert default_folder(named) == Path("/x/y")
    assert default_folder({"XDG_CACHE_HOME": "/z"}) == Path("/z/legate_diffuse")
    assert default_folder({}).parts[-2:] == (".cache", "legate_diffuse")
