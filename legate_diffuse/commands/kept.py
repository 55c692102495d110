# SPDX-License-Identifier: Apache-2.0
"""``legate-diffuse cache``: what is kept on disk, and how to be rid of it."""

from __future__ import annotations

import os
import sys
import time

from legate_diffuse import settings
from legate_diffuse.codegen.cache import ObjectCache, UnsuitableError, default_folder
from legate_diffuse.observe.quantities import in_bytes
from legate_diffuse.observe.wording import plural


def run(clears: bool) -> int:
    """List all compiled kernels, or delete them; return the status of the command."""
    folder = default_folder(os.environ)
    try:
        cache = ObjectCache(folder, settings.cache_limit())
        entries = cache.clear() if clears else cache.entries()
    except (ValueError, OSError, UnsuitableError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        print(f"legate_diffuse: the cache in {folder}: {reason}", file=sys.stderr)
        return 1
    if not clears:
        for entry in entries:
            used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
            print(f"{entry.key[:32]}  {entry.size:>9,} bytes  used {used}")
    size = in_bytes(sum(entry.size for entry in entries))
    kernels = plural(len(entries), "compiled kernel")
    limit = in_bytes(settings.cache_limit())
    if clears:
        print(f"{kernels} of {size} deleted from {folder}")
    else:
        print(f"{kernels} of {size}, at most {limit}, in {folder}")
    return 0
