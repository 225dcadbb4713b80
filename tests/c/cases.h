/* Named cases: a program's only argument names the one to run. */
#ifndef CASES_H
#define CASES_H

#include "check.h"

typedef struct named_case {
    const char *name;
    void (*run)(void);
} named_case;

#define CASE(name) {#name, case_##name}

static inline int run_cases(const char *program, const named_case *cases, size_t all, int count,
                            char **words)
{
    int ran = 0;
    for (size_t at = 0; at < all; ++at) {
        if (count < 2 || strcmp(words[1], cases[at].name) == 0) {
            cases[at].run();
            ++ran;
        }
    }
    printf("%s: %d passed, 0 failed\n", program, ran);
    return ran == 0;
}

#endif
