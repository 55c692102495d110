# SPDX-License-Identifier: Apache-2.0
"""Small programs for inject.py, one statement after the other.

Each statement changes one variable, or appends one value to ``out``; whatever
interrupts it, the variable is as it was before or as it is after. ``np`` is
cupynumeric or NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Program:
    """Statements, and the conditions under which they run.

    Attributes:
        text: the statements, a line each.
        cold: what is forgotten before each run: "plans", "kernels" as well, or "cuts",
            which are where full windows end.
        capacity: operations that wait at most, 0 for as many as ever.
        splits: whether launches are split, whatever memory they take.
        environment: settings of the process.
    """

    text: str
    cold: str = ""
    capacity: int = 0
    splits: bool = False
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def statements(self) -> list[str]:
        """The statements."""
        return [line.strip() for line in self.text.strip().splitlines()]


_PARTITIONED = {
    "LEGATE_CONFIG": "--cpus 2 --gpus 0 --sysmem 500 --utility 1",
    "LEGATE_DIFFUSE_THREADS": "1",
    "LEGATE_TEST": "1",
}

# Operations on arrays of at most so many bytes run as they come.
_AT_ONCE = {"LEGATE_DIFFUSE_SMALL_BYTES": "100"}

# Operations on arrays wait, and native code records them.
_WAITING = {"LEGATE_DIFFUSE_SMALL_BYTES": "8"}

_CHAIN = """
    x = np.arange(12.0)
    y = x * 2.0 + 1.0
    x += y
    z = np.sqrt(x) - y
    y *= z
    x = np.where(y > 3.0, x, z)
    w = x - y * 0.5
    w /= 3.0
"""

_LONG_CHAIN = """
    x = np.arange(12.0)
    y = x * 2.0 + 1.0
    x += y
    y = y * x - 3.0
    x = x - y * 0.125
    y += x
    z = np.sqrt(np.abs(x) + y * y)
    x = x * 0.5 + z
    y = y - x + 1.0
    z *= y
    x += z * 0.25
    out.append(x.tolist())
"""

PROGRAMS = {
    "recording": Program(_CHAIN),
    "native recording": Program(
        _CHAIN
        + """
    y[2:] = w[:-2]
    y += x
    np.maximum(x, y, out=z)
    x[1:] = z[:-1] * y[1:]
    """,
        environment=_WAITING,
    ),
    "flush": Program(
        """
        x = np.arange(12.0)
        y = x * 2.0 + 1.0
        out.append(float(y.sum()))
        x += y
        y -= x * 0.5
        out.append(float(x[3]))
        x *= 1.5
        out.append(x.tolist())
        y += x
        out.append(y.tolist())
        """
    ),
    "cold plan": Program(_CHAIN, cold="plans"),
    "cold compile": Program(
        """
        x = np.arange(12.0)
        y = x * 2.0 + 1.0
        x += np.sqrt(y)
        """,
        cold="kernels",
    ),
    "slices": Program(
        """
        x = np.arange(30.0).reshape(5, 6)
        y = np.zeros((5, 6))
        y[1:-1, 1:-1] = x[1:-1, :-2] + x[1:-1, 2:]
        x[1:] += x[:-1]
        y[0] = x[1]
        x[2, :] = 7.0
        x[:, 1] *= y[:, 2]
        y[1:4] -= x[:3] * 0.25
        out.append(float(y[2, 2]))
        x[:2, ::] += 1.0
    """
    ),
    "single elements": Program(
        """
        x = np.arange(9.0)
        s = x.sum()
        t = s * 0.5
        s += t
        x *= t
        u = np.zeros(()) + 2.0
        v = u * 3.0
        u += 1.0
        w = x * u
        out.append(float(v))
        t -= s
        x -= w.max()
        out.append(float(t))
        m = (x > 0.0).any()
        i = np.arange(6) // 2
    """
    ),
    "full windows": Program(_LONG_CHAIN, capacity=9),
    "split launches": Program(_LONG_CHAIN, splits=True),
    "cut windows": Program(_LONG_CHAIN, cold="cuts", capacity=9),
    "unfused tasks": Program(
        """
        x = np.arange(12.0)[::1] * 3.0 % 5.0
        y = np.sort(x)
        y += x
        x = np.cumsum(y)
        x -= 1.0
        y = np.dot(x.reshape(3, 4), y.reshape(4, 3))
        y *= 2.0
        out.append(float(y[1, 1]))
    """
    ),
    "selections": Program(
        """
        x = np.arange(12.0) % 5.0
        m = x > 1.0
        y = x[m] * 2.0
        x[m] = y
        y = x[m] + 1.0
        z = x[m] - y
        x[m] = np.sqrt(y) * z
        out.append(float(y.sum()))
        m[:3] = False
        z += 1.0
        x[m] = x[m] * 0.5
        out.append(z.tolist())
        y = x[x < 3.0]
    """
    ),
    "partitions": Program(
        """
        x = np.arange(12.0)
        s = x.sum()
        y = x * s + 1.0
        t = s * 2.0
        x += y
        y[1:] = x[:-1]
        out.append(float(y.max()))
        t += s
        x -= t
        out.append(float(t))
        y *= x
    """,
        environment=_PARTITIONED,
    ),
    "at once": Program(
        """
        x = np.arange(12.0)
        y = x * 2.0 + np.ones(12)
        x += y
        y[3] = x[4]
        x[-1] = 7.0
        out.append(float(y.sum()))
        z = np.full((3, 1), 0.5) * np.zeros(4) - y[2]
        np.multiply(y, x, out=y)
        x[1:] += x[:-1]
        m = (x > 20.0).any()
        out.append(x.max().item())
        y *= np.maximum(x, y) > 30.0
        z -= x[0]
        out.append(z.tolist())
    """,
        environment=_AT_ONCE,
    ),
    "at once, cold plan": Program(
        """
        x = np.arange(6.0)
        y = x + np.ones((2, 1))
        x = np.where(x > 2.0, x, y[1])
        y += x
        x[2] = y[1, 2]
        y = np.clip(y, 1.0, 5.0)
    """,
        cold="plans",
        environment=_AT_ONCE,
    ),
    "at once, products and masks": Program(
        """
        a = np.arange(64.0).reshape(8, 8)
        x = a[3] * 0.5
        y = a @ x - x
        b = a @ a
        m = y > 2000.0
        z = y[m]
        y[m] = -1.0
        x = np.roll(x, 3)
        y[2:] = x[:-2]
        r = b.sum(axis=0)
        out.append(float(x.dot(y)))
        r -= b[:, 1]
        y[~m] = 2.0
        x = b.reshape(16, 4)[3:5]
        z *= z
        out.append(r.max().item())
    """,
        environment=_AT_ONCE,
    ),
    "before what waits": Program(
        """
        x = np.arange(12.0)
        y = np.arange(40.0) * 2.0
        y[:12] += x
        x += 1.0
        y[20:32] -= x
        x[3] = 5.0
        s = y.sum()
        x *= s
        z = x[2] + s
        out.append(float(z))
        x -= z
        x = np.cumsum(x, dtype=float)
        x += 1.0
        y[1:13] *= x
    """,
        environment=_AT_ONCE,
    ),
}
