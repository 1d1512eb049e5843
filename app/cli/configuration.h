/* The lines above a result that say what was run: model, backend, devices, placement in effect, planned memory. */
#ifndef MGB_APP_CLI_CONFIGURATION_H
#define MGB_APP_CLI_CONFIGURATION_H

#include "app/script/services.h"
#include <stdio.h>

struct mgb_cli_configuration { /* all borrowed */
    const struct script_open_request *request;
    const char *backend, *remark;
    const struct mgb_topology *topology;
    const struct mgb_effective *effective;
    const struct mgb_plan *plan;
    bool brief; /* without the planned memory */
};

/* surroundings.c: "oneDNN 2.7.3, ..." of a backend, "" when it knows none; "governor performance, 2.45 GHz, 8 cores, load
 * 0.10". */
void mgb_cli_libraries_write(char *out, size_t size, const char *backend);
void mgb_cli_clocks_write(char *out, size_t size);

void mgb_cli_configuration_print(FILE *out, const struct mgb_cli_configuration *c);

#endif
