"""Build of the native core: csrc under strict warnings, the generated binding not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "bindings"))

from build_cffi import compile_flags  # noqa: E402

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow"]
# A newer compiler may warn of more: who installs from source can turn errors off.
if os.environ.get("PHALANX_WERROR", "1") != "0":
    STRICT.append("-Werror")


class BuildCore(build_ext):
    """Compile csrc strictly, once, and hand its objects to the link of both modules."""

    _objects: list[str] | None = None

    def build_extension(self, ext: Extension) -> None:
        """Build one module; cffi's own generated C would trip the strict flags."""
        objects = self._core_objects(ext)
        # Without this an edit of csrc alone leaves the linked module as it was.
        ext.depends = [*ext.depends, *objects]
        ext.extra_objects = [*ext.extra_objects, *objects]
        super().build_extension(ext)

    def _core_objects(self, ext: Extension) -> list[str]:
        if self._objects is None:
            self._objects = self.compiler.compile(
                sorted(f"csrc/{path.name}" for path in ROOT.glob("csrc/*.c")),
                output_dir=self.build_temp,
                include_dirs=ext.include_dirs,
                extra_postargs=[*compile_flags()[0], *STRICT],
            )
        return self._objects


def hot_calls() -> Extension:
    """The module beside CFFI's, written by hand."""
    flags, link = compile_flags()
    return Extension(
        "phalanx_core._calls",
        sources=["bindings/calls.c"],
        include_dirs=["csrc"],
        depends=sorted(f"csrc/{path.name}" for path in ROOT.glob("csrc/*.h")),
        # Python's own tables hold functions as void *, which is pedantry's one rule broken.
        extra_compile_args=[
            *flags,
            *(flag for flag in STRICT if "pedantic" not in flag),
        ],
        extra_link_args=link,
        py_limited_api=True,
    )


setup(
    cffi_modules=["bindings/build_cffi.py:ffibuilder"],
    ext_modules=[hot_calls()],
    cmdclass={"build_ext": BuildCore},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
