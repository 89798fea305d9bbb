/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A driver that is too old to have what libgstcuda asks for. */
int cuInit(unsigned int flags);

int cuInit(unsigned int flags)
{
    return flags ? 1 : 0;
}
