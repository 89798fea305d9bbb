/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One kernel on one host thread: a fiber for each CUDA thread of the block, blocks one after another.
 *
 * A thread runs until it meets others (a barrier, a shuffle, a vote) or returns; then the next one that can run does.
 * With a seed the next one is any of them, so that what depends on an order shows. Nothing here waits: when nobody can
 * run, the kernel can never end, and that is reported. */
#include "hostcuda_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if HOSTCUDA_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if HOSTCUDA_TSAN
#include <sanitizer/tsan_interface.h>
/* The only way to tell ThreadSanitizer that memory starts a new life; made for the heaps of Java. */
void __tsan_java_init(unsigned long heap_begin, unsigned long heap_size);
void __tsan_java_alloc(unsigned long ptr, unsigned long size);
#endif
#if defined(__x86_64__) && !defined(HOSTCUDA_UCONTEXT) /* define it to try what other machines use */
#define HOSTCUDA_X86 1
#else
#define HOSTCUDA_X86 0
#include <ucontext.h>
#endif

enum { WARP = 32, MAX_THREADS = 1024, MAX_WARPS = MAX_THREADS / WARP };

/* Stacks are far apart and used near their tops; ASan's frames are larger. */
enum { STACK_BYTES = HOSTCUDA_ASAN ? 256 << 10 : 64 << 10, GUARD_BYTES = HOSTCUDA_TSAN ? 0 : 64 << 10 };
#define STACK_STEP ((size_t)STACK_BYTES + GUARD_BYTES)

typedef struct Fiber {
#if HOSTCUDA_X86
    void *sp;
#else
    ucontext_t context;
#endif
    const void *stack; /* lowest byte, for ASan */
    size_t stack_bytes;
    void *fake_stack; /* ASan's */
    void *tsan;       /* TSan's */
    bool done;
} Fiber;

typedef struct Lane {
    Fiber fiber;
    uint3 index;
    unsigned warp, lane;
    /* While it waits for lanes of its warp: what it brought, and what it takes away. */
    int op, source;
    unsigned mask;
    uint64_t value, result;
} Lane;

typedef struct Warp {
    unsigned exists, ready, waiting, at_barrier, done; /* lanes */
    unsigned mask; /* of the lanes that wait, where it and the operation are the same for all of them; else 0 */
    int op;
} Warp;

static struct {
    const HostcudaLaunch *launch;
    Fiber host;
    Lane lanes[MAX_THREADS];
    Warp warps[MAX_WARPS];
    unsigned n_threads, n_warps;
    unsigned ready_warps; /* with a lane that can run */
    unsigned n_done, n_at_barrier;
    int barrier_sum, barrier_result;
    unsigned barrier_parity;
    /* Addresses TSan orders by. Blocks are not ordered: what one leaves there is freed with it. */
    struct {
        uint64_t barrier[2], lanes[MAX_THREADS];
    } *sync;
    uint64_t start_sync, end_sync;
    Lane *current;
    Fiber *previous; /* whom the running fiber was switched from */
    char *stacks;
    uint64_t random;
} run;

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
const int warpSize = WARP;
HostcudaPlace hostcuda_place;
static void (*observer)(void);

/* ---- Reports ---- */

void hostcuda_die(const char *format, ...)
{
    va_list args;
    fflush(stdout);
    fputs("hostcuda: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    fflush(stderr);
    abort();
}

static const char *op_name(int op)
{
    static const char *const names[] = {"__syncwarp", "a shuffle", "a vote", "__match_any_sync", "__reduce_add_sync",
                                        "__reduce_min_sync", "__reduce_max_sync", "__reduce_min_sync",
                                        "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync",
                                        "__reduce_xor_sync"};
    return names[op];
}

static void print_place(void)
{
    fflush(stdout);
    fprintf(stderr, "hostcuda: kernel %s, block (%u,%u,%u)", run.launch->name, blockIdx.x, blockIdx.y, blockIdx.z);
}

__attribute__((noreturn)) static void deadlock(const char *what)
{
    print_place();
    fprintf(stderr, ": %s\n", what);
    for (unsigned w = 0; w < run.n_warps; w++) {
        const Warp *warp = &run.warps[w];
        fprintf(stderr, "  warp %2u of lanes %08x: at __syncthreads %08x, in warp operations %08x, returned %08x\n", w,
                warp->exists, warp->at_barrier, warp->waiting, warp->done);
        for (unsigned i = 0; i < WARP; i++) {
            const Lane *lane = &run.lanes[w * WARP + i];
            if (warp->waiting >> i & 1)
                fprintf(stderr, "    lane %2u, thread (%u,%u,%u): in %s of mask %08x\n", i, lane->index.x,
                        lane->index.y, lane->index.z, op_name(lane->op), lane->mask);
        }
    }
    hostcuda_die("the kernel would never end on a GPU, or its result would be undefined");
}

void hostcuda_trap(void)
{
    print_place();
    hostcuda_die(": __trap() by thread (%u,%u,%u)", threadIdx.x, threadIdx.y, threadIdx.z);
}

/* ---- Fibers ---- */

static void lane_main(void);

#if HOSTCUDA_X86
void hostcuda_switch_stack(void **save_sp, void *load_sp);
__asm__(".text\n"
        ".globl hostcuda_switch_stack\n"
        ".hidden hostcuda_switch_stack\n"
        ".type hostcuda_switch_stack, @function\n"
        "hostcuda_switch_stack:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size hostcuda_switch_stack, .-hostcuda_switch_stack\n");

static void fiber_prepare(Fiber *fiber, unsigned number)
{
    /* Tops at different offsets, or all stacks would share a few sets of the cache. After ret the stack pointer is
     * 8 mod 16, as after a call. */
    char *top = (char *)fiber->stack + fiber->stack_bytes - (number & 31) * 192;
    void **sp = (void **)(top - 16);
    *sp = (void *)lane_main;
    sp -= 6; /* the registers popped first, whatever they hold */
    memset(sp, 0, 6 * sizeof *sp);
    fiber->sp = sp;
}

static void fiber_jump(Fiber *from, Fiber *to)
{
    hostcuda_switch_stack(&from->sp, to->sp);
}
#else
static void fiber_prepare(Fiber *fiber, unsigned number)
{
    (void)number;
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = (void *)fiber->stack;
    fiber->context.uc_stack.ss_size = fiber->stack_bytes;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, lane_main, 0);
}

static void fiber_jump(Fiber *from, Fiber *to)
{
    swapcontext(&from->context, &to->context);
}
#endif

/* The first thing after a switch, on the stack switched to. */
static void fiber_arrived(Fiber *self)
{
#if HOSTCUDA_ASAN
    const void *stack;
    size_t bytes;
    __sanitizer_finish_switch_fiber(self->fake_stack, &stack, &bytes);
    if (run.previous == &run.host) {
        run.host.stack = stack;
        run.host.stack_bytes = bytes;
    }
#else
    (void)self;
#endif
}

static void fiber_switch(Fiber *from, Fiber *to)
{
    run.previous = from;
#if HOSTCUDA_ASAN
    __sanitizer_start_switch_fiber(from->done ? NULL : &from->fake_stack, to->stack, to->stack_bytes);
#endif
#if HOSTCUDA_TSAN
    __tsan_switch_to_fiber(to->tsan, __tsan_switch_to_fiber_no_sync);
#endif
    fiber_jump(from, to);
    fiber_arrived(from);
}

/* Once for all blocks, with a guard below each; but ThreadSanitizer remembers who used a stack, so that there each
 * block gets new ones. */
static void make_stacks(void)
{
#if HOSTCUDA_TSAN
    run.stacks = mmap(NULL, run.n_threads * STACK_STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#else
    if (!run.stacks)
        run.stacks = mmap(NULL, MAX_THREADS * STACK_STEP, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                          0);
#endif
    if (run.stacks == MAP_FAILED)
        hostcuda_die("no address space for the stacks of %u threads", run.n_threads);
}

static void free_stacks(void)
{
#if HOSTCUDA_TSAN
    munmap(run.stacks, run.n_threads * STACK_STEP);
    run.stacks = NULL;
#endif
}

#if HOSTCUDA_TSAN
/* ThreadSanitizer's fibers take half a millisecond each to make, so they go round: it takes the work of the same one
 * for ordered, and a race between blocks that are far apart and meet on the same one for none. */
static void *next_tsan_fiber(void)
{
    static void *fibers[MAX_THREADS];
    static unsigned next;
    void **fiber = &fibers[next++ % MAX_THREADS];
    if (!*fiber)
        *fiber = __tsan_create_fiber(0);
    return *fiber;
}
#endif

static void make_fiber(Fiber *fiber, unsigned number)
{
    char *stack = run.stacks + number * STACK_STEP + GUARD_BYTES;
#if HOSTCUDA_TSAN
    fiber->tsan = next_tsan_fiber();
#else
    if (!fiber->stack && mprotect(stack, STACK_BYTES, PROT_READ | PROT_WRITE))
        hostcuda_die("no memory for the stacks of %u threads", run.n_threads);
#endif
    fiber->stack = stack;
    fiber->stack_bytes = STACK_BYTES;
    fiber->fake_stack = NULL;
    fiber->done = false;
    fiber_prepare(fiber, number);
}

/* ---- Who runs next ---- */

static unsigned random_below(unsigned n)
{
    run.random = run.random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((run.random >> 33) * n >> 31);
}

/* A set bit: the lowest, or any with a seed. */
static unsigned pick(unsigned bits)
{
    if (run.launch->seed)
        for (unsigned skip = random_below((unsigned)__builtin_popcount(bits)); skip > 0; skip--)
            bits &= bits - 1;
    return (unsigned)__builtin_ctz(bits);
}

static void set_ready(unsigned w, unsigned lanes)
{
    run.warps[w].ready |= lanes;
    if (run.warps[w].ready)
        run.ready_warps |= 1u << w;
}

static void set_not_ready(const Lane *lane)
{
    Warp *warp = &run.warps[lane->warp];
    warp->ready &= ~(1u << lane->lane);
    if (!warp->ready)
        run.ready_warps &= ~(1u << lane->warp);
}

/* NULL when all have returned. A warp goes on as far as it can; with a seed another may come between. */
static Lane *next_lane(unsigned w)
{
    if (!run.ready_warps) {
        if (run.n_done == run.n_threads)
            return NULL;
        deadlock(run.n_at_barrier ? "divergent __syncthreads: some threads wait there and the others never come"
                                  : "threads wait in warp operations for lanes that never come");
    }
    if (!(run.ready_warps >> w & 1) || (run.launch->seed && random_below(8) == 0))
        w = pick(run.ready_warps);
    return &run.lanes[w * WARP + pick(run.warps[w].ready)];
}

static void resume(Fiber *from, Lane *to)
{
    run.current = to;
    threadIdx = to->index;
    hostcuda_place.thread = to->warp * WARP + to->lane;
    if (from != &to->fiber)
        fiber_switch(from, &to->fiber);
}

static void wait_for_others(Lane *self)
{
    resume(&self->fiber, next_lane(self->warp));
}

static void lane_main(void)
{
    Lane *self = run.current;
    fiber_arrived(&self->fiber);
#if HOSTCUDA_TSAN
    __tsan_acquire(&run.start_sync);
#endif
    run.launch->signature->invoke(run.launch->kernel, run.launch->args);

#if HOSTCUDA_TSAN
    __tsan_release(&run.end_sync);
#endif
    set_not_ready(self);
    run.warps[self->warp].done |= 1u << self->lane;
    run.n_done++;
    self->fiber.done = true;
    if (run.n_at_barrier && run.n_at_barrier + run.n_done == run.n_threads)
        deadlock("divergent __syncthreads: some threads wait there and the others have returned");
    Lane *next = next_lane(self->warp);
    if (next)
        resume(&self->fiber, next);
    else
        fiber_switch(&self->fiber, &run.host);
    abort(); /* nobody comes back */
}

/* ---- Threads that meet ---- */

int hostcuda_lane(void)
{
    return (int)run.current->lane;
}

int hostcuda_barrier(int value)
{
    Lane *self = run.current;
#if HOSTCUDA_TSAN
    uint64_t *sync = &run.sync->barrier[run.barrier_parity];
    __tsan_release(sync);
#endif
    run.barrier_sum += value != 0;
    run.n_at_barrier++;
    run.warps[self->warp].at_barrier |= 1u << self->lane;
    set_not_ready(self);
    if (run.n_at_barrier == run.n_threads) {
        if (observer)
            observer();
        run.n_at_barrier = 0;
        run.barrier_parity ^= 1;
        run.barrier_result = run.barrier_sum;
        run.barrier_sum = 0;
        for (unsigned w = 0; w < run.n_warps; w++) {
            run.warps[w].at_barrier = 0;
            set_ready(w, run.warps[w].exists);
        }
    } else if (run.n_at_barrier + run.n_done == run.n_threads) {
        deadlock("divergent __syncthreads: some threads wait there and the others have returned");
    }
    wait_for_others(self);
#if HOSTCUDA_TSAN
    __tsan_acquire(sync);
#endif
    return run.barrier_result;
}

/* A warp operation does not order memory, except __syncwarp: ThreadSanitizer is told no more than that. */
static void warp_order(Lane *self)
{
#if HOSTCUDA_TSAN
    uint64_t *sync = &run.sync->lanes[self->warp * WARP];
    for (unsigned rest = self->mask; rest; rest &= rest - 1)
        __tsan_acquire(&sync[__builtin_ctz(rest)]);
    for (unsigned rest = self->mask; rest; rest &= rest - 1)
        __tsan_release(&sync[__builtin_ctz(rest)]);
#else
    (void)self;
#endif
}

static uint64_t combine(int op, uint64_t a, uint64_t b)
{
    const uint32_t x = (uint32_t)a, y = (uint32_t)b;
    switch (op) {
    case HOSTCUDA_ADD: return (uint32_t)(x + y);
    case HOSTCUDA_MIN: return x < y ? x : y;
    case HOSTCUDA_MAX: return x > y ? x : y;
    case HOSTCUDA_SMIN: return (int32_t)x < (int32_t)y ? x : y;
    case HOSTCUDA_SMAX: return (int32_t)x > (int32_t)y ? x : y;
    case HOSTCUDA_AND: return x & y;
    case HOSTCUDA_OR: return x | y;
    default: return x ^ y;
    }
}

/* Results for all lanes of the mask, before one of them can bring its next value. */
static void warp_results(const Lane *last)
{
    Lane *lanes = &run.lanes[last->warp * WARP];
    uint64_t all = 0;
    bool first = true;
    for (unsigned rest = last->mask; rest; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        if (last->op == HOSTCUDA_BALLOT)
            all |= (uint64_t)(lanes[i].value != 0) << i;
        else if (last->op >= HOSTCUDA_ADD)
            all = first ? lanes[i].value : combine(last->op, all, lanes[i].value);
        first = false;
    }
    for (unsigned rest = last->mask; rest; rest &= rest - 1) {
        Lane *lane = &lanes[__builtin_ctz(rest)];
        lane->result = all;
        if (last->op == HOSTCUDA_SHFL) {
            if (!(last->mask >> lane->source & 1))
                deadlock("a shuffle takes the value of a lane that is not in the mask");
            lane->result = lanes[lane->source].value;
        } else if (last->op == HOSTCUDA_MATCH) {
            lane->result = 0;
            for (unsigned other = last->mask; other; other &= other - 1)
                if (lanes[__builtin_ctz(other)].value == lane->value)
                    lane->result |= other & -other;
        }
    }
}

static void check_mask(const Lane *self)
{
    Warp *warp = &run.warps[self->warp];
    if (warp->waiting == 1u << self->lane) {
        warp->mask = self->mask;
        warp->op = self->op;
    } else if (warp->mask == self->mask && warp->op == self->op && self->mask >> self->lane & 1) {
        return; /* as those before, which were checked */
    } else {
        warp->mask = 0;
    }
    if (!(self->mask >> self->lane & 1))
        deadlock("a warp operation is called by a lane that is not in its mask");
    if (self->mask & ~warp->exists)
        deadlock("the mask of a warp operation names lanes that the block does not have");
    if (self->mask & warp->done)
        deadlock("the mask of a warp operation names lanes that have returned");
    for (unsigned rest = self->mask & warp->waiting; rest; rest &= rest - 1) {
        const Lane *other = &run.lanes[self->warp * WARP + (unsigned)__builtin_ctz(rest)];
        if (other->mask != self->mask)
            deadlock("lanes meet with different masks");
        if (other->op != self->op)
            deadlock("lanes meet in different warp operations");
    }
}

uint64_t hostcuda_warp(int op, unsigned mask, uint64_t value, int source)
{
    Lane *self = run.current;
    Warp *warp = &run.warps[self->warp];
    self->op = op;
    self->mask = mask;
    self->value = value;
    self->source = source;
    warp->waiting |= 1u << self->lane;
    check_mask(self);
#if HOSTCUDA_TSAN
    if (op == HOSTCUDA_SYNCWARP)
        __tsan_release(&run.sync->lanes[self->warp * WARP + self->lane]);
#endif
    if ((warp->waiting & mask) == mask) {
        warp_results(self);
        if (op == HOSTCUDA_SYNCWARP)
            warp_order(self);
        warp->waiting &= ~mask;
        set_ready(self->warp, mask);
        if (run.launch->seed)
            wait_for_others(self); /* maybe itself */
    } else {
        set_not_ready(self);
        wait_for_others(self);
    }
#if HOSTCUDA_TSAN
    if (op == HOSTCUDA_SYNCWARP)
        __tsan_acquire(&run.sync->lanes[self->warp * WARP + self->lane]);
#endif
    return self->result;
}

/* ---- Blocks ---- */

/* Without instrumentation, and not by memset(), which AddressSanitizer watches: red zones may count as the variable. */
__attribute__((no_sanitize_address)) static void fill_variable(const HostcudaShared *variable)
{
    volatile char *byte = variable->start, *stop = variable->start + variable->bytes;
    while (byte < stop && (uintptr_t)byte % 8)
        *byte++ = (char)0xA5;
    for (; stop - byte >= 8; byte += 8)
        *(volatile uint64_t *)byte = 0xA5A5A5A5A5A5A5A5u;
    while (byte < stop)
        *byte++ = (char)0xA5;
}

static void fill_shared(void)
{
    for (unsigned i = 0; i < run.launch->n_shared; i++) {
        const HostcudaShared *variable = &run.launch->shared[i];
        fill_variable(variable);
#if HOSTCUDA_TSAN
        static bool known;
        const uintptr_t begin = (uintptr_t)variable->start & ~(uintptr_t)7;
        const uintptr_t bytes = (((uintptr_t)variable->start + variable->bytes + 7) & ~(uintptr_t)7) - begin;
        if (!known)
            __tsan_java_init(begin, bytes);
        known = true;
        __tsan_java_alloc(begin, bytes);
#endif
    }
}

static void start_block(void)
{
    const uint3 size = run.launch->block;
    run.n_threads = size.x * size.y * size.z;
    run.n_warps = (run.n_threads + WARP - 1) / WARP;
    run.n_done = run.n_at_barrier = run.ready_warps = 0;
    run.barrier_sum = 0;
    memset(run.warps, 0, sizeof run.warps);
    make_stacks();
    unsigned t = 0;
    for (unsigned z = 0; z < size.z; z++)
        for (unsigned y = 0; y < size.y; y++)
            for (unsigned x = 0; x < size.x; x++, t++) {
                Lane *lane = &run.lanes[t];
                lane->index.x = x;
                lane->index.y = y;
                lane->index.z = z;
                lane->warp = t / WARP;
                lane->lane = t % WARP;
                run.warps[lane->warp].exists |= 1u << lane->lane;
                make_fiber(&lane->fiber, t);
            }
    for (unsigned w = 0; w < run.n_warps; w++)
        set_ready(w, run.warps[w].exists);
}

static void execute_block(uint64_t number)
{
    const uint3 grid = run.launch->grid;
    blockIdx.x = (unsigned)(number % grid.x);
    blockIdx.y = (unsigned)(number / grid.x % grid.y);
    blockIdx.z = (unsigned)(number / grid.x / grid.y);
#if HOSTCUDA_TSAN
    run.sync = calloc(1, sizeof *run.sync);
    if (!run.sync)
        hostcuda_die("out of memory");
#endif
    fill_shared();
    start_block();
#if HOSTCUDA_TSAN
    __tsan_release(&run.start_sync);
#endif
    resume(&run.host, next_lane(0));
    if (observer)
        observer();
    free_stacks();
    free(run.sync);
    run.sync = NULL;
}

/* In ascending order; with a seed the blocks of each window in any. */
static void execute_blocks(uint64_t n)
{
    enum { WINDOW = 4096 };
    static uint32_t order[WINDOW];
    for (uint64_t first = 0; first < n; first += WINDOW) {
        const unsigned count = (unsigned)(n - first < WINDOW ? n - first : WINDOW);
        for (unsigned i = 0; i < count; i++) {
            const unsigned other = run.launch->seed ? random_below(i + 1) : i;
            order[i] = order[other];
            order[other] = i;
        }
        for (unsigned i = 0; i < count; i++)
            execute_block(first + order[i]);
    }
}

void hostcuda_execute(const HostcudaLaunch *launch)
{
    const uint64_t n = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    run.launch = launch;
    hostcuda_place.launch = launch;
    run.random = launch->seed * 0x9E3779B97F4A7C15u;
    gridDim.x = launch->grid.x, gridDim.y = launch->grid.y, gridDim.z = launch->grid.z;
    blockDim.x = launch->block.x, blockDim.y = launch->block.y, blockDim.z = launch->block.z;
#if HOSTCUDA_TSAN
    run.host.tsan = __tsan_get_current_fiber();
#endif
    execute_blocks(n);
#if HOSTCUDA_TSAN
    __tsan_acquire(&run.end_sync);
#endif
    run.launch = NULL;
    hostcuda_place.launch = NULL;
}

void hostcuda_observe(void (*together)(void))
{
    observer = together;
}
