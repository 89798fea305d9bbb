/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the reader can say about a stream: one code for each kind of finding, with its name for people and options. */
#ifndef PNV_FINDING_H
#define PNV_FINDING_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Every kind of finding: constant, name for --allow and reports, V violation of RDD 36 or of the container's contract,
 * N note (legal, but worth knowing), and one line for people.
 */
#define PNV_FINDINGS(X)                                                                                                \
    X(FRAME_SIZE, "frame-size", V, "frame_size is not the size of the sample that holds the frame")                    \
    X(FRAME_IDENTIFIER, "frame-identifier", V, "the frame does not carry 'icpf'")                                      \
    X(TRUNCATED, "truncated", V, "a frame runs past the end of the file")                                              \
    X(FRAME_HEADER_SIZE, "frame-header-size", V, "frame_header_size is not what the header's fields add up to")        \
    X(RESERVED_BITS, "reserved-bits", V, "bits are set that RDD 36 reserves")                                          \
    X(BITSTREAM_VERSION, "bitstream-version", V, "a version that RDD 36 does not define")                              \
    X(VERSION_RULE, "version-rule", V, "version 0 with 4:4:4 or alpha, which need version 1")                          \
    X(DIMENSIONS, "dimensions", V, "a size of 0, or fields of 0 rows")                                                 \
    X(CHROMA_FORMAT, "chroma-format", V, "a reserved chroma_format")                                                   \
    X(INTERLACE_MODE, "interlace-mode", V, "a reserved interlace_mode")                                                \
    X(ASPECT_RATIO, "aspect-ratio", V, "a reserved aspect_ratio_information")                                          \
    X(FRAME_RATE_CODE, "frame-rate-code", V, "a reserved frame_rate_code")                                             \
    X(COLOR_PRIMARIES, "color-primaries", V, "a reserved color_primaries")                                             \
    X(TRANSFER, "transfer-characteristic", V, "a reserved transfer_characteristic")                                    \
    X(MATRIX_COEFFICIENTS, "matrix-coefficients", V, "a reserved matrix_coefficients")                                 \
    X(ALPHA_TYPE, "alpha-type", V, "a reserved alpha_channel_type")                                                    \
    X(MATRIX_WEIGHT, "matrix-weight", V, "a quantization weight outside 2..63")                                        \
    X(STUFFING, "stuffing", V, "bytes after the last picture that are not 0")                                          \
    X(PICTURE_HEADER_SIZE, "picture-header-size", V, "picture_header_size is not 8")                                   \
    X(PICTURE_SIZE, "picture-size", V, "picture_size is not header, slice table and slices together")                  \
    X(SLICE_COUNT, "slice-count", V, "deprecated_number_of_slices is not the number of slices")                        \
    X(SLICE_TABLE, "slice-table", V, "the slice table, or a slice by it, leaves the picture")                          \
    X(SLICE_HEADER_SIZE, "slice-header-size", V, "slice_header_size is not 6, or 8 with alpha")                        \
    X(QUANTIZATION_INDEX, "quantization-index", V, "a quantization_index outside 1..224")                              \
    X(CODED_SIZE, "coded-size", V, "the coded sizes of a slice's planes do not fit the slice")                         \
    X(OVERRUN, "overrun", V, "a code runs past the end of its plane's data")                                           \
    X(CODE_LENGTH, "code-length", V, "a code longer than any that a 16-bit level needs")                               \
    X(LEVEL_RANGE, "level-range", V, "a level that does not fit 16 bits")                                              \
    X(RUN_OVERRUN, "run-overrun", V, "a run of zeros past the last coefficient")                                       \
    X(TRAILING_DATA, "trailing-data", V, "data after the last coefficient or alpha value")                             \
    X(PADDING, "padding", V, "32 or more zero bits at the end of a plane's data")                                      \
    X(ALPHA_WRAP, "alpha-wrap", V, "a short alpha difference that leaves the range of alpha")                          \
    X(ALPHA_LAST_RUN, "alpha-last-run", V, "the run code after the last alpha difference is missing")                  \
    X(ALPHA_OVERRUN, "alpha-overrun", V, "an alpha run past the last value of the slice")                              \
    X(CONTAINER_SIZE, "container-size", V, "width or height differ from the sample entry's")                           \
    X(CONTAINER_RATE, "container-rate", V, "the frame rate code says another rate than the container")                 \
    X(CONTAINER_CHROMA, "container-chroma", V, "chroma sampling that does not belong under the four-character code")   \
    X(PADDING_BYTES, "padding-bytes", N, "8 to 31 zero bits at the end of a plane's data")                             \
    X(COEFFICIENT_RANGE, "coefficient-range", N, "a coefficient that decoders with 16-bit arithmetic wrap")            \
    X(ALPHA_RUN_FORM, "alpha-run-form", N, "an alpha run written in a longer form than it needs")                      \
    X(ENCODER_ID, "encoder-identifier", N, "an encoder_identifier that is not four printable characters")              \
    X(CONTAINER_COLOUR, "container-colour", N, "colr says other colours than the frame")                               \
    X(CONTAINER_FIELDS, "container-fields", N, "fiel says another field order than the frame")                         \
    X(CONTAINER_DEPTH, "container-depth", N, "the sample entry's depth does not go with the frame's alpha")

typedef enum PnvFindingCode {
    PNV_FINDING_NONE = 0, /**< Nothing to report. */
#define PNV_FINDING_ENUM(id, name, kind, text) PNV_FINDING_##id,
    PNV_FINDINGS(PNV_FINDING_ENUM)
#undef PNV_FINDING_ENUM
    PNV_N_FINDING_CODES
} PnvFindingCode;

/** One thing found in one place. */
typedef struct PnvFinding {
    PnvFindingCode code;
    int picture;     /**< 0 or 1; -1: the frame as a whole. */
    int slice;       /**< Index in the picture; -1: the picture as a whole. */
    uint32_t offset; /**< Byte from the start of the frame. */
    char text[160];  /**< What was found and what would be right; one line. */
} PnvFinding;

/** Receives each finding; the finding is the caller's and valid during the call. */
typedef void (*PnvFindingFunction)(void *opaque, const PnvFinding *finding);

/** Name of a code, for example "reserved-bits"; NULL for numbers that are none. */
const char *pnv_finding_name(PnvFindingCode code);

/** One line on a code, for lists of codes; NULL for numbers that are none. */
const char *pnv_finding_summary(PnvFindingCode code);

/** Whether a stream with this finding fails to conform; false for notes. */
bool pnv_finding_is_violation(PnvFindingCode code);

/** Code of a name; PNV_FINDING_NONE if there is none of that name. */
PnvFindingCode pnv_finding_by_name(const char *name);

#endif
