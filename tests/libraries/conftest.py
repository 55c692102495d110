# SPDX-License-Identifier: Apache-2.0
from compiled_kernels import compilers, run  # noqa: F401
