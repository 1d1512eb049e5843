/* The first failure of a step: kept with its message, because messages do not cross threads. */
#include "engine/host/host.h"

#include <stdio.h>
#include <string.h>

void mgb_host_poison(struct mgb_host *host, enum mgb_status status)
{
    pthread_mutex_lock(&host->failure_lock);
    if (!atomic_load(&host->poisoned)) {
        struct mgb_host_failure *failure = &host->failure;
        failure->status = status;
        failure->oom = mgb_oom_get();
        snprintf(failure->message, sizeof failure->message, "%s", mgb_message_get());
        atomic_store(&host->poisoned, true);
    }
    pthread_mutex_unlock(&host->failure_lock);
}

enum mgb_status mgb_host_failure_get(struct mgb_host *host)
{
    pthread_mutex_lock(&host->failure_lock);
    const struct mgb_host_failure *failure = &host->failure;
    enum mgb_status status = failure->status;
    if (status == MGB_OOM)
        mgb_fail_oom(failure->oom.device, failure->oom.needed, failure->oom.available, "");
    mgb_fail(status, "%s", failure->message);
    pthread_mutex_unlock(&host->failure_lock);
    return status;
}

void mgb_host_failure_clear(struct mgb_host *host)
{
    pthread_mutex_lock(&host->failure_lock);
    memset(&host->failure, 0, sizeof host->failure);
    atomic_store(&host->poisoned, false);
    pthread_mutex_unlock(&host->failure_lock);
}
