/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file pnv.h
 * libproresnv: raw video frames in, Apple ProRes frames (`icpf`, SMPTE RDD 36) out. The one public header.
 *
 * The way of a frame: describe how to code (PnvParams) and open an encoder; describe each frame (PnvPicture) and send
 * it; collect finished packets, in the order they were sent. One packet is one whole ProRes frame, which is one sample
 * of a QuickTime track. Every frame stands alone: its bytes depend on its samples and the parameters only, not on other
 * frames, the number of threads or the backend.
 *
 * @code
 *     PnvParams params = {.width = 1920, .height = 1080, .chroma = PNV_CHROMA_422, .depth = 10};
 *     char error[PNV_ERROR_BYTES];
 *     PnvEncoder *enc = NULL;
 *     PnvPacket packet;
 *
 *     if (pnv_open(&enc, &params, error) != PNV_OK)
 *         die(error);
 *     while (next_picture(&pic)) {
 *         PnvStatus status;
 *         while ((status = pnv_send(enc, &pic)) == PNV_AGAIN) { // all frames in flight are taken: make room
 *             if (pnv_collect(enc, &packet) == PNV_OK)
 *                 write(fd, packet.data, packet.size);
 *             pnv_packet_release(&packet);
 *         }
 *         if (status != PNV_OK)
 *             die(pnv_error(enc));
 *     }
 *     while ((status = pnv_collect(enc, &packet)) != PNV_EMPTY) { // the rest
 *         ...
 *     }
 *     pnv_close(&enc);
 * @endcode
 *
 * Threads: pnv_stage(), pnv_submit(), pnv_send() and pnv_drain() belong to one thread at a time, pnv_collect() to one
 * thread at a time; the two may be different threads and run at once. pnv_host_alloc() and pnv_stats() may be called from
 * any thread, pnv_packet_release() and pnv_host_free() also after pnv_close(). Different encoders are independent of each
 * other.
 */
#ifndef PNV_H
#define PNV_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(PNV_BUILDING) && defined(__GNUC__)
#define PNV_API __attribute__((visibility("default")))
#else
#define PNV_API
#endif

#define PNV_MAX_FRAMES_IN_FLIGHT 16 /**< Most frames an encoder holds at once. */
#define PNV_MAX_THREADS 256         /**< Most CPU threads of an encoder. */
#define PNV_ERROR_BYTES 256         /**< Room for any error text, its final NUL included. */

/** What a call tells its caller to do. 0 is success, positive asks for another call, negative is a failure. */
typedef enum PnvStatus {
    PNV_OK = 0,
    PNV_AGAIN = 1,   /**< No room: collect a packet, then call again with the same picture. Nothing was kept. */
    PNV_EMPTY = 2,   /**< Nothing is in flight: there is no packet to wait for. */
    PNV_EINVAL = -1, /**< An argument is refused; the text names field, value and limit. Nothing was kept. */
    PNV_ENOMEM = -2, /**< Memory ran out. */
    PNV_ENODEV = -3, /**< The backend that was asked for cannot run here; the text says why. */
    PNV_ESTATE = -4  /**< Calls in the wrong order, for example pnv_submit() with nothing staged. */
} PnvStatus;

/** The six ProRes profiles. The bitstream does not carry them: the container's four-character code does. */
typedef enum PnvProfile {
    PNV_PROFILE_AUTO = 0, /**< HQ for 4:2:2 and 4:2:0; 4444 for 4:4:4, RGB and what has alpha. */
    PNV_PROFILE_PROXY,    /**< apco, 4:2:2 */
    PNV_PROFILE_LT,       /**< apcs, 4:2:2 */
    PNV_PROFILE_STANDARD, /**< apcn, 4:2:2 */
    PNV_PROFILE_HQ,       /**< apch, 4:2:2 */
    PNV_PROFILE_4444,     /**< ap4h, 4:4:4 */
    PNV_PROFILE_4444XQ    /**< ap4x, 4:4:4 */
} PnvProfile;

/** Chroma sampling of the input. The profile says that of the stream; where the two differ chroma is converted. */
typedef enum PnvChroma {
    PNV_CHROMA_422 = 0, /**< Cb and Cr have (width + 1) / 2 columns and all rows. */
    PNV_CHROMA_444,     /**< Cb and Cr have the size of luma. */
    PNV_CHROMA_420      /**< (width + 1) / 2 columns, and (rows + 1) / 2 rows of the frame, or of each field. */
} PnvChroma;

/** What the three components of the input are. */
typedef enum PnvModel {
    PNV_MODEL_YCBCR = 0,
    PNV_MODEL_RGB /**< Red, green, blue; chroma is 4:4:4. Converted by params.matrix_coefficients. */
} PnvModel;

/**
 * Where the first chroma sample of 4:2:0 lies, and of 4:2:2 that is made 4:4:4: of these only the column counts. In
 * fields each field is sited for itself. The stream's chroma is at luma columns, as always in 4:2:2; 4:2:2 input under
 * a 422 profile is not moved, whatever is said here.
 */
typedef enum PnvSiting {
    PNV_SITING_LEFT = 0, /**< At a luma column, between two luma rows: MPEG-2, H.264. */
    PNV_SITING_CENTER,   /**< Between two columns and two rows: JPEG, MPEG-1. */
    PNV_SITING_TOP_LEFT, /**< At a luma sample: BT.2020, DV. */
    PNV_SITING_TOP       /**< Between two columns, at a luma row. */
} PnvSiting;

/** How samples lie in memory. */
typedef enum PnvPacking {
    PNV_PACKING_SAMPLES = 0, /**< A uint8_t each for depth 8, else a little-endian uint16_t; a step apart. */
    PNV_PACKING_WORDS,       /**< Depth 10, all components of a pixel in a little-endian 32-bit word: Y410, RGB10A2. */
    PNV_PACKING_WORDS_BE,    /**< The same, big-endian: r210. */
    PNV_PACKING_V210,        /**< 4:2:2, depth 10: six pixels in four little-endian words. */
    PNV_PACKING_UYVP         /**< 4:2:2, depth 10: two pixels in five bytes, most significant bit first. */
} PnvPacking;

/**
 * How a coefficient between two levels is rounded. RDD 36 fixes only the inverse (7.3): this is the encoder's choice.
 * encoder/quant.h has the definitions.
 */
typedef enum PnvRounding {
    PNV_ROUNDING_DEAD_ZONE = 0, /**< Small levels give way where their neighbours are small: most picture for the bits. */
    PNV_ROUNDING_NEAREST,       /**< Halves away from zero: least squared error at a quantizer. */
    PNV_ROUNDING_OPTIMAL        /**< Each level weighed against the bits it really costs: slower, a little better. */
} PnvRounding;

/** What decides over the size of a frame. */
typedef enum PnvRateControl {
    PNV_RATE_CONSTANT_QUANTIZER = 0, /**< params.quantizer in every slice; sizes as they come. */
    PNV_RATE_TARGET /**< As near the target as the frame allows, and never over; easy frames stop at min_quantizer. */
} PnvRateControl;

/** What does the work. The bytes are the same from all. */
typedef enum PnvBackend {
    PNV_BACKEND_AUTO = 0, /**< The fastest one that works here. */
    PNV_BACKEND_CPU,
    PNV_BACKEND_CUDA /**< PNV_ENODEV where no NVIDIA GPU can be used, or the library was built without CUDA. */
} PnvBackend;

/** What the codes of the input's samples mean. The stream is always video range. */
typedef enum PnvRange {
    PNV_RANGE_VIDEO = 0, /**< Black 16, white 235, chroma 16..240 of 8 bits: stored as it is, with what lies outside. */
    PNV_RANGE_FULL       /**< 0..2^depth - 1, as in JPEG: brought to video range with one rounding. */
} PnvRange;

/** How a frame is scanned (RDD 36 6.1.1 interlace_mode). Each frame can be another way. */
typedef enum PnvInterlace {
    PNV_PROGRESSIVE = 0,
    PNV_TOP_FIELD_FIRST,   /**< Two fields; rows 0, 2, 4 ... are earlier in time and coded first. */
    PNV_BOTTOM_FIELD_FIRST /**< Rows 1, 3, 5 ... are. */
} PnvInterlace;

/** Instructions of the CPU that its backend uses. The bytes are the same from all: forcing one is for tests and timing. */
typedef enum PnvCpu {
    PNV_CPU_AUTO = 0, /**< The most that this machine has. */
    PNV_CPU_C,        /**< Plain C, the definition. */
    PNV_CPU_AVX2,     /**< x86-64-v3: Haswell, Zen and later. */
    PNV_CPU_AVX512,   /**< With VBMI2 and VNNI: Ice Lake, Zen 4 and later. */
    PNV_CPU_NEON      /**< aarch64. */
} PnvCpu;

/** Where the planes of a picture live. */
typedef enum PnvMemory {
    PNV_MEMORY_HOST = 0, /**< Ordinary memory, page-locked or not. */
    /**
     * Memory of the device; the CUDA backend only. What fills it must have ended, or PnvPicture.cuda_event must say when
     * it does. That of another device or context than the encoder's costs a copy, and a warning once. Should CUDA fail, the frame is brought to the host if the device still
     * answers, else its packet says that it is lost.
     */
    PNV_MEMORY_CUDA
} PnvMemory;

typedef enum PnvLogLevel { PNV_LOG_ERROR = 0, PNV_LOG_WARNING, PNV_LOG_INFO, PNV_LOG_DEBUG } PnvLogLevel;

/**
 * Receives what the library has to say; it prints nothing itself. Called from any of its threads, possibly from two at
 * once; must not call back into the encoder.
 *
 * @param text one line without a newline, valid during the call.
 */
typedef void (*PnvLogFunction)(void *opaque, PnvLogLevel level, const char *text);

/** What comes and how to code it: fixed while an encoder is open. Zero in any field but size and depth is its default. */
typedef struct PnvParams {
    int width;  /**< Luma columns, 1..65535, and small enough that pnv_packet_bound() fits 32 bits. */
    int height; /**< Luma rows of the frame, as width. */

    PnvModel model;     /**< Default Y'CbCr. */
    PnvChroma chroma;   /**< Default 4:2:2. */
    PnvSiting siting;   /**< Default left. */
    PnvRange range;     /**< Default video. */
    int depth;          /**< Bits of an input sample: 8, 10, 12 or 16. No default. */
    PnvPacking packing; /**< Default samples. */
    int shift[4];       /**< Bits below each component's sample in its 16- or 32-bit word (P010: 6). Default 0. */
    int alpha_depth;    /**< Bits of an input alpha sample: 2, with packed words only. Default 0: depth. */
    int alpha_bits;     /**< Code alpha, losslessly, with 8 or 16 bits; 4444 and XQ only. Default 0: none. */

    PnvProfile profile;   /**< Default auto. */
    PnvRounding rounding; /**< Default dead zone. */
    PnvRateControl rate_control; /**< Default constant quantizer. */
    int quantizer; /**< For that: quantization_index, 1 (finest)..224; qScale by RDD 36 7.3. Default 4. */
    /** For the target: kbit/s of all but alpha; needs a frame rate. Default 0: Apple's for profile, size and rate. */
    int bitrate;
    /**
     * Hard maximum of a frame in bytes, alpha included: where a frame would pass it, its quantizers rise, up to 224.
     * Default 0: with a target, the target for all but alpha, which is lossless and comes on top; else none.
     */
    uint32_t max_frame_bytes;
    int min_quantizer; /**< For the target. Default 0: the profile's, 4 for Proxy and 1 for all others. */
    int max_quantizer; /**< For the target: passed only where a frame would pass its maximum. Default 0: 224. */
    int mbs_per_slice;    /**< Width of a slice in macroblocks, 1, 2, 4 or 8. Default 8: smallest and what Apple uses. */

    int fps_n, fps_d; /**< Frames per second, as a fraction. Header code only (RDD 36 6.1.1). 0/0 or 0/1: unknown. */
    int par_n, par_d; /**< Width of a pixel to its height, for the header's code. 0/0: unknown. */

    /** ITU-T H.273 codes for the header, 0..255, stored as they are; 0 is written as 2, unspecified. RGB needs a matrix
     * that is 1 (BT.709), 4 (FCC), 5 or 6 (BT.601), 7 (SMPTE 240M) or 9 (BT.2020). */
    int color_primaries, transfer_characteristic, matrix_coefficients;

    /** Four printable ASCII characters that name the encoder in the header; copied. Default NULL: "prnv". */
    const char *encoder_id;

    PnvBackend backend;   /**< Default auto. */
    int cuda_device_id;   /**< Which GPU, as CUDA counts them. Default 0: the first. */
    /**
     * A CUcontext to work in: all of the encoder's CUDA objects belong to it, and cuda_device_id is then its device's.
     * Default NULL: the one that is current at pnv_open(), if it is on cuda_device_id, else the primary context of that
     * device. It must live until pnv_close(): one that the application destroys before counts as a failure of CUDA.
     */
    void *cuda_context;
    PnvCpu cpu;           /**< Default auto. PNV_ENODEV where this machine lacks what is asked for. */
    int threads;          /**< CPU threads, 1..PNV_MAX_THREADS. Default 0: as many as this process may run on. */
    int frames_in_flight; /**< Frames the encoder may hold, 1..PNV_MAX_FRAMES_IN_FLIGHT. Default 1 (CPU), 3 (GPU). */

    PnvLogFunction log; /**< Default NULL: silence. */
    void *log_opaque;   /**< Handed to log. */
} PnvParams;

/**
 * One frame to code. Component 0 is Y or red, 1 Cb or green, 2 Cr or blue, 3 alpha, in planes of their own or packed
 * together. Bits of a word that no sample takes are ignored. Alpha is full range at any depth, 0 transparent.
 */
typedef struct PnvPicture {
    const void *plane[4]; /**< Top left sample of each component, 2-byte aligned where samples take 2; of all other
                             packings the first row, the same for each, as are stride and step. Alpha only if
                             params.alpha_bits asks for it. */
    ptrdiff_t stride[4];  /**< Bytes from a row to the next, at least the row's bytes, of v210 with its last group
                             whole; even where samples take 2 bytes. */
    int step[4];          /**< Bytes from a sample to the next (AYUV: 4, NV12's chroma: 2). Default 0: one sample, or
                             one word. */
    PnvInterlace interlace; /**< Default progressive. Fields need a height of 2 or more. */
    /**
     * Fields in memory of their own: then plane has rows 0, 2, 4 ... of the frame, bottom has rows 1, 3, 5 ..., and
     * stride goes from a row to the next of the same field. Default NULL: both fields in plane, row by row.
     */
    const void *bottom[4];
    /**
     * Rows of Cb and Cr of 4:2:0 in plane where fields are woven: for layouts that have one less than what both fields
     * need, (height + 1) / 2 in all; a field's last row then stands for the one that is missing. Default 0: all.
     */
    int chroma_rows;
    PnvMemory memory;       /**< Default host. */
    /**
     * For PNV_MEMORY_CUDA: a CUevent or cudaEvent_t, recorded behind what fills the planes; the device waits for it, the
     * host does not. It must live until the packet is collected. Default NULL: the planes are complete.
     */
    void *cuda_event;
    void *tag;              /**< Returned untouched with the packet. */
} PnvPicture;

/** One coded frame, or the failure of one. */
typedef struct PnvPacket {
    const uint8_t *data; /**< The frame, from its size field on. NULL when coding failed. Never NULL with PNV_OK. */
    size_t size;         /**< Bytes; equals the frame_size in the data. */
    void *tag;           /**< The picture's. Set on failure too. */
    const char *error;   /**< NULL, or what went wrong with this frame; a constant text. */

    int quantizer_min, quantizer_max; /**< Of its slices. */
    uint32_t alpha_bytes;             /**< Of size. */
    uint32_t target_bytes;            /**< Aim for size - alpha_bytes; 0: none. */
    uint32_t limit_bytes;             /**< Hard maximum of size for this frame; 0: none. */
    int over_limit;                   /**< The frame is whole, but larger than limit_bytes even at quantizer 224. */
    int raised;                       /**< Constant quantizer: this frame had to take a larger one for its maximum. */
    uint32_t n_slices;                /**< Of the frame. */
    uint32_t n_coded;                 /**< Slices coded on the way to it, repeats counted: n_slices where one pass did. */
    uint32_t n_sample_rounds;         /**< How often rate control coded a few slices before all of them. */

    void *owner;         /**< The library's. */
} PnvPacket;

typedef struct PnvEncoder PnvEncoder;

/**
 * Check the parameters, allocate all that coding needs and start the threads.
 *
 * @param[out] enc  the encoder, to be closed with pnv_close(); NULL on failure.
 * @param params    copied; the caller's may go away.
 * @param[out] error NULL, or room for PNV_ERROR_BYTES: on failure, what is wrong and what would be right.
 * @return PNV_OK; PNV_EINVAL a field is refused (nothing was allocated); PNV_ENOMEM; PNV_ENODEV no such backend here.
 */
PNV_API PnvStatus pnv_open(PnvEncoder **enc, const PnvParams *params, char *error);

/** The parameters in force, every default replaced by what it stands for. Valid until pnv_close(). */
PNV_API const PnvParams *pnv_params(const PnvEncoder *enc);

/** Name of the backend in use, for people: "cpu", "cuda", "cuda (emulated)" in test builds. A constant text. */
PNV_API const char *pnv_backend_name(const PnvEncoder *enc);

/**
 * First phase: take a place among the frames in flight and bring the planes where the backend reads them. On the CPU
 * that costs nothing, on a GPU it is a copy into pinned memory unless the planes are there already.
 *
 * @param pic  copied, its planes are not: they are borrowed and must stay unchanged until the packet is collected.
 * @return PNV_OK; PNV_AGAIN all frames_in_flight are taken, collect first; PNV_EINVAL pic does not match the parameters,
 *         pnv_error() says how; PNV_ESTATE a staged picture was not submitted yet.
 */
PNV_API PnvStatus pnv_stage(PnvEncoder *enc, const PnvPicture *pic);

/** Second phase: queue the work on the staged picture and return at once. PNV_ESTATE when nothing is staged. */
PNV_API PnvStatus pnv_submit(PnvEncoder *enc);

/** Both phases in one call. Returns what pnv_stage() does. */
PNV_API PnvStatus pnv_send(PnvEncoder *enc, const PnvPicture *pic);

/**
 * Wait for the oldest frame in flight and take its packet. Its planes are the caller's again when this returns.
 *
 * @param[out] packet filled in every case but PNV_EMPTY; give it to pnv_packet_release() when done, however long that
 *             is: packets do not take up frames_in_flight. With CUDA it is the memory that the device wrote; while
 *             more than four are out, the next ones are copies (PnvStats.n_packet_copies).
 * @return PNV_OK; PNV_EMPTY nothing was submitted; PNV_ENOMEM or PNV_ENODEV this frame is lost, packet->error says why,
 *         packet->tag which, and the encoder goes on.
 */
PNV_API PnvStatus pnv_collect(PnvEncoder *enc, PnvPacket *packet);

/** Give a packet's memory back and zero the packet. Any thread, also after pnv_close(). A zeroed packet is ignored. */
PNV_API void pnv_packet_release(PnvPacket *packet);

/**
 * Wait until every submitted frame is coded: then no plane is read any more and pnv_collect() does not block. The
 * packets stay to be collected. A staged picture that was not submitted is dropped.
 */
PNV_API void pnv_drain(PnvEncoder *enc);

/** Drain, drop what was not collected, free the encoder and set *enc to NULL. NULL is ignored. */
PNV_API void pnv_close(PnvEncoder **enc);

/** Text of the last failed pnv_stage(), pnv_submit() or pnv_send(), for the thread that called it; "" before. */
PNV_API const char *pnv_error(const PnvEncoder *enc);

/**
 * Memory for pictures that the device reads by itself: planes in it are not copied by the CPU. It is ordinary memory,
 * page-locked until pnv_close(), and can be read and written until it is freed, whatever becomes of encoder, context and
 * device.
 *
 * @param[out] is_pinned NULL, or 1; 0 where it is not page-locked, because the encoder works without CUDA or the system
 *                       has no more of it: then it costs a copy and is as good otherwise.
 * @return at least bytes, 4096-byte aligned, contents undefined, for pnv_host_free(); NULL without memory.
 */
PNV_API void *pnv_host_alloc(PnvEncoder *enc, size_t bytes, int *is_pinned);

/** Free such memory. No picture in flight may use it. Any thread, also after pnv_close(). NULL is ignored. */
PNV_API void pnv_host_free(void *memory);

/** What happened since pnv_open(). */
typedef struct PnvStats {
    uint64_t n_frames;         /**< Collected, lost ones included. */
    uint64_t n_staging_copies; /**< Frames that the CPU copied into page-locked memory, in whole or in part. */
    uint64_t n_device_copies;  /**< Frames in another device's or context's memory, which the device had to copy. */
    uint64_t n_packet_copies;  /**< Packets that were copied to ordinary memory. */
    uint64_t n_cpu_fallback;   /**< Frames that CUDA was to code and the CPU did. */
} PnvStats;

/** Any thread; frames that are being coded may be counted in part. */
PNV_API void pnv_stats(const PnvEncoder *enc, PnvStats *stats);

/** Largest packet, in bytes, that these parameters can give; real ones are 5 to 20 times smaller. 0 if refused. */
PNV_API size_t pnv_packet_bound(const PnvParams *params);

/** Name of a profile as GStreamer caps spell it: "proxy", "lt", "standard", "hq", "4444", "4444xq"; "auto". */
PNV_API const char *pnv_profile_name(PnvProfile profile);

#ifdef __cplusplus
}
#endif
#endif
