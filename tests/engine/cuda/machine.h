/* Fake CUDA machines for the tests of the CUDA backend. */
#ifndef MGB_TESTS_CUDA_MACHINE_H
#define MGB_TESTS_CUDA_MACHINE_H

#include "engine/backend/backend.h"

/* So many GPUs with 64 MiB each; `fail` as FAKE_CUDA_FAIL, or NULL. Nothing may be live. */
void machine_set(const char *gpus, const char *fail);
/* The CUDA backend with the host's CPU kernels, as the registry would hand it out. */
const struct mgb_backend *machine_cuda(void);
/* The same with logical devices: /gpu:i is on the physical GPU physical[i]. Borrowed until the next call. */
const struct mgb_backend *machine_logical(const int *physical, int count);
/* Nothing that CUDA made is left. */
void machine_check_empty(void);

#endif
