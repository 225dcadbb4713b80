"""House rules that no other tool checks: sizes, words, and where things may stand."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PRINTING = ("phalanx_core/cli/",)

LINES_MAX = {
    "README.md": 250,
    "tests/fuzz/*.c": 150,
    "tests/**/*.py": 500,
    "bench/**/*.py": 400,
    "phalanx_core/**/*.py": 400,
    "csrc/*.c": 600,
    "csrc/*.h": 250,
}
PYTHON_FUNCTION_LINES_MAX = 60
C_FUNCTION_LINES_MAX = 70
POSITIONAL_MAX = 6

# Split, so that this file does not break its own rules.
UNFINISHED = re.compile(
    r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"]) + r")\b"
)
MACHINE_PATH = re.compile(r"(?<![\w.$}~])/" + r"(work|home|root|tmp|farm)/")
# A capital Node is Kubernetes' name of its kind, as in "Nodes and ResourceSlices".
BANNED = re.compile(
    r"(?<![a-z])([dD]evice|[cC]ell|[cC]hunk|[pP]artition|node)s?(?![a-z])"
)
# Methods of Python and NumPy that happen to be called so.
METHOD = re.compile(r"\.(arg|r)?partition\(")
BARE_JIT = re.compile(r"^\s*@(numba\.)?n?jit\b", re.MULTILINE)
REGION = re.compile(r"/\*\s*cffi:begin\s*\*/(.*?)/\*\s*cffi:end\s*\*/", re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def files(*patterns: str) -> list[Path]:
    """Files of the project that match a glob; built trees left out."""
    found = {path for pattern in patterns for path in ROOT.glob(pattern)}
    return sorted(
        path for path in found if path.is_file() and "build" not in path.parts
    )


def name(path: Path) -> str:
    """A path as a reader of the repository writes it."""
    return path.relative_to(ROOT).as_posix()


def tracked() -> list[Path]:
    """The text files that git holds; skips where there is no repository."""
    answer = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if answer.returncode:
        pytest.skip("not a git checkout")
    paths = [ROOT / entry for entry in answer.stdout.split("\0") if entry]
    corpus = ROOT / "tests" / "fuzz" / "corpus"  # bytes that no text has
    return [
        path
        for path in paths
        if path.is_file()
        and corpus not in path.parents
        and b"\0" not in path.read_bytes()
    ]


def matches(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    """Each matching line as file:line: text."""
    return [
        f"{name(path)}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if pattern.search(METHOD.sub("(", line))
    ]


def python_functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a module, nested ones and methods included."""
    for vertex in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(vertex, ast.FunctionDef | ast.AsyncFunctionDef):
            yield vertex


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring: a long explanation is no long code."""
    first = function.body[0]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = first.end_lineno - first.lineno + 1 if told else 0
    return function.end_lineno - function.lineno + 1 - docstring


def c_functions(path: Path) -> Iterator[tuple[int, int]]:
    """First line and length of each function body that closes in column 0."""
    start = 0
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if re.match(r"\S.*\)\s*\{$|\s+\S.*\)\s*\{$|\{$", line) and not start:
            start = number
        elif line.startswith("}"):
            if start and line == "}":
                yield start, number - start + 1
            start = 0


@pytest.mark.parametrize("pattern", LINES_MAX)
def test_files_are_short(pattern: str) -> None:
    """No file is longer than the ceiling of its kind."""
    long = {
        name(path): count
        for path in files(pattern)
        if (count := len(path.read_text("utf-8").splitlines())) > LINES_MAX[pattern]
    }
    assert long == {}


def test_python_functions_are_short() -> None:
    """No Python function has more than 60 lines beside its docstring."""
    long = [
        f"{name(path)}:{function.lineno} {function.name}: {code_lines(function)} lines"
        for path in files("phalanx_core/**/*.py", "tests/**/*.py", "bench/**/*.py")
        for function in python_functions(path)
        if code_lines(function) > PYTHON_FUNCTION_LINES_MAX
    ]
    assert long == []


def test_python_functions_take_few_positional_arguments() -> None:
    """Beyond six positional arguments a function takes a dataclass or keywords."""
    wide = [
        f"{name(path)}:{function.lineno} {function.name}"
        for path in files("phalanx_core/**/*.py")
        for function in python_functions(path)
        if len([a for a in function.args.args if a.arg not in {"self", "cls"}])
        > POSITIONAL_MAX
    ]
    assert wide == []


def test_c_functions_are_short() -> None:
    """No C function body has more than 70 lines."""
    long = [
        f"{name(path)}:{start}: {length} lines"
        for path in files("csrc/*.[ch]", "tests/fuzz/*.c")
        for start, length in c_functions(path)
        if length > C_FUNCTION_LINES_MAX
    ]
    assert long == []


def test_one_word_per_idea() -> None:
    """The synonyms that the glossary bans stand only in readers and writers."""
    paths = [
        path
        for path in files("phalanx_core/**/*.py", "csrc/*.[ch]", "bindings/*.py")
        if not {"readers", "writers"} & set(path.parts)
    ]
    assert matches(BANNED, paths) == []


def test_only_programs_print() -> None:
    """The package prints in its command line alone, and the core never does."""
    printing = [
        f"{name(path)}:{vertex.lineno}"
        for path in files("phalanx_core/**/*.py", "bindings/*.py", "*.py")
        if not name(path).startswith(PRINTING)
        for vertex in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(vertex, ast.Call)
        and isinstance(vertex.func, ast.Name)
        and vertex.func.id == "print"
    ]
    assert printing == []
    in_core = re.compile(r"\b(printf|puts|perror|abort|exit)\s*\(")
    assert matches(in_core, files("csrc/*.[ch]")) == []


def test_no_bare_jit() -> None:
    """Kernels use the one decorator of the package, so their options cannot differ."""
    paths = [path for path in files("phalanx_core/**/*.py") if path.name != "jit.py"]
    assert [name(p) for p in paths if BARE_JIT.search(p.read_text("utf-8"))] == []


def test_only_native_imports_the_binding() -> None:
    """Compiled modules are imported in one place, which turns statuses into errors."""
    importing = matches(
        re.compile(r"^\s*(from|import)\b.*\b(_native|_calls)\b"),
        files("phalanx_core/**/*.py"),
    )
    elsewhere = [
        line for line in importing if not line.startswith("phalanx_core/native")
    ]
    assert elsewhere == []


def test_nothing_is_left_unfinished() -> None:
    """No marker of work to be done stands in a tracked file."""
    assert matches(UNFINISHED, tracked()) == []


def test_no_path_of_a_machine() -> None:
    """No tracked file names a directory of the machine it was written on."""
    assert matches(MACHINE_PATH, tracked()) == []


def test_every_declared_function_has_a_test() -> None:
    """Each function in a cffi region is named in a file under tests."""
    regions = [
        COMMENT.sub(" ", region)
        for header in files("csrc/*.h")
        for region in REGION.findall(header.read_text("utf-8"))
    ]
    declared = set(re.findall(r"\b(phx_\w+)\s*\(", "\n".join(regions)))
    tests = files("tests/**/*.py", "tests/**/*.[ch]")
    told = set(re.findall(r"phx_\w+", "\n".join(p.read_text("utf-8") for p in tests)))
    assert sorted(declared - told) == []
