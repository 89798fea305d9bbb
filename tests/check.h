/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks for tests without GLib: a failed check prints where and what, and the test goes on; CHECK_END() ends main(). */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_SKIP 77 /**< Exit status that Meson counts as skipped. */

/* Of the whole program: weak, so that the files of a test count together. */
__attribute__((weak)) unsigned long check_count, check_failures;

/* A macro, so that arguments are formatted only when a check fails and the compiler checks them always. */
#define CHECK(cond, ...)                                                                                               \
    do {                                                                                                               \
        check_count++;                                                                                                 \
        if (!(cond)) {                                                                                                 \
            check_failures++;                                                                                          \
            if (check_failures <= 20) {                                                                                \
                fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #cond);                                             \
                fprintf(stderr, __VA_ARGS__);                                                                          \
                fputc('\n', stderr);                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

#define CHECK_MEM_EQ(a, b, bytes, ...) CHECK(memcmp((a), (b), (bytes)) == 0, __VA_ARGS__)

/* What cannot go on after a failure, for example without memory. */
#define REQUIRE(cond, ...)                                                                                             \
    do {                                                                                                               \
        const unsigned long failures_before = check_failures;                                                          \
        CHECK(cond, __VA_ARGS__);                                                                                      \
        if (check_failures > failures_before)                                                                          \
            exit(1);                                                                                                   \
    } while (0)

#define CHECK_END()                                                                                                    \
    do {                                                                                                               \
        printf("%lu checks, %lu failed\n", check_count, check_failures);                                               \
        return check_failures || !check_count ? 1 : 0;                                                                 \
    } while (0)

#endif
