"""Build of the native core: csrc under strict warnings, the generated binding not."""

from __future__ import annotations

import os

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow"]
# A newer compiler may warn of more: who installs from source can turn errors off.
if os.environ.get("PHALANX_WERROR", "1") != "0":
    STRICT.append("-Werror")


class BuildCore(build_ext):
    """Compile csrc strictly and hand its objects to the link of the binding."""

    def build_extension(self, ext: Extension) -> None:
        """Build one extension; cffi's own generated C would trip the strict flags."""
        core = [path for path in ext.sources if path.startswith("csrc/")]
        objects = self.compiler.compile(
            core,
            output_dir=self.build_temp,
            include_dirs=ext.include_dirs,
            macros=ext.define_macros,
            extra_postargs=[*ext.extra_compile_args, *STRICT],
        )
        ext.sources = [path for path in ext.sources if path not in core]
        # Without this an edit of csrc alone leaves the linked module as it was.
        ext.depends = [*ext.depends, *objects]
        ext.extra_objects = [*ext.extra_objects, *objects]
        super().build_extension(ext)


setup(
    cffi_modules=["bindings/build_cffi.py:ffibuilder"],
    cmdclass={"build_ext": BuildCore},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
