/* What the CPU devices stand on, by version. */
#include "engine/host/host.h"

#include "engine/base/text.h"
#include <dnnl.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

void mgb_host_versions(char *out, size_t size)
{
    const dnnl_version_t *dnnl = dnnl_version();
    mgb_format(out, size, "\"compiler\":\"%s\",\"oneDNN\":\"%d.%d.%d\"", COMPILER, dnnl->major,
               dnnl->minor, dnnl->patch);
}
