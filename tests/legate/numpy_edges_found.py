# SPDX-License-Identifier: Apache-2.0
"""Programs with edges whose fused results were wrong once, or that failed.

Several of them copy a few rows of an array through short temporaries to places far
away. All values are small integers in float64, so every order of sums is exact.
"""

from __future__ import annotations

from typing import Any

from numpy_edges import integers


def edge_of_an_edge(np: Any) -> tuple[Any, ...]:
    """A recomputed row reads a short store that begins at another row."""
    u = integers(np, 0, (400, 50))
    p, r, q = np.zeros(u.shape), np.zeros(u.shape), np.zeros(u.shape)
    p[2:-2] = u[2:-2] + u[2:-2]
    r[:] = u + u
    q[:] = u + u
    r[:2, 1:-1] = p[-4:-2, 1:-1]
    a = r[1:] + r[:-1]
    q[-1:] = r[1:2]
    b = q[1:] + q[:-1] + u[1:] + p[1:]
    return a, b, a.sum(), b.sum()


def short_buffer_taken_over(np: Any) -> tuple[Any, ...]:
    """A temporary takes the buffer of a short store, and is then addressed as one."""
    u = integers(np, 0, (60, 20))
    p, r, z = np.zeros(u.shape), np.zeros(u.shape), np.zeros((1, 20))
    p[:] = u + u
    r[:] = u + u
    edge = p[30:32] + p[30:32]
    r[:2] = edge
    a = r[1:] + r[:-1] + u[1:] + p[1:]
    s = a.sum()
    z[:] = edge[1:2] * s
    return a, z


def row_of_a_temporary(np: Any) -> tuple[Any, ...]:
    a = integers(np, 2, (70, 67))
    b = integers(np, 3, (70, 67))
    c = integers(np, 2, (70, 67))
    for _ in range(4):
        d = np.zeros((70, 67))
        c[69:70, 1:-1] = d[0:1, 1:-1]
        e = b[3:5] + a[0:2]
        e[:, 1:] = np.remainder(
            np.maximum(((c[61:63, 1:67] * c[0:2, 1:67]) * a[68:, :-1]), a[66:68, :-1]),
            97.0,
        )
        d[68:70] = e[0:2]
        c[0:1] = e[1:2]
        f = b[0:1] + c[0:1]
        b[69:70] += f[0:1]
        b[68:70] = d[31:33] + d[31:33]
        d[58:59] += f[0:1]
        a[69:70, 1:-1] = d[67:68, 1:-1]
        a[69:70, 1:-1] = a[0:1, 1:-1] + a[0:1, 1:-1]
        c[67:70, 1:-1] = a[66:69, 1:-1]
        g = a.copy()
        h = g[69:70] + g[2:3]
    return a, b, c, d, e, f, g, h


def edge_read_late(np: Any) -> tuple[Any, ...]:
    a = integers(np, 3, (41, 53))
    b = integers(np, 2, (41, 53))
    for _ in range(4):
        c = b[39:41] + b[39:41]
        d = a[4:5] + b[40:41]
        b[0:2] = a[35:37] + a[35:37]
        e = a + a
        e[38:41, 1:-1] = e[38:41, 1:-1] * 2.0
        f = e.copy()
        g = e[4:5] + e[2:3]
        e[40:41] = f[40:41] + f[40:41]
        h = e + f
        h[1:41] = b[0:40] + f[1:41]
        a[39:41] = f[29:31] * 2.0
        i = e.copy()
        h[2:41] += i[2:41] + a[0:39]
        f[10:11] += c[1:2]
        del c
        e[0:1] += g[0:1]
    return a, b, d, e, f, g, h, i


def second_row_of_two(np: Any) -> tuple[Any, ...]:
    u, v = integers(np, 5, (31, 24)), integers(np, 6, (31, 24))
    for _ in range(3):
        one = v[30:31] + u[0:1]
        u[2:31] += v[1:30] + v[2:31]
        v[30:31, 1:-1] = v[0:1, 1:-1]
        u[0:1] = one[0:1]
        x = u[1:31] + u[1:31]
        two = v[25:27] + v[2:4]
        v[0:2] = u[25:27] * 2.0
        v[8:9] = two[1:2]
        y = np.zeros((29, 24)) + np.remainder(v[0:29] * x[0:29], 97.0)
        z = np.remainder(v[2:29] + u[1:28], 97.0)
    return u, v, x, y, z


def third_row(np: Any) -> tuple[Any, ...]:
    a = integers(np, 1, (27, 75))
    b = integers(np, 0, (27, 75))
    c = integers(np, 0, (27, 75))
    for _ in range(4):
        c[2:25, 0:74] = a[5:6, 0:74] + c[4:27, :-1]
        d = b[14:16] + a[25:27]
        b[1:27] = b[1:27] + a[0:26] + a[1:27]
        c[23:24] = d[1:2]
        e = b[26:27] + c[0:1]
        a[2:25] = c[0:23] + a[1:24]
        a[25:27, 1:-1] = b[25:27, 1:-1]
        a[26:27] = b[25:26]
        f = e.copy()
    return a, b, c, d, e, f


def one_dimension(np: Any) -> tuple[Any, ...]:
    a, b, c, d = (integers(np, k, (229,)) for k in (11, 12, 13, 14))
    a[1:4] += np.remainder(b[0:3] - c[1:4] + d[226:] - c[1:4], 97.0)
    b[2:229] = c[1:-1] + b[2:229]
    e = np.remainder(a * d - c - a, 97.0)
    d[226:229] = a[225:228]
    b, c = c, b
    d[3:229] = np.remainder(
        b[3:] * np.roll(a, 2)[3:] - c[1:227] * np.roll(d, 1)[3:], 97.0
    )
    b[0:1] = d[159:160] + d[159:160]
    d[0:227] = 2.0 + np.roll(e, 2)[2:229]
    d[b > 40.0] = 3.0
    c[226:229] = d[223:226]
    b[227:229] = e[224:226] + e[224:226]
    b[226:229] = b[32:35] + b[32:35]
    c[:] += np.remainder(b * np.roll(b, 2), 97.0)
    return a, b, c, d, e


def rows_of_a_cut_band(np: Any) -> tuple[Any, ...]:
    """A band is cut where a landmark is far away; its rows stay where they are."""
    a = integers(np, 0, (9, 40))
    for _ in range(2):
        a[0:7, :] = np.remainder(((a[1:8, :] - a[0:7, :]) * a[1:8, :]), 97.0)
        b = np.remainder(np.where(a > 40.0, a, a + 1.0), 97.0)
        c = a[3:6] * b[3:6]
        a[0:2, :-1] = c[0:2, :-1]
        a[2:8, 1:-1] += a[3:9, 1:-1] + 1.0
        d = np.zeros((9, 40))
        e = np.remainder(c[0:2] + b[7:9], 97.0)
        a[3:9, :-1] = np.remainder(((b[3:9, 1:] + d[3:9, :-1]) * d[0:6, :-1]), 97.0)
    return a, b, c, d, e


FOUND = (
    edge_of_an_edge,
    short_buffer_taken_over,
    row_of_a_temporary,
    edge_read_late,
    second_row_of_two,
    third_row,
    one_dimension,
    rows_of_a_cut_band,
)
