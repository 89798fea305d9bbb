/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames by CUDA, real or emulated, beside those of the CPU. Linking it makes it the test_twin of the test. */
#ifndef CUDA_TWIN_H
#define CUDA_TWIN_H

#include "stream.h"

/** Orders of execution to go through: 1 on a GPU, which has its own. */
int cuda_twin_orders(void);

void cuda_twin_set_order(int order);

/** test_encode() by CUDA; a warning of the encoder fails the test. */
TestFrame cuda_twin_encode(const PnvParams *params, const TestPicture *t);

/** Exit as skipped, with the reason, where no device can be used. */
void cuda_twin_require_device(void);

#endif
