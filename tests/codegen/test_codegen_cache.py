# SPDX-License-Identifier: Apache-2.0
import dataclasses
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from legate_diffuse.codegen import Compiler, machine
from legate_diffuse.codegen.cache import Miss, ObjectCache, default_folder
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


SEVERAL_KERNELS = """
import sys
from pathlib import Path
from legate_diffuse.codegen import Compiler
from legate_diffuse.codegen.cache import Miss, ObjectCache
from test_codegen_cache import kernel
compiler = Compiler(cache=ObjectCache(Path(sys.argv[1])))
for factor in range(20):
    compiler.compile(kernel(float(factor)))
print(compiler.kernels_compiled, compiler.disk_hits)
"""


def test_processes_at_the_same_time_get_all_kernels(tmp_path):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SEVERAL_KERNELS, str(tmp_path)],
            cwd=Path(__file__).parent,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    printed = [process.communicate(timeout=120)[0] for process in processes]
    assert [sum(map(int, line.split())) for line in printed] == [20] * 3
    assert not list(tmp_path.glob("*.tmp"))


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


# -- what others may have written ------------------------------------------------------


def told(folder, why):
    return (
        f"legate_diffuse: compiled kernels are not kept in {folder}, because {why}; "
        "set LEGATE_DIFFUSE_CACHE_DIR to a folder of your own\n"
    )


def test_the_folder_is_made_for_nobody_else(call, tmp_path):
    folder = tmp_path / "new" / "cache"
    before = os.umask(0)
    try:
        compile_and_check(call, folder)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_may_write_is_not_used(call, tmp_path, capsys, mode):
    compile_and_check(call, tmp_path)
    before = entries(tmp_path)
    tmp_path.chmod(mode)
    for _ in range(2):
        assert compile_and_check(call, tmp_path).disk_hits == 0
        why = "other users may write to it (see chmod go-w)"
        assert capsys.readouterr().err == told(tmp_path, why)
    assert compile_and_check(call, tmp_path, factor=3.0).disk_hits == 0
    assert entries(tmp_path) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_not_used(call, tmp_path, capsys):
    compile_and_check(call, tmp_path)
    os.chown(tmp_path, 65534, 65534)
    assert compile_and_check(call, tmp_path).disk_hits == 0
    assert capsys.readouterr().err == told(tmp_path, "it belongs to another user")


def replace_by_link(path):
    kept = path.rename(path.with_suffix(".kept"))
    path.symlink_to(kept)


def replace_by_pipe(path):
    path.unlink()
    os.mkfifo(path)


DISGUISES = [
    replace_by_link,
    replace_by_pipe,
    lambda path: path.chmod(0o666),
    pytest.param(
        lambda path: os.chown(path, 65534, 65534),
        marks=pytest.mark.skipif(os.geteuid() != 0, reason="root gives files away"),
    ),
]


@pytest.mark.parametrize("disguise", DISGUISES)
def test_only_plain_files_of_the_user_are_entries(call, tmp_path, disguise):
    compile_and_check(call, tmp_path)
    for path in entries(tmp_path):
        disguise(path)
    again = compile_and_check(call, tmp_path)
    assert (again.kernels_compiled, again.disk_hits) == (1, 0)
    assert compile_and_check(call, tmp_path).disk_hits == 1


@pytest.mark.parametrize("disguise", [*DISGUISES, lambda path: path.write_bytes(b"")])
def test_a_secret_that_is_none_is_made_anew(call, tmp_path, disguise):
    compile_and_check(call, tmp_path)
    disguise(tmp_path / "secret")
    assert compile_and_check(call, tmp_path).disk_hits == 0
    assert compile_and_check(call, tmp_path).disk_hits == 1
    status = (tmp_path / "secret").lstat()
    assert (stat.S_IMODE(status.st_mode), status.st_uid) == (0o600, os.geteuid())


def test_a_cache_that_cannot_have_a_secret_is_told_of(call, tmp_path, capsys):
    (tmp_path / "secret").mkdir()
    compile_and_check(call, tmp_path)
    assert "(Is a directory)" in capsys.readouterr().err


def test_entries_of_another_key_or_another_user_are_misses(call, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    compile_and_check(call, one, factor=2.0)
    known = entries(one)
    compile_and_check(call, one, factor=3.0)
    (new,) = [path for path in entries(one) if path not in known]
    # under the other's name
    for path in known:
        path.write_bytes(new.read_bytes())
    assert compile_and_check(call, one, factor=2.0).disk_hits == 0
    # in the folder of a user with another secret
    compile_and_check(call, other, factor=4.0)
    for path in entries(one):
        (other / path.name).write_bytes(path.read_bytes())
    assert compile_and_check(call, other, factor=2.0).disk_hits == 0


def test_what_killed_processes_have_left_goes(tmp_path):
    cache = ObjectCache(tmp_path)
    cache.store("a", b"object")
    left, young = (tmp_path / f"{n:016x}.tmp" for n in (1, 2))
    for path in (left, young):
        path.write_bytes(b"half")
    os.utime(left, (1000, 1000))
    ObjectCache(tmp_path).store("b", b"object")
    assert young.exists()
    assert not left.exists()


def test_processes_that_start_together_share_a_secret(tmp_path):
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from legate_diffuse.codegen.cache import Miss, ObjectCache\n"
        "ObjectCache(Path(sys.argv[1])).store(sys.argv[2], b'object')\n"
    )
    here = Path(__file__)
    environment = dict(os.environ, PYTHONPATH=str(here.parents[2]))
    keys = [f"{number:02x}" for number in range(8)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), key], env=environment
        )
        for key in keys
    ]
    assert [process.wait() for process in processes] == [0] * len(keys)
    cache = ObjectCache(tmp_path)
    assert [cache.load(key) for key in keys] == [b"object"] * len(keys)


def test_a_kernel_that_is_forgotten_gives_its_memory_back():
    compiler = Compiler()
    factors = iter(range(1, 10_000))

    def compile_and_forget(count):
        for _ in range(count):
            each = kernel(float(next(factors)))
            compiler.compile(each)
            compiler.forget(each).free()
        pages = Path("/proc/self/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    before = compile_and_forget(50)
    # what is kept takes 14 KB
    assert compile_and_forget(200) - before < 200 * 4096


def test_entries_are_listed_in_the_order_of_their_use(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path / "cache")
    assert cache.entries() == []
    for key, used in (("a", 3000), ("b", 2000)):
        cache.store(key, bytes(100))
        os.utime(tmp_path / "cache" / f"{key}.kernel", (used, used))
    found = cache.entries()
    assert [(entry.key, entry.used) for entry in found] == [("b", 2000), ("a", 3000)]
    assert {entry.size for entry in found} == {
        (tmp_path / "cache" / "a.kernel").stat().st_size
    }
    assert cache.clear() == found
    assert cache.entries() == [] == cache.clear()
    assert cache.find("a") is Miss.ABSENT


def test_a_miss_says_why(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path)
    assert cache.find("a") is Miss.ABSENT
    cache.store("a", b"object")
    assert cache.find("a") == b"object"
    (tmp_path / "a.kernel").write_bytes(b"object")
    assert cache.find("a") is Miss.DAMAGED
    tmp_path.chmod(0o777)
    assert cache.find("a") is Miss.OFF


def test_the_environment_limits_the_cache_or_turns_it_off(tmp_path: Path) -> None:
    where = {"LEGATE_DIFFUSE_CACHE_DIR": str(tmp_path)}
    limited = where | {"LEGATE_DIFFUSE_CACHE_LIMIT": str(2**20)}
    for number in range(3):
        # each looks at the folder once
        cache = ObjectCache.from_environment(limited)
        assert cache is not None
        cache.store(f"{number}", bytes(2**19))
    assert len([*tmp_path.glob("*.kernel")]) == 1
    assert ObjectCache.from_environment(where | {"LEGATE_DIFFUSE_CACHE": "0"}) is None
    with pytest.raises(ValueError, match="from 1048576 on"):
        ObjectCache.from_environment(where | {"LEGATE_DIFFUSE_CACHE_LIMIT": "5"})
