# SPDX-License-Identifier: Apache-2.0
"""The loop nest around every kernel: rows, and copies of what is not contiguous.

It is compiled once and shared by all kernels. It gives each row to the kernel's loop in
one call, or in as few as the loop's limit allows, when every argument has the strides
that the loop expects. Otherwise the row goes through small contiguous buffers, `CHUNK`
elements at a time, so that the same code computes every element.

Where a nest writes much more than caches hold, its outputs bypass them, from the first
element on that lies on a cache line in all outputs.
"""

from typing import Final

LOOPS: Final = "legate_diffuse_loops"
"""Symbol of `void(body, about, pointers, strides, extents, scalars)`.

`body` is `void(char* const* pointers, const char* scalars, int64_t points,
int64_t* strides, bool streams)`; with `streams` its outputs must be aligned, and bypass
the caches. `about` is
`{int64_t arguments, log2_lanes, most_points; {int64_t itemsize, flags} argument[]}`,
where `most_points` is the limit to what `body` is called with, a multiple of the lanes.
"""

READ: Final = 1
WRITE: Final = 2
INVARIANT: Final = 4
"""The argument is used at its pointer only: its inner stride must be 0."""
INDEX: Final = 8
"""The argument is no memory: its pointer is a number that grows by the strides."""

CHUNK: Final = 128
"""Elements of a buffer: a multiple of any number of lanes."""
STREAM_FROM: Final = 32 * 2**20
"""Bytes that a nest must write for its outputs to bypass the caches.

A chain of ten operations on 2e7 float64 then takes 24 % less time on Zen 5.
"""
_BUFFER_BYTES: Final = CHUNK * 16


def loops_module(triple: str) -> str:
    """Return the loops in LLVM assembly, to be optimised before code is emitted."""
    return (
        f'target triple = "{triple}"\n'
        + _LOOPS.replace("CHUNK", str(CHUNK))
        .replace("BUFFER", str(_BUFFER_BYTES))
        .replace("STREAM_FROM", str(STREAM_FROM))
        .replace("@loops", f"@{LOOPS}")
        + "".join(
            _COPIES.replace("SIZE", str(size)).replace("BITS", str(8 * size))
            for size in (1, 2, 4, 8, 16)
        )
        + _COPY_CHOICE
    )


# Loop variables live in memory here and are promoted to registers by LLVM.
_LOOPS: Final = """
%Argument = type { i64, i64 }
%About = type { i64, i64, i64, [0 x %Argument] }

define void @loops(ptr %body, ptr %about, ptr %pointers, ptr %strides, ptr %extents,
                   ptr %scalars) nounwind {
entry:
  %n = load i64, ptr %about
  %shift.at = getelementptr %About, ptr %about, i64 0, i32 1
  %shift = load i64, ptr %shift.at
  %most.at = getelementptr %About, ptr %about, i64 0, i32 2
  %most = load i64, ptr %most.at
  %outer = load i64, ptr %extents
  %inner.at = getelementptr i64, ptr %extents, i64 1
  %inner = load i64, ptr %inner.at
  %counted.at = getelementptr i64, ptr %extents, i64 2
  %counted = load i64, ptr %counted.at
  %i = alloca i64
  %row = alloca i64
  %j = alloca i64
  %lead = alloca i64
  %aligned = alloca i1
  %output.bytes = alloca i64
  %fits = alloca i1
  %unit = alloca i1
  %rows = alloca ptr, i64 %n
  %chunks = alloca ptr, i64 %n
  %passed = alloca ptr, i64 %n
  %bytes = mul i64 %n, BUFFER
  %buffers = alloca i8, i64 %bytes, align 64
  store i1 true, ptr %fits
  store i1 true, ptr %unit
  store i64 0, ptr %output.bytes
  store i64 0, ptr %i
  br label %strides.test
strides.test:
  %i.1 = load i64, ptr %i
  %more.1 = icmp slt i64 %i.1, %n
  br i1 %more.1, label %strides.body, label %rows.start
strides.body:
  %size.1.at = getelementptr %About, ptr %about, i64 0, i32 3, i64 %i.1, i32 0
  %size.1 = load i64, ptr %size.1.at
  %flags.1.at = getelementptr %About, ptr %about, i64 0, i32 3, i64 %i.1, i32 1
  %flags.1 = load i64, ptr %flags.1.at
  %stride.1.at = getelementptr [2 x i64], ptr %strides, i64 %i.1, i64 1
  %stride.1 = load i64, ptr %stride.1.at
  %invariant.bit = and i64 %flags.1, 4
  %invariant = icmp ne i64 %invariant.bit, 0
  %is.zero = icmp eq i64 %stride.1, 0
  %is.unit = icmp eq i64 %stride.1, %size.1
  %fits.this = select i1 %invariant, i1 %is.zero, i1 true
  %index.bit = and i64 %flags.1, 8
  %is.index = icmp ne i64 %index.bit, 0
  %any.stride = or i1 %invariant, %is.index
  %unit.this = select i1 %any.stride, i1 true, i1 %is.unit
  %fits.so.far = load i1, ptr %fits
  %unit.so.far = load i1, ptr %unit
  %fits.next = and i1 %fits.so.far, %fits.this
  %unit.next = and i1 %unit.so.far, %unit.this
  store i1 %fits.next, ptr %fits
  store i1 %unit.next, ptr %unit
  %direction.1 = and i64 %flags.1, 3
  %is.output.1 = icmp eq i64 %direction.1, 2
  %output.size = select i1 %is.output.1, i64 %size.1, i64 0
  %output.bytes.now = load i64, ptr %output.bytes
  %output.bytes.next = add i64 %output.bytes.now, %output.size
  store i64 %output.bytes.next, ptr %output.bytes
  %i.1.next = add i64 %i.1, 1
  store i64 %i.1.next, ptr %i
  br label %strides.test
rows.start:
  %fits.all = load i1, ptr %fits
  %unit.all = load i1, ptr %unit
  %direct = and i1 %fits.all, %unit.all
  %output.bytes.all = load i64, ptr %output.bytes
  %written = mul i64 %counted, %output.bytes.all
  %large = icmp uge i64 %written, STREAM_FROM
  %stream = and i1 %direct, %large
  %limit = select i1 %fits.all, i64 CHUNK, i64 1
  store i64 0, ptr %row
  br label %rows.test
rows.test:
  %row.now = load i64, ptr %row
  %rows.more = icmp slt i64 %row.now, %outer
  br i1 %rows.more, label %row.start, label %exit
row.start:
  store i64 0, ptr %i
  br label %row.pointers.test
row.pointers.test:
  %i.2 = load i64, ptr %i
  %more.2 = icmp slt i64 %i.2, %n
  br i1 %more.2, label %row.pointers.body, label %row.align
row.pointers.body:
  %base.at = getelementptr ptr, ptr %pointers, i64 %i.2
  %base = load ptr, ptr %base.at
  %stride.2.at = getelementptr [2 x i64], ptr %strides, i64 %i.2, i64 0
  %stride.2 = load i64, ptr %stride.2.at
  %row.offset = mul i64 %row.now, %stride.2
  %row.pointer = getelementptr i8, ptr %base, i64 %row.offset
  %rows.at = getelementptr ptr, ptr %rows, i64 %i.2
  store ptr %row.pointer, ptr %rows.at
  %i.2.next = add i64 %i.2, 1
  store i64 %i.2.next, ptr %i
  br label %row.pointers.test
row.align:
  store i64 -1, ptr %lead
  store i1 %stream, ptr %aligned
  store i64 0, ptr %i
  br i1 %stream, label %align.test, label %align.end
align.test:
  %i.5 = load i64, ptr %i
  %more.5 = icmp slt i64 %i.5, %n
  br i1 %more.5, label %align.body, label %align.end
align.body:
  %flags.5.at = getelementptr %About, ptr %about, i64 0, i32 3, i64 %i.5, i32 1
  %flags.5 = load i64, ptr %flags.5.at
  %direction.5 = and i64 %flags.5, 3
  %is.output.5 = icmp eq i64 %direction.5, 2
  br i1 %is.output.5, label %align.output, label %align.next
align.output:
  %size.5.at = getelementptr %About, ptr %about, i64 0, i32 3, i64 %i.5, i32 0
  %size.5 = load i64, ptr %size.5.at
  %rows.5.at = getelementptr ptr, ptr %rows, i64 %i.5
  %rows.5 = load ptr, ptr %rows.5.at
  %address = ptrtoint ptr %rows.5 to i64
  %vector.bytes = shl i64 %size.5, %shift
  %narrow = icmp ult i64 %vector.bytes, 64
  %line = select i1 %narrow, i64 %vector.bytes, i64 64
  %line.mask = sub i64 %line, 1
  %ahead = sub i64 0, %address
  %gap = and i64 %ahead, %line.mask
  %gap.points = udiv i64 %gap, %size.5
  %lead.known = load i64, ptr %lead
  %is.first = icmp slt i64 %lead.known, 0
  %lead.used = select i1 %is.first, i64 %gap.points, i64 %lead.known
  store i64 %lead.used, ptr %lead
  %lead.bytes = mul i64 %lead.used, %size.5
  %start = add i64 %address, %lead.bytes
  %beyond = and i64 %start, %line.mask
  %on.line = icmp eq i64 %beyond, 0
  %aligned.so.far = load i1, ptr %aligned
  %aligned.next = and i1 %aligned.so.far, %on.line
  store i1 %aligned.next, ptr %aligned
  br label %align.next
align.next:
  %i.5.next = add i64 %i.5, 1
  store i64 %i.5.next, ptr %i
  br label %align.test
align.end:
  %lead.found = load i64, ptr %lead
  %all.aligned = load i1, ptr %aligned
  %lead.fits = icmp sle i64 %lead.found, %inner
  %row.stream = and i1 %all.aligned, %lead.fits
  %lead.points = select i1 %row.stream, i64 %lead.found, i64 0
  store i64 0, ptr %j
  br i1 %direct, label %body.test, label %chunk.test
body.test:
  %first.6 = load i64, ptr %j
  %more.body = icmp slt i64 %first.6, %inner
  br i1 %more.body, label %body.points, label %row.end
body.points:
  %leads = icmp slt i64 %first.6, %lead.points
  %until = select i1 %leads, i64 %lead.points, i64 %inner
  %left.6 = sub i64 %until, %first.6
  %fewer = icmp slt i64 %left.6, %most
  %points.6 = select i1 %fewer, i64 %left.6, i64 %most
  %follows = xor i1 %leads, true
  %streams.6 = and i1 %row.stream, %follows
  %at.start = icmp eq i64 %first.6, 0
  store i64 0, ptr %i
  br i1 %at.start, label %body.call, label %advance.test
advance.test:
  %i.6 = load i64, ptr %i
  %more.6 = icmp slt i64 %i.6, %n
  br i1 %more.6, label %advance.body, label %body.call
advance.body:
  %stride.6.at = getelementptr [2 x i64], ptr %strides, i64 %i.6, i64 1
  %stride.6 = load i64, ptr %stride.6.at
  %rows.6.at = getelementptr ptr, ptr %rows, i64 %i.6
  %rows.6 = load ptr, ptr %rows.6.at
  %offset.6 = mul i64 %first.6, %stride.6
  %from.6 = getelementptr i8, ptr %rows.6, i64 %offset.6
  %passed.6.at = getelementptr ptr, ptr %passed, i64 %i.6
  store ptr %from.6, ptr %passed.6.at
  %i.6.next = add i64 %i.6, 1
  store i64 %i.6.next, ptr %i
  br label %advance.test
body.call:
  %from = select i1 %at.start, ptr %rows, ptr %passed
  call void %body(ptr %from, ptr %scalars, i64 %points.6, ptr %strides, i1 %streams.6)
  %j.6 = add i64 %first.6, %points.6
  store i64 %j.6, ptr %j
  br label %body.test
chunk.test:
  %j.now = load i64, ptr %j
  %left = sub i64 %inner, %j.now
  %chunk.more = icmp sgt i64 %left, 0
  br i1 %chunk.more, label %chunk.start, label %row.end
chunk.start:
  %short = icmp slt i64 %left, %limit
  %count = select i1 %short, i64 %left, i64 %limit
  store i64 0, ptr %i
  br label %pack.test
pack.test:
  %i.3 = load i64, ptr %i
  %more.3 = icmp slt i64 %i.3, %n
  br i1 %more.3, label %pack.body, label %chunk.compute
pack.body:
  %size.3.at = getelementptr %About, ptr %about, i64 0, i32 3, i64 %i.3, i32 0
  %size.3 = load i64, ptr %size.3.at
  %flags.3.at = getelementptr %About, ptr %about, i64 0, i32 3, i64 %i.3, i32 1
  %flags.3 = load i64, ptr %flags.3.at
  %stride.3.at = getelementptr [2 x i64], ptr %strides, i64 %i.3, i64 1
  %stride.3 = load i64, ptr %stride.3.at
  %rows.3.at = getelementptr ptr, ptr %rows, i64 %i.3
  %rows.3 = load ptr, ptr %rows.3.at
  %chunk.offset = mul i64 %j.now, %stride.3
  %memory = getelementptr i8, ptr %rows.3, i64 %chunk.offset
  %chunks.3.at = getelementptr ptr, ptr %chunks, i64 %i.3
  store ptr %memory, ptr %chunks.3.at
  %passed.3.at = getelementptr ptr, ptr %passed, i64 %i.3
  %never.bits = and i64 %flags.3, 12
  %never.packed = icmp ne i64 %never.bits, 0
  %contiguous = icmp eq i64 %stride.3, %size.3
  %in.place = or i1 %never.packed, %contiguous
  %buffer.offset = mul i64 %i.3, BUFFER
  %buffer = getelementptr i8, ptr %buffers, i64 %buffer.offset
  %place = select i1 %in.place, ptr %memory, ptr %buffer
  store ptr %place, ptr %passed.3.at
  %read.bit = and i64 %flags.3, 1
  %read = icmp ne i64 %read.bit, 0
  %elsewhere = xor i1 %in.place, true
  %copy.in = and i1 %read, %elsewhere
  br i1 %copy.in, label %pack.copy, label %pack.next
pack.copy:
  call void @pack(i64 %size.3, ptr %buffer, ptr %memory, i64 %stride.3, i64 %count)
  br label %pack.next
pack.next:
  %i.3.next = add i64 %i.3, 1
  store i64 %i.3.next, ptr %i
  br label %pack.test
chunk.compute:
  call void %body(ptr %passed, ptr %scalars, i64 %count, ptr %strides, i1 false)
  store i64 0, ptr %i
  br label %unpack.test
unpack.test:
  %i.4 = load i64, ptr %i
  %more.4 = icmp slt i64 %i.4, %n
  br i1 %more.4, label %unpack.body, label %chunk.end
unpack.body:
  %flags.4.at = getelementptr %About, ptr %about, i64 0, i32 3, i64 %i.4, i32 1
  %flags.4 = load i64, ptr %flags.4.at
  %chunks.4.at = getelementptr ptr, ptr %chunks, i64 %i.4
  %chunks.4 = load ptr, ptr %chunks.4.at
  %passed.4.at = getelementptr ptr, ptr %passed, i64 %i.4
  %passed.4 = load ptr, ptr %passed.4.at
  %write.bit = and i64 %flags.4, 2
  %write = icmp ne i64 %write.bit, 0
  %buffered = icmp ne ptr %chunks.4, %passed.4
  %copy.out = and i1 %write, %buffered
  br i1 %copy.out, label %unpack.copy, label %unpack.next
unpack.copy:
  %size.4.at = getelementptr %About, ptr %about, i64 0, i32 3, i64 %i.4, i32 0
  %size.4 = load i64, ptr %size.4.at
  %stride.4.at = getelementptr [2 x i64], ptr %strides, i64 %i.4, i64 1
  %stride.4 = load i64, ptr %stride.4.at
  call void @unpack(i64 %size.4, ptr %chunks.4, ptr %passed.4, i64 %stride.4,
                    i64 %count)
  br label %unpack.next
unpack.next:
  %i.4.next = add i64 %i.4, 1
  store i64 %i.4.next, ptr %i
  br label %unpack.test
chunk.end:
  %j.next = add i64 %j.now, %count
  store i64 %j.next, ptr %j
  br label %chunk.test
row.end:
  %row.next = add i64 %row.now, 1
  store i64 %row.next, ptr %row
  br label %rows.test
exit:
  br i1 %stream, label %fence, label %return
fence:
  fence seq_cst
  br label %return
return:
  ret void
}
"""

_COPIES: Final = """
define internal void @packSIZE(ptr noalias %buffer, ptr noalias %memory, i64 %stride,
                               i64 %count) nounwind {
entry:
  br label %copy
copy:
  %i = phi i64 [ 0, %entry ], [ %i.next, %copy ]
  %offset = mul i64 %i, %stride
  %from = getelementptr i8, ptr %memory, i64 %offset
  %value = load iBITS, ptr %from, align 1
  %to = getelementptr iBITS, ptr %buffer, i64 %i
  store iBITS %value, ptr %to, align SIZE
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %count
  br i1 %more, label %copy, label %exit
exit:
  ret void
}
define internal void @unpackSIZE(ptr noalias %memory, ptr noalias %buffer, i64 %stride,
                                 i64 %count) nounwind {
entry:
  br label %copy
copy:
  %i = phi i64 [ 0, %entry ], [ %i.next, %copy ]
  %from = getelementptr iBITS, ptr %buffer, i64 %i
  %value = load iBITS, ptr %from, align SIZE
  %offset = mul i64 %i, %stride
  %to = getelementptr i8, ptr %memory, i64 %offset
  store iBITS %value, ptr %to, align 1
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %count
  br i1 %more, label %copy, label %exit
exit:
  ret void
}
"""


def _choice(name: str, parameters: str, arguments: str) -> str:
    cases = "".join(
        f"b{size}:\n  call void @{name}{size}({arguments})\n  ret void\n"
        for size in (1, 2, 4, 8, 16)
    )
    labels = " ".join(f"i64 {size}, label %b{size}" for size in (1, 2, 4, 8))
    return (
        f"define internal void @{name}(i64 %size, {parameters}) nounwind {{\n"
        f"  switch i64 %size, label %b16 [ {labels} ]\n{cases}}}\n"
    )


_COPY_CHOICE: Final = _choice(
    "pack",
    "ptr %buffer, ptr %memory, i64 %stride, i64 %count",
    "ptr %buffer, ptr %memory, i64 %stride, i64 %count",
) + _choice(
    "unpack",
    "ptr %memory, ptr %buffer, i64 %stride, i64 %count",
    "ptr %memory, ptr %buffer, i64 %stride, i64 %count",
)
