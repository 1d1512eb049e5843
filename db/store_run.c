/* Rows of machines, models and runs; see store.h. */
#include "db/store.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "db/store_private.h"

/* A reading that was not taken this time does not erase an older one. */
static enum mgb_status device_put(struct mgb_sql *sql, int64_t machine, const char *backend,
                                  const struct mgb_record_device *device)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(
        &put, sql,
        "INSERT INTO device (machine_id, backend, name, kind, product, uuid, pci, "
        "compute_capability, driver_version, memory_bytes, cores, memory_gbps, f32_tflops, "
        "driver_index, clock_mhz, seen_ms) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (machine_id, backend, name) DO UPDATE SET kind = excluded.kind, "
        "product = excluded.product, uuid = excluded.uuid, pci = excluded.pci, "
        "compute_capability = excluded.compute_capability, "
        "driver_version = excluded.driver_version, memory_bytes = excluded.memory_bytes, "
        "cores = excluded.cores, memory_gbps = coalesce(excluded.memory_gbps, memory_gbps), "
        "f32_tflops = coalesce(excluded.f32_tflops, f32_tflops), "
        "driver_index = excluded.driver_index, clock_mhz = excluded.clock_mhz, "
        "seen_ms = excluded.seen_ms"));
    mgb_bind_int(&put, machine);
    mgb_bind_text(&put, backend);
    mgb_bind_text(&put, device->name);
    mgb_bind_text(&put, device->kind);
    mgb_bind_text(&put, device->product);
    mgb_bind_text(&put, device->uuid);
    mgb_bind_text(&put, device->pci);
    mgb_bind_text(&put, device->compute_capability);
    mgb_bind_text(&put, device->driver_version);
    mgb_bind_maybe_int(&put, device->memory_bytes);
    mgb_bind_maybe_int(&put, device->cores);
    mgb_bind_maybe_real(&put, device->memory_gbps);
    mgb_bind_maybe_real(&put, device->f32_tflops);
    mgb_bind_maybe_int(&put, device->driver_index);
    mgb_bind_maybe_int(&put, device->clock_mhz);
    mgb_bind_int(&put, mgb_store_now_ms());
    return mgb_statement_run(&put);
}

static enum mgb_status link_put(struct mgb_sql *sql, int64_t machine, const char *backend,
                                const struct mgb_record_link *link)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(&put, sql,
                            "INSERT INTO link (machine_id, backend, from_device, "
                            "to_device, kind, peer_access, gbps, latency_ns, peer_verdict, "
                            "peer_gbps, peer_latency_ns, staged_gbps, staged_latency_ns, seen_ms) "
                            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                            "ON CONFLICT (machine_id, backend, from_device, to_device) DO UPDATE "
                            "SET kind = excluded.kind, "
                            "peer_access = coalesce(excluded.peer_access, peer_access), "
                            "gbps = coalesce(excluded.gbps, gbps), "
                            "latency_ns = coalesce(excluded.latency_ns, latency_ns), "
                            "peer_verdict = coalesce(excluded.peer_verdict, peer_verdict), "
                            "peer_gbps = coalesce(excluded.peer_gbps, peer_gbps), "
                            "peer_latency_ns = coalesce(excluded.peer_latency_ns, "
                            "peer_latency_ns), "
                            "staged_gbps = coalesce(excluded.staged_gbps, staged_gbps), "
                            "staged_latency_ns = coalesce(excluded.staged_latency_ns, "
                            "staged_latency_ns), "
                            "seen_ms = excluded.seen_ms"));
    mgb_bind_int(&put, machine);
    mgb_bind_text(&put, backend);
    mgb_bind_text(&put, link->from);
    mgb_bind_text(&put, link->to);
    mgb_bind_text(&put, link->kind);
    mgb_bind_maybe_int(&put, link->peer_access);
    mgb_bind_maybe_real(&put, link->gbps);
    mgb_bind_maybe_int(&put, link->latency_ns);
    mgb_bind_text(&put, link->peer_verdict);
    mgb_bind_maybe_real(&put, link->peer_gbps);
    mgb_bind_maybe_int(&put, link->peer_latency_ns);
    mgb_bind_maybe_real(&put, link->staged_gbps);
    mgb_bind_maybe_int(&put, link->staged_latency_ns);
    mgb_bind_int(&put, mgb_store_now_ms());
    return mgb_statement_run(&put);
}

static enum mgb_status machine_put(int64_t *id, struct mgb_sql *sql, const char *backend,
                                   const struct mgb_record_machine *machine)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(
        &put, sql,
        "INSERT INTO machine (key, name, simulated, source, cpu, os, kernel, cores, threads, "
        "memory_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (key) DO UPDATE SET name = excluded.name, os = excluded.os, "
        "kernel = excluded.kernel, source = excluded.source RETURNING id"));
    mgb_bind_text(&put, machine->key);
    mgb_bind_text(&put, machine->name);
    mgb_bind_int(&put, machine->simulated);
    mgb_bind_text(&put, machine->source);
    mgb_bind_text(&put, machine->cpu);
    mgb_bind_text(&put, machine->os);
    mgb_bind_text(&put, machine->kernel);
    mgb_bind_maybe_int(&put, machine->cores);
    mgb_bind_maybe_int(&put, machine->threads);
    mgb_bind_maybe_int(&put, machine->memory_bytes);
    bool row;
    MGB_TRY(mgb_statement_step(&row, &put));
    *id = mgb_column_int(&put, 0);
    mgb_statement_reset(&put);
    for (int i = 0; i < machine->device_count; i++)
        MGB_TRY(device_put(sql, *id, backend, &machine->devices[i]));
    for (int i = 0; i < machine->link_count; i++)
        MGB_TRY(link_put(sql, *id, backend, &machine->links[i]));
    return MGB_OK;
}

static enum mgb_status model_put(int64_t *id, struct mgb_sql *sql,
                                 const struct mgb_record_model *model)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(
        &put, sql,
        "INSERT INTO model (name, options, graph_digest, parameters, forward_flops) "
        "VALUES (?, ?, ?, ?, ?) ON CONFLICT (name, options, graph_digest) "
        "DO UPDATE SET parameters = excluded.parameters, forward_flops = excluded.forward_flops "
        "RETURNING id"));
    mgb_bind_text(&put, model->name);
    mgb_bind_text(&put, model->options ? model->options : "{}");
    mgb_bind_text(&put, model->graph_digest);
    mgb_bind_maybe_int(&put, model->parameters);
    mgb_bind_maybe_int(&put, model->forward_flops);
    bool row;
    MGB_TRY(mgb_statement_step(&row, &put));
    *id = mgb_column_int(&put, 0);
    mgb_statement_reset(&put);
    return MGB_OK;
}

/* RFC 4122, version 4. */
static enum mgb_status uuid_make(char out[37])
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return mgb_fail(MGB_IO, "the kernel gave no random bytes for a run's identity");
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    char *at = out;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        at += sprintf(at, "%02x", bytes[i]);
    }
    return MGB_OK;
}

static void identity_bind(struct mgb_statement *put, const struct mgb_identity *identity)
{
    mgb_bind_int(put, identity->pid);
    mgb_bind_maybe_int(put, identity->pid_namespace);
    mgb_bind_maybe_int(put, identity->started);
    mgb_bind_text(put, identity->boot_id[0] ? identity->boot_id : NULL);
    mgb_bind_text(put, identity->host[0] ? identity->host : NULL);
}

enum mgb_status mgb_store_put_run(int64_t *run, struct mgb_store *store,
                                  const struct mgb_record_run *record)
{
    char uuid[37];
    int64_t machine, model;
    struct mgb_statement put;
    MGB_TRY(uuid_make(uuid));
    MGB_TRY(machine_put(&machine, &store->sql, record->backend, record->machine));
    MGB_TRY(model_put(&model, &store->sql, record->model));
    MGB_TRY(mgb_sql_prepare(
        &put, &store->sql,
        "INSERT INTO run (uuid, started_ms, machine_id, model_id, backend, simulated, seed, "
        "script, "
        "script_digest, command, program_version, versions, environment, data, outcome, "
        "log_complete, pid, pid_namespace, process_started, boot_id, host) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', 1, ?, ?, ?, ?, ?)"));
    mgb_bind_text(&put, uuid);
    mgb_bind_int(&put, mgb_store_now_ms());
    mgb_bind_int(&put, machine);
    mgb_bind_int(&put, model);
    mgb_bind_text(&put, record->backend);
    mgb_bind_int(&put, record->simulated);
    mgb_bind_maybe_int(&put, record->seed);
    mgb_bind_text(&put, record->script);
    mgb_bind_text(&put, record->script_digest);
    mgb_bind_text(&put, record->command);
    mgb_bind_text(&put, record->program_version);
    mgb_bind_text(&put, record->versions);
    mgb_bind_text(&put, record->environment);
    mgb_bind_text(&put, record->data);
    identity_bind(&put, &store->identity);
    MGB_TRY(mgb_statement_run(&put));
    *run = mgb_sql_last_id(&store->sql);
    return MGB_OK;
}

static void run_deactivate(struct mgb_store *store, int index)
{
    store->runs[index] = store->runs[--store->active_runs];
    if (store->active_runs == 0 && !store->lock_is_kept)
        mgb_lock_release(&store->lock);
    else if (store->active_runs > 0) /* held from run to run it keeps the last one's name */
        mgb_lock_name_run(&store->lock, store->runs[0].id);
}

static int run_find_active(const struct mgb_store *store, int64_t run)
{
    for (int i = 0; i < store->active_runs; i++)
        if (store->runs[i].id == run)
            return i;
    return -1;
}

enum mgb_status mgb_store_begin_run(int64_t *run, struct mgb_store *store,
                                    const struct mgb_record_run *record)
{
    *run = 0;
    if (!record->machine || !record->model || !record->backend)
        return mgb_fail(MGB_STATE, "a run is recorded without its machine, model or backend");
    if (store->active_runs == MGB_ACTIVE_RUNS)
        return mgb_fail(MGB_STATE, "more than %d runs at once in %s", MGB_ACTIVE_RUNS,
                        store->sql.path);
    MGB_TRY(mgb_store_begin(store, __func__));
    int64_t id = 0;
    enum mgb_status status = mgb_store_put_owed(store);
    if (status == MGB_OK)
        status = mgb_store_put_run(&id, store, record);
    /* before the end, so that the lock is kept */
    store->runs[store->active_runs++] = (struct mgb_active_run){.id = id};
    status = mgb_store_end(store, status);
    if (status != MGB_OK) {
        run_deactivate(store, store->active_runs - 1);
        return status;
    }
    mgb_store_forget_owed(store);
    mgb_lock_name_run(&store->lock, store->runs[0].id);
    *run = id;
    return MGB_OK;
}

enum mgb_status mgb_store_put_end(struct mgb_store *store, const struct mgb_run_end *end)
{
    struct mgb_statement update;
    MGB_TRY(mgb_store_end_segments(store, end->run, end->outcome, MGB_KNOWN_INT(end->finished_ms)));
    MGB_TRY(mgb_sql_prepare(&update, &store->sql,
                            "UPDATE run SET outcome = ?, message = ?, "
                            "log_complete = ?, finished_ms = ? WHERE id = ?"));
    mgb_bind_text(&update, mgb_outcome_name(end->outcome));
    mgb_bind_text(&update, end->message);
    mgb_bind_int(&update, !end->has_gaps);
    mgb_bind_int(&update, end->finished_ms);
    mgb_bind_int(&update, end->run);
    return mgb_statement_run(&update);
}

enum mgb_status mgb_store_finish_run(struct mgb_store *store, int64_t run, enum mgb_outcome outcome,
                                     const char *message)
{
    int index = run_find_active(store, run);
    if (index < 0 || outcome == MGB_OUTCOME_RUNNING)
        return mgb_fail(MGB_STATE, "%s: run %lld is not active here, or ends as running",
                        store->sql.path, (long long)run);
    bool has_gaps = store->runs[index].has_gaps;
    struct mgb_run_end end = {.run = run,
                              .finished_ms = mgb_store_now_ms(),
                              .outcome = outcome,
                              .has_gaps = has_gaps,
                              .message = message || !has_gaps ? message : store->incomplete};
    mgb_store_sync_begin(store);
    enum mgb_status status = mgb_store_begin(store, __func__);
    if (status == MGB_OK)
        status = mgb_store_end(store, mgb_store_put_end(store, &end));
    mgb_store_sync_end(store);
    if (status != MGB_OK)
        mgb_store_owe(store, &end);
    run_deactivate(store, index);
    return status;
}

enum mgb_status mgb_store_delete_run(struct mgb_store *store, int64_t run)
{
    if (run_find_active(store, run) >= 0)
        return mgb_fail(MGB_BUSY, "run %lld is still going: stop it first", (long long)run);
    struct mgb_statement delete;
    MGB_TRY(mgb_store_begin(store, __func__));
    enum mgb_status status = mgb_sql_prepare(&delete, &store->sql, "DELETE FROM run WHERE id = ?");
    if (status == MGB_OK) {
        mgb_bind_int(&delete, run);
        status = mgb_statement_run(&delete);
    }
    if (status == MGB_OK && sqlite3_changes(store->sql.handle) == 0)
        status = mgb_fail(MGB_MISSING, "%s has no run %lld", store->sql.path, (long long)run);
    return mgb_store_end(store, status);
}
