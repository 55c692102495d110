# SPDX-License-Identifier: Apache-2.0
"""When to compile a kernel, and its number in the native table."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, Final

from legate_diffuse import settings
from legate_diffuse.fusion.plan import NO_CODE
from legate_diffuse.kernel import Argument, Builder, Kernel
from legate_diffuse.kernel.ir import Op, RowProgram
from legate_diffuse.kernel.reductions import identity_bytes
from legate_diffuse.observe.counters import Counters
from legate_diffuse.observe.log import Topic, topic
from legate_diffuse.observe.progress import Progress

# A task with at least so many operations on elements has its kernels compiled when
# they are first needed. Compiling takes 5 to 15 ms, and so does this much work when it
# runs unfused. Compiling in a thread while the original tasks run was no faster on two
# processors, and took up to a third more processor time.
COMPILE_AT_ONCE: Final = 4_000_000

# The overhead of an original task, about 0.1 ms, in the same unit.
WORK_OF_A_LAUNCH: Final = 100_000


class KernelTable:
    """Compiles kernels and registers them with the native part.

    A task with little work may never come again, as in a program's set-up. So its
    kernels are compiled when they are needed for the second time, unless an earlier
    run of the program has left them on disk. A program's results do not depend on
    that: kernels that give other bits than the original tasks are compiled at once.
    What runs as it comes is interpreted instead, with the same bits, until it has run
    often. ``LEGATE_DIFFUSE_SYNC_COMPILE=1`` compiles every kernel at once.
    """

    def __init__(self, native: Any, several_ranks: bool, counters: Counters) -> None:
        self._counters = counters
        self._native = native
        self._threads = native.num_threads()
        # All ranks must submit the same tasks, so what a rank submits may not depend
        # on what it finds on its disk.
        self._always = (
            several_ranks
            or settings.flag("LEGATE_DIFFUSE_SYNC_COMPILE")
            or settings.flag("LEGATE_DIFFUSE_CHECK")
        )
        # each nest then has a number of its own, as its time is that of its lines
        self._timed = settings.explanation_is_measured()
        self._progress = Progress()
        self._log = topic("compile")
        self._compiler: Any = None
        # several of one kernel only if it is timed
        self._numbers: dict[Kernel | RowProgram, list[int]] = {}
        self._seen: set[Kernel] = set()
        # of those that run as they come
        self._interpreted: dict[Kernel, int] = {}
        # that all ranks have
        self._everywhere: set[Kernel] = set()
        # by operator and type
        self._combining: dict[tuple[str, str], int] = {}
        # whose code is kept, as the numbers above stand for it
        self._combining_kernels: set[Kernel | RowProgram] = set()

    def find(self, kernels: Sequence[Kernel], work: int) -> list[int | None]:
        """Return the numbers of a task's kernels, None for those to be compiled later.

        If there are such, the original tasks should run.

        Args:
            kernels: the kernels.
            work: operations on elements in the task.
        """
        numbers = [self._known(kernel) for kernel in kernels]
        if None not in numbers:
            return numbers
        compiler = self._get_compiler()
        at_once = (
            self._always
            or work >= COMPILE_AT_ONCE
            or not all(map(compiler.keeps_bits, kernels))
            or any(map(_divides_integers, kernels))
        )
        if at_once:
            # kernels that cannot be compiled count, so that all ranks have as many
            for kernel in kernels:
                self._numbers.setdefault(kernel, [])
        compiles = at_once or self._were_seen(kernels)
        return [self._get(kernel, compiles) for kernel in kernels]

    def find_at_once(self, kernels: Sequence[Kernel]) -> list[int | None]:
        """Return the numbers of kernels that run as they come, in this thread."""
        compiler = self._get_compiler()
        numbers = []
        for kernel in kernels:
            number = self._known(kernel)
            if number is None and not (self._always or self._timed):
                number = self._interpret(kernel, compiler)
            numbers.append(self._get(kernel, True) if number is None else number)
        return numbers

    def _interpret(self, kernel: Kernel, compiler: Any) -> int | None:
        """Return the number of an interpreted kernel, None if it is to be compiled."""
        native = self._native
        number = self._interpreted.get(kernel)
        if number is not None:
            if native.is_kernel_ready(number):
                return number
            native.forget_kernel(self._interpreted.pop(kernel))
            return None
        known = compiler.interpretable(kernel)
        number = None if known is None else native.interpret_kernel(*known)
        if number is not None:
            self._interpreted[kernel] = number
        return number

    def runs_rows(self) -> bool:
        """Return whether there may be code for kernels that run row by row."""
        return bool(self._get_compiler().runs_rows)

    def find_rows(self, program: RowProgram) -> int:
        """Return the number of kernels that run row by row, which have been found.

        `NO_CODE` if there is none for them.
        """
        number = self._known(program)
        if number is None:
            compiled = self._call(self._compiler.compile_rows, program)
            number = NO_CODE
            if compiled is not None:
                if self._log is not None:
                    _tell(self._log, program, compiled)
                number = self._native.register_kernel(compiled.address)
            self._numbers.setdefault(program, []).append(number)
        return number

    def __len__(self) -> int:
        """Return how many kernels there are."""
        return len(self._numbers) + len(self._interpreted)

    def keep(self, wanted: Container[Kernel | RowProgram]) -> Callable[[], None]:
        """Forget all kernels but some.

        Returns what frees the others, once no task may run that needs them.
        """
        forgotten = []
        for kernel in list(self._numbers):
            if kernel not in wanted:
                if isinstance(kernel, Kernel):
                    self._everywhere.discard(kernel)
                # in this order: no number must be given to code that is to be freed
                code = None
                if kernel not in self._combining_kernels:
                    code = self._compiler.forget(kernel)
                forgotten.append((self._numbers.pop(kernel, ()), code))

        interpreted, self._interpreted = self._interpreted, {}

        def free() -> None:
            for number in interpreted.values():
                self._native.forget_kernel(number)
            for numbers, code in forgotten:
                for number in numbers:
                    if number != NO_CODE:
                        self._native.forget_kernel(number)
                if code is not None:
                    code.free()

        return free

    def are_everywhere(self, kernels: Iterable[Kernel]) -> bool:
        """Whether it is known that all ranks have these kernels; on all the same."""
        return self._everywhere.issuperset(kernels)

    def note_everywhere(self, kernels: Iterable[Kernel]) -> None:
        """Note that all ranks have these kernels."""
        # a nest of a timed program has a kernel of its own, which may fail
        if not self._timed:
            self._everywhere.update(kernels)

    def _get_compiler(self) -> Any:
        if self._compiler is None:
            from legate_diffuse.codegen import compiler_of

            self._compiler = compiler_of(self._native.target())
        return self._compiler

    def _known(self, kernel: Kernel | RowProgram) -> int | None:
        """Return the number that a nest with a kernel shares with others."""
        numbers = None if self._timed else self._numbers.get(kernel)
        return numbers[0] if numbers else None

    def _were_seen(self, kernels: Sequence[Kernel]) -> bool:
        """Whether all of a task's kernels were needed before, or are on disk.

        Else none of them is compiled now: the original tasks will run.
        """
        missing = {k for k in kernels if self._known(k) is None}
        new = [k for k in missing - self._seen if self._compiler.find(k) is None]
        self._seen |= missing
        self._count()
        return not new

    def _get(self, kernel: Kernel, compiles: bool) -> int | None:
        """Return the number of a kernel for a nest, None if it is not compiled yet."""
        known = self._known(kernel)
        if known is not None:
            return known
        if compiles:
            compiled = self._call(self._compiler.compile, kernel)
        else:
            compiled = self._compiler.find(kernel)
            self._count()
        if compiled is None:
            return None
        if self._log is not None:
            _tell(self._log, kernel, compiled)
        number: int = self._native.register_kernel(
            compiled.address, self._reductions(kernel), self._timed
        )
        self._numbers.setdefault(kernel, []).append(number)
        self._seen.discard(kernel)
        return number

    def _call(self, compile_: Callable[[Any], Any], kernel: Kernel | RowProgram) -> Any:
        """Return what `compile_` makes of a kernel, while progress is shown."""
        compiler = self._compiler
        with self._progress.compiling(
            compiler.kernels_compiled, compiler.compile_seconds
        ):
            compiled = compile_(kernel)
        self._count()
        return compiled

    def _count(self) -> None:
        compiler, counters = self._compiler, self._counters
        counters.kernels_compiled = compiler.kernels_compiled
        counters.kernel_disk_hits = compiler.disk_hits
        counters.compile_seconds = compiler.compile_seconds

    def _reductions(self, kernel: Kernel) -> list[tuple[int, int, bytes]]:
        """Return what threads need for partial results: see ``register_kernel``."""
        if self._threads == 1:
            return []
        return [
            (
                number,
                self._combine(argument.reduces, argument.dtype),
                identity_bytes(argument.reduces, argument.dtype),
            )
            for number, argument in enumerate(kernel.arguments)
            if argument.reduces is not None
        ]

    def _combine(self, operator: str, dtype: str) -> int:
        """Return the kernel that reduces its second argument to its first one."""
        key = operator, dtype
        if key not in self._combining:
            target = Argument(dtype, reads=False, writes=False, reduces=operator)
            builder = Builder((target, Argument(dtype, reads=True, writes=False)), ())
            builder.reduce(0, builder.load(1))
            kernel = builder.build()
            self._combining_kernels.add(kernel)
            compiled = self._compiler.compile(kernel)
            self._combining[key] = self._native.register_kernel(compiled.address)
        return self._combining[key]


def _tell(log: Topic, kernel: Kernel | RowProgram, compiled: Any) -> None:
    """Log how the code of a kernel was got."""
    kernels = [kernel] if isinstance(kernel, Kernel) else kernel.kernels
    steps = [step for one in kernels for step in one.body if isinstance(step, Op)]
    words = dict.fromkeys(f"{step.name} {step.dtype}" for step in steps)
    what = f"{compiled.name} ({', '.join(words) or 'copies'})"
    milliseconds = 1e3 * compiled.seconds
    if compiled.missed is None:
        log.debug(f"loaded {what} from disk in {milliseconds:.1f} ms")
        return
    log.info(f"compiled {what} in {milliseconds:.1f} ms, as {compiled.missed.value}")


def _divides_integers(kernel: Kernel) -> bool:
    return any(
        isinstance(operation, Op) and operation.name in ("quotient", "remainder")
        for operation in kernel.body
    )
