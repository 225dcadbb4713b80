#!/usr/bin/env bash
# Compiles and runs the C unit tests and the C example under AddressSanitizer and
# UndefinedBehaviorSanitizer, or with gcov counters when PHALANX_COVERAGE is set.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/c
mkdir -p "$build"
flags=(-O1 -g -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Icsrc)
if [ "${PHALANX_COVERAGE:-0}" != 0 ]; then
    flags+=(-O0 --coverage)
else
    flags+=(-fsanitize=address,undefined -fno-sanitize-recover=all)
fi
if [ -n "${PHALANX_MUTANT:-}" ]; then
    flags+=("-DPHX_MUTANT_${PHALANX_MUTANT}")
fi
passed=0
for source in tests/c/test_*.c; do
    name=$(basename "$source" .c)
    gcc "${flags[@]}" csrc/*.c "$source" -o "$build/$name"
    "$build/$name"
    passed=$((passed + 1))
done
gcc "${flags[@]}" csrc/*.c examples/embed.c -o "$build/example"
"$build/example" | diff -u tests/golden/c/embed.txt - && echo "example: output as expected"
echo "C tests: $passed passed, 0 failed"
