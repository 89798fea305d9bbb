/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

#ifndef PNV_VERSION
#define PNV_VERSION "unknown"
#endif

static const char usage[] =
    "Usage: proresnv-inspect [options] FILE...\n"
    "Checks Apple ProRes files against SMPTE RDD 36 to the last bit and says what is in them.\n"
    "FILE: QuickTime or MP4, fragmented or not, or bare 'icpf' frames one after another.\n"
    "\n"
    "Check:\n"
    "  --allow CODE[,CODE]  count findings of this code for nothing; may be repeated\n"
    "  --werror             count notes as violations\n"
    "  --list-codes         list all codes of findings and what they mean\n"
    "  --frame N            read frame N only, counted from 0\n"
    "\n"
    "Compare:\n"
    "  --psnr RAW           decode exactly and compare with raw video: PSNR and SSIM of each plane,\n"
    "                       alpha sample by sample\n"
    "  --format FORMAT      format of RAW: yuv422p10le, yuv444p12le, yuva444p16le, I422_10LE ...\n"
    "\n"
    "Report:\n"
    "  --frames             one line on each frame too\n"
    "  --all                every finding; without it, the first 10 of a code in a file\n"
    "  --dump               every field of the headers and every slice\n"
    "  --json               one JSON object for machines\n"
    "  --map OUT.png        draw quantizers and bytes of the slices of the first frame, or frame N\n"
    "  --quiet              the exit status only\n"
    "\n"
    "  --threads N          threads to read frames with (default: one for each processor)\n"
    "  --help, --version    print this or the version, and exit\n"
    "\n"
    "Exit status: 0 all files conform, 1 there are violations, 2 a file or frame cannot be read.\n";

enum { OPT_ALLOW = 256, OPT_WERROR, OPT_LIST, OPT_FRAME, OPT_PSNR, OPT_FORMAT, OPT_FRAMES, OPT_ALL, OPT_DUMP, OPT_JSON,
       OPT_MAP, OPT_QUIET, OPT_THREADS, OPT_HELP, OPT_VERSION };

static const struct option long_options[] = {
    {"allow", required_argument, NULL, OPT_ALLOW},     {"werror", no_argument, NULL, OPT_WERROR},
    {"list-codes", no_argument, NULL, OPT_LIST},       {"frame", required_argument, NULL, OPT_FRAME},
    {"psnr", required_argument, NULL, OPT_PSNR},       {"format", required_argument, NULL, OPT_FORMAT},
    {"frames", no_argument, NULL, OPT_FRAMES},         {"all", no_argument, NULL, OPT_ALL},
    {"dump", no_argument, NULL, OPT_DUMP},             {"json", no_argument, NULL, OPT_JSON},
    {"map", required_argument, NULL, OPT_MAP},         {"quiet", no_argument, NULL, OPT_QUIET},
    {"threads", required_argument, NULL, OPT_THREADS}, {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},       {NULL, 0, NULL, 0},
};

__attribute__((format(printf, 1, 2))) static int mistake(const char *format, ...)
{
    va_list args;

    fprintf(stderr, "proresnv-inspect: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "; see --help\n");
    return PNV_EXIT_UNREADABLE;
}

/* Names with commas between them. */
static int allow(PnvInspectOptions *o, const char *names)
{
    while (*names) {
        const size_t n = strcspn(names, ",");
        char name[64];

        snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), names);
        const PnvFindingCode code = pnv_finding_by_name(name);
        if (code == PNV_FINDING_NONE)
            return mistake("--allow %s: there is no such code; --list-codes lists them", name);
        o->rules.allowed[code] = true;
        names += n + (names[n] == ',');
    }
    return -1;
}

static int number(const char *name, const char *text, unsigned long min, unsigned long max, unsigned long *value)
{
    char *end;

    errno = 0;
    *value = strtoul(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-' || *value < min || *value > max)
        return mistake("--%s %s: a number from %lu to %lu is wanted", name, text, min, max);
    return -1;
}

static int take_option(PnvInspectOptions *o, int option, const char *argument, const char **format)
{
    unsigned long value;
    int status;

    switch (option) {
    case OPT_ALLOW:
        return allow(o, argument);
    case OPT_WERROR:
        o->rules.notes_count = true;
        return -1;
    case OPT_LIST:
        pnv_text_codes(stdout);
        return PNV_EXIT_CONFORMS;
    case OPT_FRAME:
        status = number("frame", argument, 0, UINT32_MAX - 1, &value);
        o->one_frame = true;
        o->frame = (uint32_t)value;
        return status;
    case OPT_PSNR:
        o->psnr = argument;
        return -1;
    case OPT_FORMAT:
        *format = argument;
        return -1;
    case OPT_FRAMES:
        o->frames = true;
        return -1;
    case OPT_ALL:
        o->all = true;
        return -1;
    case OPT_DUMP:
        o->dump = true;
        return -1;
    case OPT_JSON:
        o->json = true;
        return -1;
    case OPT_MAP:
        o->map = argument;
        return -1;
    case OPT_QUIET:
        o->quiet = true;
        return -1;
    case OPT_THREADS:
        status = number("threads", argument, 1, PNV_MAX_READER_THREADS, &value);
        o->threads = (int)value;
        return status;
    case OPT_HELP:
        fputs(usage, stdout);
        return PNV_EXIT_CONFORMS;
    case OPT_VERSION:
        printf("proresnv-inspect %s\n", PNV_VERSION);
        return PNV_EXIT_CONFORMS;
    default:
        return mistake("an option is not known or lacks its argument"); /* getopt_long() has said which */
    }
}

static int default_threads(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > PNV_MAX_READER_THREADS ? PNV_MAX_READER_THREADS : (int)n;
}

/* What options ask of each other. */
static int check_options(PnvInspectOptions *o, const char *format)
{
    if (o->n_files == 0)
        return mistake("no FILE is given");
    if (!o->psnr != !format)
        return mistake(o->psnr ? "--psnr needs --format FORMAT, for example yuv422p10le"
                               : "--format is of use with --psnr RAW only");
    if (format && !pnv_raw_format(&o->format, format))
        return mistake("--format %s: not a planar 4:2:2 or 4:4:4 format; yuv422p10le, yuv444p12le, yuva444p16le, "
                       "I422_10LE and their like are taken", format);
    if ((o->psnr || o->map) && o->n_files > 1)
        return mistake("%s takes one FILE, but %d are given", o->psnr ? "--psnr" : "--map", o->n_files);
    if (o->json && o->dump)
        return mistake("--json and --dump cannot be combined: ask for one of them");
    return -1;
}

int pnv_inspect_options(PnvInspectOptions *o, int argc, char **argv)
{
    const char *format = NULL;
    int option, status;

    *o = (PnvInspectOptions){.threads = default_threads()};
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        if ((status = take_option(o, option, optarg, &format)) >= 0)
            return status;
    o->files = argv + optind;
    o->n_files = argc - optind;
    return check_options(o, format);
}
