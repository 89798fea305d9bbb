/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other encoders on the same frames: ffmpeg as a child, one thread, its processor time as the system counts it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

typedef struct Child {
    char *argv[40];
    int n;
} Child;

static void add(Child *c, const char *word)
{
    c->argv[c->n++] = (char *)word;
    c->argv[c->n] = NULL;
}

/* Run silently; milliseconds of processor time, or -1 if it cannot be started or fails. */
static double run(const Child *c)
{
    struct rusage usage;
    int status;
    const pid_t pid = fork();

    if (pid == 0) {
        const int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        execvp(c->argv[0], c->argv);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
        return -1;
    return 1e3 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

typedef struct Session {
    const PnvBenchContent *content;
    const PnvParams *params;
    char folder[64], in[96], out[96], size[32], profile[16];
    double overhead; /* of ffmpeg without an encoder, all frames */
} Session;

enum { TURNS = 5, ROUNDS = 5 }; /* of each peer and of ours beside it; of the frames in each of ours */

/* quantizer 0: the encoder's default. Fills cpu_ms and bytes. */
static int run_peer(PnvBenchPeer *peer, const Session *s, const char *encoder, int quantizer)
{
    char q[16];
    struct stat st;
    Child c = {.n = 0};
    const char *const head[] = {"ffmpeg", "-nostdin", "-y", "-v", "error", "-threads", "1", "-s", s->size, "-f"};
    const char *format = s->content->format->name;

    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        add(&c, head[i]);
    if (s->content->format->packing == PNV_PACKING_V210) { /* no pixel format to ffmpeg, but a way to code */
        add(&c, format);
    } else {
        add(&c, "rawvideo");
        add(&c, "-pix_fmt");
        add(&c, format);
    }
    add(&c, "-i");
    add(&c, s->in);
    add(&c, "-c:v");
    add(&c, encoder);
    snprintf(q, sizeof q, "%d", quantizer);
    if (strncmp(encoder, "prores", 6) == 0) {
        add(&c, "-profile:v");
        add(&c, s->profile);
        if (quantizer) {
            add(&c, "-qscale:v");
            add(&c, q);
        }
    }
    add(&c, "-threads");
    add(&c, "1");
    if (strncmp(encoder, "prores", 6) == 0) {
        add(&c, s->out);
    } else {
        add(&c, "-f");
        add(&c, "null");
        add(&c, "-");
    }
    const double ms = run(&c);
    if (ms < 0) {
        snprintf(peer->missing, sizeof peer->missing, "ffmpeg with -c:v %s cannot be run here", encoder);
        return -1;
    }
    peer->quantizer = quantizer;
    peer->cpu_ms = (ms - s->overhead) / s->content->n;
    peer->bytes = stat(s->out, &st) == 0 ? (double)st.st_size / s->content->n : 0;
    peer->missing[0] = '\0';
    return 0;
}

/* Its quantizer means the same as ours but it rounds towards zero: equal bytes come at the same one or a finer one. */
static void run_at_equal_bytes(PnvBenchPeer *peer, const Session *s, double bytes)
{
    PnvBenchPeer best = *peer, next = *peer;
    double first = 0;
    int changes = 0;

    for (int q = s->params->quantizer ? s->params->quantizer : 4; q >= 1; q--) {
        if (run_peer(&next, s, "prores_ks", q)) {
            *peer = next;
            return;
        }
        if (!first)
            first = next.bytes;
        changes |= next.bytes != first;
        const double here = next.bytes > bytes ? next.bytes - bytes : bytes - next.bytes;
        const double there = best.bytes > bytes ? best.bytes - bytes : bytes - best.bytes;
        if (!best.bytes || here < there)
            best = next;
        if (next.bytes >= bytes && (changes || q == 1))
            break;
    }
    *peer = best;
    if (!changes && s->params->quantizer > 1)
        snprintf(peer->missing, sizeof peer->missing, "-qscale:v does not change the bytes of prores_ks here");
}

/* What ffmpeg takes to start and to read all frames. */
static int time_overhead(Session *s)
{
    PnvBenchPeer nothing = {0};

    s->overhead = 0;
    if (run_peer(&nothing, s, "rawvideo", 0))
        return -1;
    s->overhead = nothing.cpu_ms * s->content->n;
    return 0;
}

/* The machine's speed moves while a peer runs for seconds: what counts is the ratio to our time just before. */
static void time_in_turn(PnvBenchPeer *peer, Session *s, const char *encoder)
{
    double ms[TURNS], ratio[TURNS];
    char unread[PNV_ERROR_BYTES];
    PnvBenchTime ours;

    for (int i = 0; i < TURNS && !peer->missing[0]; i++) {
        sync(); /* what the peer before wrote takes its time on its way to the disk */
        if (pnv_bench_time(&ours, s->content, s->params, ROUNDS, unread)) {
            snprintf(peer->missing, sizeof peer->missing, "a frame of ours failed beside it");
            return;
        }
        if (time_overhead(s)) {
            snprintf(peer->missing, sizeof peer->missing, "ffmpeg stopped running");
            return;
        }
        run_peer(peer, s, encoder, peer->quantizer);
        ms[i] = peer->cpu_ms;
        ratio[i] = peer->cpu_ms / ours.cpu_median;
    }
    if (peer->missing[0])
        return;
    peer->cpu_ms = pnv_bench_median(ms, TURNS);
    peer->ratio = pnv_bench_median(ratio, TURNS);
}

static int write_frames(const Session *s)
{
    FILE *file = fopen(s->in, "wb");
    int ok = file != NULL;

    for (int i = 0; ok && i < s->content->n; i++)
        ok = fwrite(s->content->memory[i], s->content->frame_bytes, 1, file) == 1;
    return file && !fclose(file) && ok ? 0 : -1;
}

void pnv_bench_peers(PnvBenchPeer peers[PNV_BENCH_PEERS], const PnvBenchContent *c, const PnvParams *params,
                     double bytes)
{
    Session s = {.content = c, .params = params};

    peers[0] = (PnvBenchPeer){.name = "prores_ks, fixed quantizer"};
    peers[1] = (PnvBenchPeer){.name = "prores_ks"};
    peers[2] = (PnvBenchPeer){.name = "prores_aw"};
    snprintf(s.folder, sizeof s.folder, "/tmp/proresnv-bench-XXXXXX");
    if (!mkdtemp(s.folder)) {
        for (int i = 0; i < PNV_BENCH_PEERS; i++)
            snprintf(peers[i].missing, sizeof peers[i].missing, "no folder in /tmp for the frames");
        return;
    }
    snprintf(s.in, sizeof s.in, "%s/in.yuv", s.folder);
    snprintf(s.out, sizeof s.out, "%s/out.mov", s.folder);
    snprintf(s.size, sizeof s.size, "%dx%d", params->width, params->height);
    snprintf(s.profile, sizeof s.profile, "%d", (int)params->profile - (int)PNV_PROFILE_PROXY);
    if (write_frames(&s) || time_overhead(&s)) {
        for (int i = 0; i < PNV_BENCH_PEERS; i++)
            snprintf(peers[i].missing, sizeof peers[i].missing, "ffmpeg cannot be run here; install it");
    } else {
        run_at_equal_bytes(&peers[0], &s, bytes);
        time_in_turn(&peers[0], &s, "prores_ks");
        time_in_turn(&peers[1], &s, "prores_ks");
        time_in_turn(&peers[2], &s, "prores_aw");
    }
    unlink(s.in);
    unlink(s.out);
    rmdir(s.folder);
}
