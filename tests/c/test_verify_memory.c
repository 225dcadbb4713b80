/* The search of the protocol without memory: it says so, keeps what it found, and goes on when
 * there is some again. Linked with --wrap=malloc,--wrap=calloc,--wrap=realloc. */
#include "check.h"
#include "verify.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

static uint32_t allocations;
static uint32_t fail_at; /* the allocation that fails, counted from 1; 0: none */

void *__wrap_malloc(size_t size)
{
    return ++allocations == fail_at ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return ++allocations == fail_at ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return ++allocations == fail_at ? NULL : __real_realloc(block, size);
}

static void arm(uint32_t at)
{
    allocations = 0;
    fail_at = at;
}

/* A component of several states, so that all arrays are wanted. */
static const phx_verify_scope SCOPE = {2, 7, 2, PHX_VERIFY_CRASH, 1, 1, {0x07, 0x38}, 0};

static uint32_t making(void)
{
    phx_verify *verify = NULL;
    arm(0);
    CHECK(phx_verify_new(&SCOPE, &verify) == PHX_OK);
    const uint32_t count = allocations;
    phx_verify_free(verify);
    for (uint32_t at = 1; at <= count; ++at) {
        arm(at);
        CHECK(phx_verify_new(&SCOPE, &verify) == PHX_NO_MEMORY && verify == NULL);
    }
    return count;
}

static phx_verify_told told_of(phx_verify *verify)
{
    phx_verify_told told;
    phx_verify_tell(verify, &told);
    return told;
}

static void check_found_alike(phx_verify *verify, const phx_verify_told *expected)
{
    const phx_verify_told told = told_of(verify);
    const char *why = NULL;
    CHECK(phx_verify_validate(verify, &why) == PHX_OK);
    CHECK(told.stage == PHX_VERIFY_DONE && told.generated == expected->generated);
    CHECK(told.distinct == expected->distinct && told.components == expected->components);
    CHECK(told.violated == expected->violated && told.endless == expected->endless);
    CHECK(told.bytes == expected->bytes);
}

int main(void)
{
    phx_verify *verify = NULL;
    const uint32_t made = making();
    arm(0);
    CHECK(phx_verify_new(&SCOPE, &verify) == PHX_OK);
    CHECK(phx_verify_run(verify, UINT64_MAX) == PHX_OK);
    const phx_verify_told expected = told_of(verify);
    const uint32_t count = allocations;
    CHECK(expected.largest > 1 && count > made + 20);
    phx_verify_free(verify);
    for (uint32_t at = made + 1; at <= count; ++at) {
        const char *why = NULL;
        arm(at);
        CHECK(phx_verify_new(&SCOPE, &verify) == PHX_OK);
        CHECK(phx_verify_run(verify, UINT64_MAX) == PHX_NO_MEMORY);
        CHECK(phx_verify_validate(verify, &why) == PHX_OK);
        CHECK(told_of(verify).stage != PHX_VERIFY_DONE);
        CHECK(phx_verify_run(verify, UINT64_MAX) == PHX_OK);
        check_found_alike(verify, &expected);
        phx_verify_free(verify);
    }
    puts("test_verify_memory: passed");
    return 0;
}
