# SPDX-License-Identifier: Apache-2.0
"""Code generation for NVIDIA GPUs: from kernels to cubins.

README.md says which functions a kernel has and which values come out.
"""

from legate_diffuse.codegen.gpu.compiler import GpuCompiler
from legate_diffuse.codegen.gpu.libraries import missing
from legate_diffuse.codegen.gpu.refusal import NotOnGpuError

__all__ = ["GpuCompiler", "NotOnGpuError", "missing"]
