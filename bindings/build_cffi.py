"""The CFFI build script: declarations from csrc headers, flags from the environment.

``PHALANX_SANITIZE=address,undefined`` builds under sanitizers, ``PHALANX_COVERAGE=1``
for gcov, ``PHALANX_MUTANT=NAME`` with the named fault (``-DPHX_MUTANT_NAME``).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from cffi import FFI

ROOT = Path(__file__).resolve().parents[1]
REGION = re.compile(r"/\*\s*cffi:begin\s*\*/(.*?)/\*\s*cffi:end\s*\*/", re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def declarations(header: Path) -> str:
    """The marked regions of a C header, without comments.

    Parameters
    ----------
    header
        A file with any number of ``/* cffi:begin */ ... /* cffi:end */`` regions.

    Returns
    -------
    The regions' text in order; empty where there is none. Linear in the file.

    Raises
    ------
    ValueError
        If a begin has no end, or the other way round.
    """
    text = header.read_text(encoding="utf-8")
    regions = REGION.findall(text)
    if not len(regions) == text.count("cffi:begin") == text.count("cffi:end"):
        raise ValueError(f"{header.name}: cffi:begin and cffi:end must come in pairs")
    return "\n".join(COMMENT.sub(" ", region) for region in regions)


def compile_flags() -> tuple[list[str], list[str]]:
    """Compiler and linker flags that the environment asks for.

    Returns
    -------
    The flags of every compilation, and those of the link.

    Raises
    ------
    ValueError
        If ``PHALANX_MUTANT`` names no fault: a mutant that is none would survive.
    """
    flags = ["-std=c11", "-O3", "-fvisibility=hidden"]
    link = ["-lm"]  # a Python that is not linked with it has no llrint
    if sanitizers := os.environ.get("PHALANX_SANITIZE"):
        sanitize = f"-fsanitize={sanitizers}"
        link.append(sanitize)
        flags += [
            sanitize,
            "-O1",
            "-fno-omit-frame-pointer",
            "-fno-sanitize-recover=all",
        ]
    if os.environ.get("PHALANX_COVERAGE", "0") != "0":
        link.append("--coverage")
        flags += ["--coverage", "-O0"]
    if mutant := os.environ.get("PHALANX_MUTANT"):
        macro = f"PHX_MUTANT_{mutant}"
        sources = [*(ROOT / "csrc").glob("*.[ch]")]
        if not any(re.search(rf"\b{macro}\b", path.read_text()) for path in sources):
            raise ValueError(f"PHALANX_MUTANT={mutant}: csrc must know {macro}")
        flags.append(f"-D{macro}")
    return flags, link


def make_builder() -> FFI:
    """The builder of ``phalanx_core._native`` that setup.py runs."""
    builder = FFI()
    headers = sorted((ROOT / "csrc").glob("*.h"))
    public = [header for header in headers if declarations(header)]
    for header in public:
        builder.cdef(declarations(header))
    flags, link = compile_flags()
    builder.set_source(
        "phalanx_core._native",
        "\n".join(f'#include "{header.name}"' for header in public),
        include_dirs=["csrc"],
        depends=[f"csrc/{header.name}" for header in headers],
        extra_compile_args=flags,
        extra_link_args=link,
    )
    return builder


ffibuilder = make_builder()
