/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the codes in a frame header (RDD 36 6.1.1), for people. */
#ifndef PNV_INSPECT_NAMES_H
#define PNV_INSPECT_NAMES_H

#include <stdint.h>

const char *pnv_name_primaries(int code);
const char *pnv_name_transfer(int code);
const char *pnv_name_matrix(int code);
const char *pnv_name_interlace(int mode);
const char *pnv_name_aspect(int code);
const char *pnv_name_chroma(int format);

/** Product behind an encoder_identifier; NULL if it is not known. */
const char *pnv_name_encoder(const char *id);

/** Which of the known weight matrices this is: "422 HQ"; "flat 4", "other". */
const char *pnv_name_weights(const uint8_t weights[64]);

#endif
