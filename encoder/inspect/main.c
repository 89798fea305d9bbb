/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proresnv-inspect: a strict reader of Apple ProRes files. docs/inspect.md describes it for users. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "container.h"
#include "json.h"
#include "map.h"
#include "options.h"
#include "text.h"

#define ERROR_BYTES 512
#define SHOWN_OF_A_CODE 10 /* findings shown in full without --all */

/* One file on its way. */
typedef struct Run {
    const PnvInspectOptions *options;
    const char *file;
    PnvSource source, raw;
    int fd, raw_fd;
    PnvMov mov;
    PnvSummary summary;
    uint64_t shown[PNV_N_FINDING_CODES];
    uint32_t n_wanted;           /* frames to be read */
    FILE *findings, *frames;     /* JSON text that waits for the end of the file */
    char *findings_text, *frames_text;
    size_t findings_bytes, frames_bytes;
    double started, last_progress;
    uint64_t progress_bytes;
    bool progress_shown;
    char error[ERROR_BYTES];
} Run;

__attribute__((format(printf, 2, 3))) static bool fail(Run *run, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(run->error, sizeof run->error, format, args);
    va_end(args);
    return false;
}

/* ---- files ---- */

static bool read_fd(void *opaque, uint64_t offset, void *buffer, size_t n)
{
    const int fd = *(const int *)opaque;
    uint8_t *to = buffer;

    while (n > 0) {
        const ssize_t got = pread(fd, to, n < (1U << 30) ? n : 1U << 30, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        offset += (uint64_t)got;
        n -= (size_t)got;
    }
    return true;
}

static bool open_source(Run *run, PnvSource *source, int *fd, const char *path)
{
    struct stat st;

    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return fail(run, "%s: %s", path, strerror(errno));
    if (fstat(*fd, &st) != 0 || !S_ISREG(st.st_mode))
        return fail(run, "%s: not a regular file; write the stream to a file first", path);
    *source = (PnvSource){(uint64_t)st.st_size, fd, read_fd};
    return true;
}

/* ---- progress ---- */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* On a terminal, and only for files that take more than a moment. */
static void show_progress(Run *run, uint32_t bytes)
{
    const double t = now();

    run->progress_bytes += bytes;
    if (run->options->quiet || t - run->started < 0.5 || t - run->last_progress < 0.1 || !isatty(STDERR_FILENO))
        return;
    run->last_progress = t;
    run->progress_shown = true;
    fprintf(stderr, "\r%s: frame %" PRIu64 " of %" PRIu32 ", %d %%, %.0f MB/s\033[K", run->file, run->summary.n_frames,
            run->n_wanted, (int)(100 * run->summary.n_frames / run->n_wanted),
            1e-6 * (double)run->progress_bytes / (t - run->started));
}

static void clear_progress(Run *run)
{
    if (run->progress_shown)
        fprintf(stderr, "\r\033[K");
    run->progress_shown = false;
}

/* ---- results ---- */

static void show_finding(Run *run, int64_t frame, uint64_t file_offset, const PnvFinding *f)
{
    const PnvInspectOptions *o = run->options;

    if (o->rules.allowed[f->code] || o->quiet)
        return;
    if (run->shown[f->code]++ >= SHOWN_OF_A_CODE && !o->all) {
        if (run->shown[f->code] == SHOWN_OF_A_CODE + 1 && !o->json)
            printf("%s: more of %s follow; --all shows them\n", run->file, pnv_finding_name(f->code));
        return;
    }
    if (o->json) {
        if (ftell(run->findings) > 0)
            fputs(", ", run->findings);
        pnv_json_finding(run->findings, frame, file_offset, f);
        return;
    }
    clear_progress(run);
    pnv_text_finding(stdout, run->file, frame, file_offset, f, &o->rules);
}

static void show_frame(Run *run, const PnvFrameResult *r)
{
    const PnvInspectOptions *o = run->options;
    const PnvRawFormat *format = o->psnr ? &o->format : NULL;

    if (o->json) {
        if (ftell(run->frames) > 0)
            fputs(", ", run->frames);
        pnv_json_frame(run->frames, r, format);
    } else {
        clear_progress(run);
        pnv_text_frame(stdout, r, format);
    }
}

static void consume(void *opaque, const PnvFrameResult *r)
{
    Run *run = opaque;
    const PnvInspectOptions *o = run->options;

    pnv_summary_add(&run->summary, r);
    if (o->dump && !o->quiet && r->dump) {
        clear_progress(run);
        fwrite(r->dump, 1, r->dump_bytes, stdout);
    }
    for (uint32_t i = 0; i < r->n_findings; i++)
        show_finding(run, r->index, r->offset, &r->findings[i]);
    if (r->error && !run->error[0])
        fail(run, "%s: frame %" PRIu32 ": %s", run->file, r->index, r->error);
    if (o->frames && !o->quiet)
        show_frame(run, r);
    show_progress(run, r->size);
}

static void count_file_finding(void *opaque, const PnvFinding *f)
{
    Run *run = opaque;

    run->summary.n_found[f->code]++;
    show_finding(run, -1, 0, f);
}

/* ---- one file ---- */

static bool read_frames(Run *run)
{
    const PnvInspectOptions *o = run->options;
    char error[PNV_FRAMES_ERROR_BYTES] = "";
    PnvFramesJob job = {.source = &run->source, .mov = &run->mov, .n = run->mov.n_samples, .threads = o->threads,
                        .keep_findings = o->all ? UINT32_MAX : SHOWN_OF_A_CODE + 1, .dump = o->dump && !o->quiet,
                        .raw = o->psnr ? &run->raw : NULL, .raw_format = o->format, .consume = consume,
                        .opaque = run};

    if (job.n == 0)
        return fail(run, "%s: no frame in the file", run->file);
    if (o->one_frame) {
        if (o->frame >= job.n)
            return fail(run, "%s: --frame %" PRIu32 ": the frames are 0 to %" PRIu32, run->file, o->frame, job.n - 1);
        job.first = o->frame;
        job.n = 1;
    }
    run->n_wanted = job.n;
    if (!pnv_frames_run(&job, error))
        return fail(run, "%s: %s", run->file, error);
    clear_progress(run);
    if (!o->one_frame && run->summary.n_valid)
        pnv_container_check_depth(&run->mov, run->summary.n_alpha > run->summary.n_opaque, count_file_finding, run);
    return run->error[0] == 0;
}

static bool draw_map(Run *run)
{
    const PnvInspectOptions *o = run->options;
    const uint32_t frame = o->one_frame ? o->frame : 0;
    const PnvMovSample *sample = &run->mov.samples[frame];
    char title[128], error[PNV_MAP_ERROR_BYTES];
    const char *slash = strrchr(run->file, '/');
    bool ok = false;

    if (sample->offset > run->source.size || sample->size > run->source.size - sample->offset)
        return fail(run, "%s: frame %" PRIu32 " is cut: there is nothing to draw", run->file, frame);
    PnvReader *reader = pnv_reader_new();
    uint8_t *data = malloc(sample->size ? sample->size : 1);
    snprintf(title, sizeof title, "%s  frame %" PRIu32, slash ? slash + 1 : run->file, frame);
    if (!reader || !data || !run->source.read(run->source.opaque, sample->offset, data, sample->size) ||
        pnv_reader_read(reader, data, sample->size, NULL) != PNV_READER_OK)
        fail(run, "%s: frame %" PRIu32 " cannot be read for the map", run->file, frame);
    else if (!pnv_map_write(reader, title, o->map, error))
        fail(run, "%s", error);
    else
        ok = true;
    free(data);
    pnv_reader_free(&reader);
    return ok;
}

static bool open_files(Run *run)
{
    const PnvInspectOptions *o = run->options;
    char error[PNV_MOV_ERROR_BYTES];

    if (!open_source(run, &run->source, &run->fd, run->file))
        return false;
    if (!pnv_mov_open(&run->mov, &run->source, error))
        return fail(run, "%s: %s", run->file, error);
    if (o->psnr && !open_source(run, &run->raw, &run->raw_fd, o->psnr))
        return false;
    if (o->json) {
        run->findings = open_memstream(&run->findings_text, &run->findings_bytes);
        run->frames = open_memstream(&run->frames_text, &run->frames_bytes);
        if (!run->findings || !run->frames)
            return fail(run, "%s: no memory for the report", run->file);
    }
    return true;
}

static void close_files(Run *run)
{
    if (run->findings)
        fclose(run->findings);
    if (run->frames)
        fclose(run->frames);
    free(run->findings_text);
    free(run->frames_text);
    pnv_mov_close(&run->mov);
    if (run->fd >= 0)
        close(run->fd);
    if (run->raw_fd >= 0)
        close(run->raw_fd);
}

static void report(Run *run, int status)
{
    const PnvInspectOptions *o = run->options;
    const PnvRawFormat *format = o->psnr ? &o->format : NULL;

    if (run->error[0])
        fprintf(stderr, "proresnv-inspect: %s\n", run->error);
    if (o->quiet)
        return;
    if (!o->json) {
        if (run->summary.n_frames)
            pnv_text_summary(stdout, run->file, &run->mov, &run->summary, &o->rules, format);
        return;
    }
    if (run->findings)
        fflush(run->findings);
    if (run->frames)
        fflush(run->frames);
    const bool any = run->summary.n_frames > 0;
    const PnvJsonFile file = {.file = run->file, .status = status, .error = run->error[0] ? run->error : NULL,
                              .mov = any ? &run->mov : NULL, .summary = any ? &run->summary : NULL,
                              .rules = &o->rules, .format = format, .findings = run->findings_text,
                              .frames = o->frames ? run->frames_text : NULL};
    pnv_json_file(stdout, &file);
}

static int inspect_file(const PnvInspectOptions *options, const char *path)
{
    Run *run = calloc(1, sizeof *run);

    if (!run) {
        fprintf(stderr, "proresnv-inspect: %s: no memory\n", path);
        return PNV_EXIT_UNREADABLE;
    }
    run->options = options;
    run->file = path;
    run->fd = run->raw_fd = -1;
    run->started = now();
    const bool ok = open_files(run) && read_frames(run) && (!options->map || draw_map(run));
    const bool violations = pnv_summary_n_violations(&run->summary, &options->rules) > 0;
    const int status = !ok ? PNV_EXIT_UNREADABLE : violations ? PNV_EXIT_VIOLATIONS : PNV_EXIT_CONFORMS;
    report(run, status);
    close_files(run);
    free(run);
    return status;
}

int main(int argc, char **argv)
{
    PnvInspectOptions options;
    int status = pnv_inspect_options(&options, argc, argv);

    if (status >= 0)
        return status;
    if (options.map && !pnv_map_available())
        fprintf(stderr, "proresnv-inspect: --map: this build has no libpng\n");
    if (options.json && !options.quiet)
        printf("{\"files\": [");
    status = PNV_EXIT_CONFORMS;
    for (int i = 0; i < options.n_files; i++) {
        if (options.json && !options.quiet && i)
            printf(",\n");
        const int s = inspect_file(&options, options.files[i]);
        status = s > status ? s : status;
    }
    if (options.json && !options.quiet)
        printf("]}\n");
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "proresnv-inspect: writing the report failed: %s\n", strerror(errno));
        return PNV_EXIT_UNREADABLE;
    }
    return status;
}
