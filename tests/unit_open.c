/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of pnv.h: what is refused and with which words, the order of calls, defaults, and life of packets. */
#include <pthread.h>
#include <stdint.h>

#include "check.h"
#include "pnv.h"

static const PnvParams small = {.width = 64, .height = 48, .chroma = PNV_CHROMA_422, .depth = 10};

/* Each refusal names the field, its value and what is allowed. */
static void test_refused_params(void)
{
    static const struct { PnvParams p; PnvStatus status; const char *words[3]; } cases[] = {
        {{.width = 0, .height = 48, .depth = 10}, PNV_EINVAL, {"width", "0", "65535"}},
        {{.width = -1, .height = 48, .depth = 10}, PNV_EINVAL, {"width", "-1", "65535"}},
        {{.width = 65536, .height = 48, .depth = 10}, PNV_EINVAL, {"width", "65536", "65535"}},
        {{.width = 64, .height = 0, .depth = 10}, PNV_EINVAL, {"height", "0", "65535"}},
        {{.width = 65535, .height = 65535, .depth = 10}, PNV_EINVAL, {"65535x65535", "bytes", "4294967295"}},
        {{.width = 64, .height = 48}, PNV_EINVAL, {"depth", "0", "8, 10, 12 or 16"}},
        {{.width = 64, .height = 48, .depth = 9}, PNV_EINVAL, {"depth", "9", "8, 10, 12 or 16"}},
        {{.width = 64, .height = 48, .depth = 14}, PNV_EINVAL, {"depth", "14", "8, 10, 12 or 16"}},
        {{.width = 64, .height = 48, .depth = 10, .chroma = (PnvChroma)3}, PNV_EINVAL, {"chroma", "3", "0..2"}},
        {{.width = 64, .height = 48, .depth = 10, .model = (PnvModel)2}, PNV_EINVAL, {"model", "2", "0..1"}},
        {{.width = 64, .height = 48, .depth = 10, .siting = (PnvSiting)4}, PNV_EINVAL, {"siting", "4", "0..3"}},
        {{.width = 64, .height = 48, .depth = 10, .packing = (PnvPacking)5}, PNV_EINVAL, {"packing", "5", "0..4"}},
        {{.width = 64, .height = 48, .depth = 8, .packing = PNV_PACKING_V210}, PNV_EINVAL, {"depth", "8", "10 bits"}},
        {{.width = 64, .height = 48, .depth = 10, .packing = PNV_PACKING_V210, .chroma = PNV_CHROMA_444}, PNV_EINVAL,
         {"packing 3", "4:2:2", "4:4:4"}},
        {{.width = 64, .height = 48, .depth = 10, .packing = PNV_PACKING_UYVP, .alpha_bits = 8}, PNV_EINVAL,
         {"packing 4", "no alpha", "8"}},
        {{.width = 64, .height = 48, .depth = 8, .model = PNV_MODEL_RGB, .matrix_coefficients = 1}, PNV_EINVAL,
         {"RGB", "4:4:4", "4:2:2"}},
        {{.width = 64, .height = 48, .depth = 8, .model = PNV_MODEL_RGB, .chroma = PNV_CHROMA_444}, PNV_EINVAL,
         {"matrix_coefficients", "0", "RGB"}},
        {{.width = 64, .height = 48, .depth = 10, .shift = {7}}, PNV_EINVAL, {"shift[0]", "7", "16 bits"}},
        {{.width = 64, .height = 48, .depth = 8, .shift = {0, 1}}, PNV_EINVAL, {"shift[1]", "1", "8 bits"}},
        {{.width = 64, .height = 48, .depth = 10, .shift = {0, 0, -1}}, PNV_EINVAL, {"shift[2]", "-1", "16 bits"}},
        {{.width = 64, .height = 48, .depth = 10, .alpha_depth = 2}, PNV_EINVAL, {"alpha_depth", "2", "packed word"}},
        {{.width = 64, .height = 48, .depth = 10, .profile = (PnvProfile)7}, PNV_EINVAL, {"profile", "7", "0..6"}},
        {{.width = 64, .height = 48, .depth = 10, .alpha_bits = 16, .profile = PNV_PROFILE_LT},
         PNV_EINVAL, {"alpha_bits", "16", "lt"}},
        {{.width = 64, .height = 48, .depth = 10, .quantizer = 225}, PNV_EINVAL, {"quantizer", "225", "0..224"}},
        {{.width = 64, .height = 48, .depth = 10, .quantizer = -1}, PNV_EINVAL, {"quantizer", "-1", "0..224"}},
        {{.width = 64, .height = 48, .depth = 10, .mbs_per_slice = 3}, PNV_EINVAL, {"mbs_per_slice", "3", "4 or 8"}},
        {{.width = 64, .height = 48, .depth = 10, .mbs_per_slice = 16}, PNV_EINVAL, {"mbs_per_slice", "16", "8"}},
        {{.width = 64, .height = 48, .depth = 10, .rounding = (PnvRounding)9}, PNV_EINVAL, {"rounding", "9", "0..2"}},
        {{.width = 64, .height = 48, .depth = 10, .fps_n = 25}, PNV_EINVAL, {"fps", "25/0", "unknown"}},
        {{.width = 64, .height = 48, .depth = 10, .par_n = -1, .par_d = 1}, PNV_EINVAL, {"par", "-1/1", "unknown"}},
        {{.width = 64, .height = 48, .depth = 10, .color_primaries = 256}, PNV_EINVAL, {"primaries", "256", "255"}},
        {{.width = 64, .height = 48, .depth = 10, .encoder_id = "abc"}, PNV_EINVAL, {"encoder_id", "abc", "less"}},
        {{.width = 64, .height = 48, .depth = 10, .encoder_id = "abcde"}, PNV_EINVAL, {"encoder_id", "abcd", "more"}},
        {{.width = 64, .height = 48, .depth = 10, .encoder_id = "ab\001d"}, PNV_EINVAL, {"encoder_id", "0x01", "ASCII"}},
        {{.width = 64, .height = 48, .depth = 10, .threads = 257}, PNV_EINVAL, {"threads", "257", "256"}},
        {{.width = 64, .height = 48, .depth = 10, .frames_in_flight = 17}, PNV_EINVAL, {"frames_in_flight", "17", "16"}},
        {{.width = 64, .height = 48, .depth = 10, .backend = (PnvBackend)3}, PNV_EINVAL, {"backend", "3", "0..2"}},
        {{.width = 64, .height = 48, .depth = 10, .cuda_device_id = -1}, PNV_EINVAL, {"cuda_device_id", "-1", "0.."}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PnvEncoder *enc = (PnvEncoder *)&small;
        char error[PNV_ERROR_BYTES] = "";
        const PnvStatus status = pnv_open(&enc, &cases[i].p, error);
        CHECK(status == cases[i].status, "case %zu: status %d", i, status);
        CHECK(!enc, "case %zu: an encoder was made", i);
        for (int w = 0; w < 3; w++)
            CHECK(strstr(error, cases[i].words[w]), "case %zu: \"%s\" lacks \"%s\"", i, error, cases[i].words[w]);
        CHECK((pnv_packet_bound(&cases[i].p) == 0) == (status == PNV_EINVAL), "case %zu: bound", i);
        CHECK(pnv_open(&enc, &cases[i].p, NULL) == status, "case %zu without room for the text", i);
    }
}

/* Without CUDA in the library or the machine that is said; with a device it opens, and its packets are the same. */
static void test_cuda(void)
{
    PnvParams params = small;
    char error[PNV_ERROR_BYTES] = "";
    PnvEncoder *enc;

    params.backend = PNV_BACKEND_CUDA;
    const PnvStatus status = pnv_open(&enc, &params, error);
    if (status == PNV_OK) {
        CHECK(pnv_params(enc)->backend == PNV_BACKEND_CUDA && !strncmp(pnv_backend_name(enc), "cuda", 4), "backend");
        CHECK(pnv_params(enc)->frames_in_flight == 3 && pnv_params(enc)->threads >= 1, "defaults");
    } else {
        CHECK(status == PNV_ENODEV && strstr(error, "CUDA") && strstr(error, "cpu backend"), "status %d: \"%s\"",
              (int)status, error);
    }
    pnv_close(&enc);
}

static void test_defaults(void)
{
    PnvEncoder *enc;
    REQUIRE(pnv_open(&enc, &small, NULL) == PNV_OK, "open");
    const PnvParams *p = pnv_params(enc);
    CHECK(p->profile == PNV_PROFILE_HQ && p->quantizer == 4 && p->mbs_per_slice == 8, "defaults");
    CHECK(p->color_primaries == 2 && p->transfer_characteristic == 2 && p->matrix_coefficients == 2, "colour");
    CHECK(p->threads >= 1 && p->frames_in_flight == 1 && p->backend == PNV_BACKEND_CPU, "threads %d", p->threads);
    CHECK(!strcmp(pnv_backend_name(enc), "cpu"), "name");
    CHECK(!strcmp(pnv_error(enc), ""), "error before any");
    pnv_close(&enc);
    CHECK(!enc, "close leaves a pointer");
    pnv_close(&enc);

    PnvParams p444 = small;
    p444.chroma = PNV_CHROMA_444;
    REQUIRE(pnv_open(&enc, &p444, NULL) == PNV_OK, "open 4:4:4");
    CHECK(pnv_params(enc)->profile == PNV_PROFILE_4444, "profile of 4:4:4");
    pnv_close(&enc);
    CHECK(!strcmp(pnv_profile_name(PNV_PROFILE_4444XQ), "4444xq") && !strcmp(pnv_profile_name((PnvProfile)99), "auto"),
          "profile names");
}

static uint16_t grey[88 * 48]; /* rows of v210 take 176 bytes */

static PnvPicture grey_picture(void *tag)
{
    return (PnvPicture){.plane = {grey, grey, grey}, .stride = {128, 64, 64}, .tag = tag};
}

static void test_refused_pictures(void)
{
    PnvEncoder *enc;
    REQUIRE(pnv_open(&enc, &small, NULL) == PNV_OK, "open");
    for (int i = 0; i < 7; i++) {
        static const char *const words[7] = {"plane[1] is NULL", "stride[0] 126 is less than the 128 bytes",
                                             "stride[2] 62 is less than the 64 bytes", "stride[0] 129 is odd",
                                             "not aligned", "stride[1] -64", "memory 5"};
        PnvPicture pic = grey_picture(NULL);
        switch (i) {
        case 0: pic.plane[1] = NULL; break;
        case 1: pic.stride[0] = 126; break;
        case 2: pic.stride[2] = 62; break;
        case 3: pic.stride[0] = 129; break;
        case 4: pic.plane[2] = (uint8_t *)grey + 1; break;
        case 5: pic.stride[1] = -64; break;
        case 6: pic.memory = (PnvMemory)5; break;
        }
        CHECK(pnv_send(enc, &pic) == PNV_EINVAL, "picture %d", i);
        CHECK(strstr(pnv_error(enc), words[i]), "\"%s\" lacks \"%s\"", pnv_error(enc), words[i]);
    }
    PnvPacket packet;
    CHECK(pnv_collect(enc, &packet) == PNV_EMPTY, "a refused picture was kept");
    pnv_close(&enc);
}

/* What is packed in words lies in one place. */
static void test_refused_words(void)
{
    PnvParams params = small;
    PnvEncoder *enc;
    PnvPacket packet;

    params.packing = PNV_PACKING_V210;
    params.height = 32; /* so that grey has enough */
    REQUIRE(pnv_open(&enc, &params, NULL) == PNV_OK, "open");
    PnvPicture pic = {.plane = {grey, grey, grey}, .stride = {176, 176, 176}, .step = {0, 4, 8}}; /* that have no meaning */
    CHECK(pnv_send(enc, &pic) == PNV_OK && pnv_collect(enc, &packet) == PNV_OK, "v210: %s", pnv_error(enc));
    pnv_packet_release(&packet);
    pic.stride[2] = 192;
    CHECK(pnv_send(enc, &pic) == PNV_EINVAL && strstr(pnv_error(enc), "stride 192"), "\"%s\"", pnv_error(enc));
    pic.stride[2] = 176;
    pic.plane[1] = grey + 1;
    CHECK(pnv_send(enc, &pic) == PNV_EINVAL && strstr(pnv_error(enc), "plane[1]"), "\"%s\"", pnv_error(enc));
    pnv_close(&enc);
}

/* Stage, submit, collect: what each refuses, order, tags, and packets that outlive the encoder. */
static void test_order(void)
{
    PnvParams params = small;
    PnvEncoder *enc;
    PnvPacket packet[4] = {{0}}, extra;
    int tags[4];

    params.frames_in_flight = 3;
    REQUIRE(pnv_open(&enc, &params, NULL) == PNV_OK, "open");
    PnvPicture pic = grey_picture(&tags[0]);
    CHECK(pnv_submit(enc) == PNV_ESTATE, "submit with nothing staged");
    CHECK(pnv_stage(enc, &pic) == PNV_OK, "stage");
    CHECK(pnv_stage(enc, &pic) == PNV_ESTATE, "stage twice");
    CHECK(pnv_collect(enc, &extra) == PNV_EMPTY, "staged is not submitted");
    CHECK(pnv_submit(enc) == PNV_OK, "submit");
    for (int i = 1; i < 3; i++) {
        pic.tag = &tags[i];
        CHECK(pnv_send(enc, &pic) == PNV_OK, "send %d", i);
    }
    pic.tag = &tags[3];
    CHECK(pnv_send(enc, &pic) == PNV_AGAIN, "a fourth of three");
    pnv_drain(enc);
    CHECK(pnv_collect(enc, &packet[0]) == PNV_OK, "collect");
    CHECK(pnv_send(enc, &pic) == PNV_OK, "room again");
    for (int i = 1; i < 4; i++)
        CHECK(pnv_collect(enc, &packet[i]) == PNV_OK, "collect %d", i);
    CHECK(pnv_collect(enc, &extra) == PNV_EMPTY, "collect from an empty encoder");
    for (int i = 0; i < 4; i++) {
        CHECK(packet[i].tag == &tags[i] && !packet[i].error, "tag %d", i);
        CHECK(packet[i].size == packet[0].size && !memcmp(packet[i].data, packet[0].data, packet[0].size),
              "the same picture gives other bytes");
    }
    CHECK(packet[0].size <= pnv_packet_bound(&params), "bound");

    CHECK(pnv_send(enc, &pic) == PNV_OK, "send");
    pnv_close(&enc); /* with a frame in flight and packets out */
    CHECK(packet[0].data[4] == 'i' && packet[3].data[7] == 'f', "packets outlive the encoder");
    for (int i = 0; i < 4; i++)
        pnv_packet_release(&packet[i]);
    CHECK(!packet[0].data && !packet[0].owner, "release zeroes the packet");
    pnv_packet_release(&packet[0]);
}

/* A staged picture that never is submitted is dropped by drain and by close. */
static void test_drop_staged(void)
{
    PnvEncoder *enc;
    PnvPacket packet;
    const PnvPicture pic = grey_picture(NULL);

    REQUIRE(pnv_open(&enc, &small, NULL) == PNV_OK, "open");
    CHECK(pnv_stage(enc, &pic) == PNV_OK, "stage");
    pnv_drain(enc);
    CHECK(pnv_submit(enc) == PNV_ESTATE, "drain keeps a staged picture");
    CHECK(pnv_send(enc, &pic) == PNV_OK && pnv_collect(enc, &packet) == PNV_OK, "goes on after drain");
    pnv_packet_release(&packet);
    CHECK(pnv_stage(enc, &pic) == PNV_OK, "stage");
    pnv_close(&enc);
}

enum { N_FRAMES = 400 };

typedef struct Collector {
    PnvEncoder *enc;
    int n_wrong; /* counted here: CHECK() belongs to one thread */
} Collector;

static void *collect_all(void *arg)
{
    Collector *c = arg;
    PnvPacket packet;

    for (uintptr_t next = 1; next <= N_FRAMES;) {
        if (pnv_collect(c->enc, &packet) == PNV_EMPTY)
            continue; /* the sender is not there yet */
        c->n_wrong += (uintptr_t)packet.tag != next || packet.error;
        next++;
        pnv_packet_release(&packet);
    }
    return NULL;
}

/* One thread sends while another collects, as the element does; ThreadSanitizer watches. */
static void test_two_threads(void)
{
    PnvParams params = small;
    Collector collector = {0};
    pthread_t thread;

    params.frames_in_flight = 3;
    params.threads = 2;
    REQUIRE(pnv_open(&collector.enc, &params, NULL) == PNV_OK, "open");
    REQUIRE(!pthread_create(&thread, NULL, collect_all, &collector), "thread");
    for (uintptr_t i = 1; i <= N_FRAMES; i++) {
        PnvStatus status;
        const PnvPicture pic = grey_picture((void *)i);
        while ((status = pnv_send(collector.enc, &pic)) == PNV_AGAIN)
            ;
        CHECK(status == PNV_OK, "send %zu: %d", (size_t)i, status);
        if (i % 100 == 0)
            pnv_drain(collector.enc);
    }
    pthread_join(thread, NULL);
    CHECK(collector.n_wrong == 0, "%d packets out of order", collector.n_wrong);
    pnv_close(&collector.enc);
}

static void count_log(void *opaque, PnvLogLevel level, const char *text)
{
    CHECK(level == PNV_LOG_INFO && strstr(text, "64x48") && strstr(text, "cpu"), "log \"%s\"", text);
    ++*(int *)opaque;
}

static void test_log(void)
{
    PnvParams params = small;
    PnvEncoder *enc;
    int n = 0;

    params.log = count_log;
    params.log_opaque = &n;
    REQUIRE(pnv_open(&enc, &params, NULL) == PNV_OK, "open");
    pnv_close(&enc);
    CHECK(n == 1, "%d lines", n);
}

int main(void)
{
    for (size_t i = 0; i < sizeof grey / sizeof *grey; i++)
        grey[i] = (uint16_t)(i * 37 % 1024);
    test_refused_params();
    test_defaults();
    test_cuda();
    test_refused_pictures();
    test_refused_words();
    test_order();
    test_drop_staged();
    test_two_threads();
    test_log();
    CHECK_END();
}
