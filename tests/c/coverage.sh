#!/usr/bin/env bash
# Branch coverage of csrc by the C unit tests, the C example and the fuzz targets' replay; fails
# under the percentage given (95). Every program links the same objects, so their counters add up.
set -euo pipefail
cd "$(dirname "$0")/../.."
gcovr=${GCOVR:-gcovr}
build=build/coverage
rm -rf "$build"
mkdir -p "$build"
# An always inlined function would have its branches counted again in every caller.
flags=(-O0 -g -std=c11 -Icsrc --coverage -Dalways_inline=unused)
objects=()
for source in csrc/*.c; do
    objects+=("$build/$(basename "$source" .c).o")
    gcc "${flags[@]}" -c "$source" -o "${objects[-1]}"
done
for source in tests/c/test_*.c examples/embed.c; do
    program=$build/$(basename "$source" .c)
    wraps=()
    if grep -q __wrap_malloc "$source"; then
        wraps=(-Wl,--wrap=malloc,--wrap=calloc)
    fi
    if grep -q __wrap_realloc "$source"; then
        wraps+=(-Wl,--wrap=realloc)
    fi
    gcc "${flags[@]}" "${objects[@]}" "$source" "${wraps[@]}" -o "$program" -lm
    "$program" >"$program.log"
done
for target in planner rounds; do
    sources=(tests/fuzz/replay.c tests/fuzz/rounds_*.c)
    if [ "$target" = planner ]; then
        sources=(tests/fuzz/replay.c tests/fuzz/planner_fuzz.c tests/fuzz/fuzz_*.c)
    fi
    gcc "${flags[@]}" "${objects[@]}" "${sources[@]}" -o "$build/replay-$target" -lm
    "$build/replay-$target" tests/fuzz/corpus/"$target"/*
    "$build/replay-$target" --random 200000 "${SEED:-1}"
done
# A function of a header is one function however many sources include it.
"$gcovr" --root . --object-directory "$build" --filter csrc/ --txt-metric branch --print-summary \
    --exclude-unreachable-branches --merge-mode-functions separate \
    --fail-under-branch "${1:-95}" "$build"
