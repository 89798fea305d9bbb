/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The callbacks of the compiler's ThreadSanitizer instrumentation, used to see each access of a kernel. One thread at
 * a time: kernels run under the runtime's lock. */
#include "hostcuda_banks.h"
#include "hostcuda_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARP = 32, BANKS = 32 };

/* An open hash table of records that start with a Key; place 0 is none. */
typedef struct Key {
    uintptr_t place; /* in the program */
    uint64_t who;
} Key;

typedef struct Table {
    size_t record_bytes, capacity, n;
    char *records;
} Table;

typedef struct Counter { /* how often a thread was at a place */
    Key key;
    unsigned n;
} Counter;

typedef struct Access { /* what the lanes of a warp did at a place for the n-th time */
    Key key;
    unsigned lanes, bytes;
    uint32_t offsets[WARP]; /* addresses, but for what all have in common */
} Access;

static Table counters = {.record_bytes = sizeof(Counter)}, accesses = {.record_bytes = sizeof(Access)};
static HostcudaBanks kernels[MAX_KERNELS];
static unsigned n_kernels;

static Key *slot(const Table *table, Key key)
{
    const uint64_t hash = (key.place * 0x9E3779B97F4A7C15u ^ key.who) * 0xBF58476D1CE4E5B9u;
    for (size_t i = (hash >> 20) & (table->capacity - 1);; i = (i + 1) & (table->capacity - 1)) {
        Key *found = (Key *)(void *)(table->records + i * table->record_bytes);
        if (!found->place || (found->place == key.place && found->who == key.who))
            return found;
    }
}

static void grow(Table *table)
{
    const Table old = *table;
    table->capacity = old.capacity ? 2 * old.capacity : 4096;
    table->records = calloc(table->capacity, table->record_bytes);
    if (!table->records)
        hostcuda_die("out of memory");
    for (size_t i = 0; i < old.capacity; i++) {
        const Key *key = (const Key *)(const void *)(old.records + i * old.record_bytes);
        if (key->place)
            memcpy(slot(table, *key), key, old.record_bytes);
    }
    free(old.records);
}

static void *find(Table *table, Key key)
{
    if (2 * table->n >= table->capacity)
        grow(table);
    Key *found = slot(table, key);
    if (!found->place) {
        *found = key;
        table->n++;
    }
    return found;
}

static void clear(Table *table)
{
    if (table->n)
        memset(table->records, 0, table->capacity * table->record_bytes);
    table->n = 0;
}

/* Lanes in order fill passes of 128 bytes: all of them, halves or quarters of the warp. */
static void count_access(HostcudaBanks *kernel, const Access *access)
{
    const unsigned words = (access->bytes + 3) / 4, lanes_a_pass = WARP / (words < 4 ? words == 3 ? 4 : words : 4);
    kernel->accesses++;
    for (unsigned first = 0; first < WARP; first += lanes_a_pass) {
        uint32_t seen[BANKS][WARP];
        unsigned n_seen[BANKS] = {0}, most = 0;
        for (unsigned lane = first; lane < first + lanes_a_pass; lane++) {
            if (!(access->lanes >> lane & 1))
                continue;
            for (uint32_t word = access->offsets[lane] / 4; word < access->offsets[lane] / 4 + words; word++) {
                const unsigned bank = word % BANKS;
                bool known = false;
                for (unsigned i = 0; i < n_seen[bank]; i++)
                    known |= seen[bank][i] == word;
                if (!known && n_seen[bank] < WARP)
                    seen[bank][n_seen[bank]++] = word;
                most = n_seen[bank] > most ? n_seen[bank] : most;
            }
        }
        kernel->passes += most > 0;
        kernel->extra += most > 0 ? most - 1 : 0;
        kernel->worst = most > kernel->worst ? most : kernel->worst;
    }
}

static HostcudaBanks *kernel_of(const char *name)
{
    for (unsigned i = 0; i < n_kernels; i++)
        if (strcmp(kernels[i].kernel, name) == 0)
            return &kernels[i];
    if (n_kernels == MAX_KERNELS)
        hostcuda_die("more than %d kernels", MAX_KERNELS);
    snprintf(kernels[n_kernels].kernel, sizeof kernels[0].kernel, "%s", name);
    return &kernels[n_kernels++];
}

/* All threads of the block have met, or returned. */
static void together(void)
{
    if (accesses.n) {
        HostcudaBanks *kernel = kernel_of(hostcuda_place.launch->name);
        for (size_t i = 0; i < accesses.capacity; i++) {
            const Access *access = (const Access *)(const void *)(accesses.records + i * sizeof *access);
            if (access->key.place)
                count_access(kernel, access);
        }
    }
    clear(&counters);
    clear(&accesses);
}

static bool is_shared(const char *at)
{
    const HostcudaLaunch *launch = hostcuda_place.launch;
    for (unsigned i = 0; launch && i < launch->n_shared; i++)
        if (at >= launch->shared[i].start && at < launch->shared[i].start + launch->shared[i].bytes)
            return true;
    return false;
}

static void note(const void *address, size_t bytes, const void *place)
{
    const char *at = address;
    if (!is_shared(at))
        return;
    const unsigned thread = hostcuda_place.thread;
    Counter *counter = find(&counters, (Key){(uintptr_t)place, thread});
    Access *access = find(&accesses, (Key){(uintptr_t)place, (uint64_t)counter->n++ << 8 | thread / WARP});
    access->lanes |= 1u << thread % WARP;
    access->bytes = (unsigned)bytes;
    access->offsets[thread % WARP] = (uint32_t)(uintptr_t)at;
}

static void print_at_exit(void)
{
    const char *path = getenv("PNV_HOSTCUDA_BANKS");
    if (!path || !*path)
        return;
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (!file)
        return;
    fprintf(file, "%-32s %12s %12s %12s %6s\n", "kernel", "accesses", "passes", "extra", "worst");
    for (unsigned i = 0; i < n_kernels; i++)
        fprintf(file, "%-32s %12llu %12llu %12llu %6u\n", kernels[i].kernel, kernels[i].accesses, kernels[i].passes,
                kernels[i].extra, kernels[i].worst);
    if (file != stdout)
        fclose(file);
}

__attribute__((constructor)) static void start(void)
{
    hostcuda_observe(together);
    atexit(print_at_exit);
}

unsigned hostcuda_banks(HostcudaBanks *banks, unsigned capacity)
{
    for (unsigned i = 0; i < n_kernels && i < capacity; i++)
        banks[i] = kernels[i];
    return n_kernels;
}

void hostcuda_banks_clear(void)
{
    n_kernels = 0;
    memset(kernels, 0, sizeof kernels);
}

/* ---- What the compiler calls ---- */

#define PLACE __builtin_return_address(0)
#define ACCESS(bytes)                                                                                                  \
    void __tsan_read##bytes(void *p);                                                                                  \
    void __tsan_write##bytes(void *p);                                                                                 \
    void __tsan_unaligned_read##bytes(void *p);                                                                        \
    void __tsan_unaligned_write##bytes(void *p);                                                                       \
    void __tsan_read##bytes(void *p) { note(p, bytes, PLACE); }                                                        \
    void __tsan_write##bytes(void *p) { note(p, bytes, PLACE); }                                                       \
    void __tsan_unaligned_read##bytes(void *p) { note(p, bytes, PLACE); }                                              \
    void __tsan_unaligned_write##bytes(void *p) { note(p, bytes, PLACE); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

#define RANGE(name)                                                                                                    \
    void name(void *p, unsigned long bytes);                                                                           \
    void name(void *p, unsigned long bytes) { note(p, bytes, PLACE); }
RANGE(__tsan_read_range)
RANGE(__tsan_write_range)

#define NOTHING(name, ...)                                                                                             \
    void name(__VA_ARGS__);                                                                                            \
    void name(__VA_ARGS__) {}
NOTHING(__tsan_init, void)
NOTHING(__tsan_func_entry, void *pc)
NOTHING(__tsan_func_exit, void)
NOTHING(__tsan_vptr_update, void **vptr, void *value)
NOTHING(__tsan_vptr_read, void **vptr)
NOTHING(__tsan_atomic_thread_fence, int order)

#define ATOMIC(bits, name, builtin)                                                                                    \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *p, uint##bits##_t v, int order);              \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *p, uint##bits##_t v, int order)               \
    {                                                                                                                  \
        note((const void *)p, bits / 8, PLACE);                                                                        \
        return builtin(p, v, __ATOMIC_SEQ_CST);                                                                        \
    }
#define ATOMICS(bits)                                                                                                  \
    ATOMIC(bits, fetch_add, __atomic_fetch_add)                                                                        \
    ATOMIC(bits, fetch_sub, __atomic_fetch_sub)                                                                        \
    ATOMIC(bits, fetch_and, __atomic_fetch_and)                                                                        \
    ATOMIC(bits, fetch_or, __atomic_fetch_or)                                                                          \
    ATOMIC(bits, fetch_xor, __atomic_fetch_xor)                                                                        \
    ATOMIC(bits, exchange, __atomic_exchange_n)                                                                        \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *p, int order);                            \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *p, int order)                             \
    {                                                                                                                  \
        note((const void *)p, bits / 8, PLACE);                                                                        \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                                   \
    }                                                                                                                  \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *p, uint##bits##_t v, int order);                         \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *p, uint##bits##_t v, int order)                          \
    {                                                                                                                  \
        note((const void *)p, bits / 8, PLACE);                                                                        \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                                      \
    }                                                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile uint##bits##_t *p, uint##bits##_t *expected,            \
                                                      uint##bits##_t v, int order, int failure_order);                 \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile uint##bits##_t *p, uint##bits##_t *expected,            \
                                                      uint##bits##_t v, int order, int failure_order)                  \
    {                                                                                                                  \
        note((const void *)p, bits / 8, PLACE);                                                                        \
        return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                 \
    }
ATOMICS(32)
ATOMICS(64)
