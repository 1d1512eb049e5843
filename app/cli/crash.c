/* What is left to do for a worker that died. Runs in the supervisor, which opens nothing else. */
#include "app/cli/hub.h"
#include "db/store.h"
#include <stdlib.h>
#include <unistd.h>

void mgb_cli_mark_crashed(const struct mgb_invocation *in)
{
    char *database = mgb_cli_database(in);
    struct mgb_store *store;
    struct mgb_store_options brief = {.lock_wait_ms = 500, .busy_wait_ms = 500};
    /* Failing is no loss: readers see by the process that the run has crashed, and the next writer writes it down. */
    if (database && access(database, F_OK) == 0 &&
        mgb_store_open(&store, database, &brief) == MGB_OK)
        mgb_store_close(store);
    free(database);
}
