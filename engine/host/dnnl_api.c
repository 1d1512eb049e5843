/* oneDNN, what all versions of it say alike: the engine, attributes, and what a status means. */
#include "engine/host/dnnl_api.h"

#include <pthread.h>

static dnnl_engine_t engine;
static dnnl_status_t engine_status;
static pthread_once_t engine_once = PTHREAD_ONCE_INIT;

static void engine_open(void)
{
    engine_status = dnnl_engine_create(&engine, dnnl_cpu, 0);
}

enum mgb_status mgb_dnnl_engine_get(dnnl_engine_t *out)
{
    pthread_once(&engine_once, engine_open);
    MGB_DNNL_TRY(engine_status, "start");
    *out = engine;
    return MGB_OK;
}

enum mgb_status mgb_dnnl_attributes_make(dnnl_primitive_attr_t *out)
{
    MGB_DNNL_TRY(dnnl_primitive_attr_create(out), "make attributes");
    dnnl_primitive_attr_set_scratchpad_mode(*out, dnnl_scratchpad_mode_user);
    return MGB_OK;
}

enum mgb_status mgb_dnnl_fail(dnnl_status_t status, const char *what)
{
    if (status == dnnl_out_of_memory)
        return mgb_fail(MGB_NO_MEMORY, "oneDNN has no memory to %s", what);
    return mgb_fail(status == dnnl_unimplemented ? MGB_UNSUPPORTED : MGB_DEVICE,
                    "oneDNN cannot %s (status %d)", what, (int)status);
}
