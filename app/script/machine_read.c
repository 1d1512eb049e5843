/* A machine as plain data from the flat table that scripts/lib/machine.lua makes of what users write: types were looked at
 * there, values are looked at by mgb_machine_check. */
#include "app/script/machine_read.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB 1073741824.0
/* Of anything there is one of for each device, wire or cost: what a machine may have at all is for the check to say. */
#define COUNT_MOST 16777216

static void *block_make(lua_State *L, size_t count, size_t size)
{
    void *block = mgb_machine_block(count * size);
    if (!block)
        mgb_script_fail(L, "mgb.machine: memory is exhausted");
    return block;
}

/* Pushes the list in field `key` of the table at `index`; returns its length, 0 without one. */
static int list_push(lua_State *L, int index, const char *key)
{
    if (lua_getfield(L, index, key) != LUA_TTABLE)
        return 0;
    lua_Unsigned length = lua_rawlen(L, -1);
    if (length > COUNT_MOST)
        mgb_script_fail(L, "mgb.machine: %s: more than %d of them", key, COUNT_MOST);
    return (int)length;
}

/* Element `i` from 1 of the list on the top. */
static double number_at(lua_State *L, int i)
{
    lua_rawgeti(L, -1, i);
    double value = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return value;
}

static void text_at(lua_State *L, int i, char *out, size_t size)
{
    lua_rawgeti(L, -1, i);
    const char *text = luaL_checkstring(L, -1);
    if (strlen(text) >= size)
        mgb_script_fail(L, "mgb.machine: a name of at most %d bytes expected, got '%s'",
                        (int)size - 1, text);
    snprintf(out, size, "%s", text);
    lua_pop(L, 1);
}

static void text_field(lua_State *L, int index, const char *key, char *out, size_t size)
{
    const char *text = mgb_script_text_field(L, index, key, "");
    if (strlen(text) >= size)
        mgb_script_fail(L, "mgb.machine: %s: a text of at most %d bytes expected, got '%s'", key,
                        (int)size - 1, text);
    snprintf(out, size, "%s", text);
}

static char *text_copy(lua_State *L, int index, const char *key)
{
    const char *text = mgb_script_text_field(L, index, key, NULL);
    char *copy = NULL;
    if (text) {
        copy = block_make(L, strlen(text) + 1, 1);
        memcpy(copy, text, strlen(text) + 1);
    }
    return copy;
}

static double number_field(lua_State *L, int index, const char *key)
{
    return mgb_script_number_field(L, index, key, 0);
}

/* Counts beyond an int are for the check to refuse, as the largest one. */
static int int_field(lua_State *L, int index, const char *key)
{
    int64_t value = mgb_script_integer_field(L, index, key, 0);
    return value < 0 ? -1 : value > INT_MAX ? INT_MAX : (int)value;
}

static int64_t gib_field(lua_State *L, int index, const char *key)
{
    double bytes = number_field(L, index, key) * GIB;
    return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

static void curve_read(lua_State *L, int index, const char *key, struct mgb_curve *out)
{
    out->count = list_push(L, index, key) / 2;
    if (out->count > MGB_CURVE_MOST)
        mgb_script_fail(L, "mgb.machine: efficiency.%s: at most %d knots expected, got %d", key,
                        MGB_CURVE_MOST, out->count);
    for (int i = 0; i < out->count; i++) {
        out->at[i] = number_at(L, 2 * i + 1);
        out->value[i] = number_at(L, 2 * i + 2);
    }
    lua_pop(L, 1);
}

/* The device belongs to the machine already, so that nothing is lost when reading fails. */
static void factors_read(lua_State *L, int index, struct mgb_machine_device *device)
{
    int count = list_push(L, index, "factors") / 2;
    if (count > 0)
        device->factors = block_make(L, (size_t)count, sizeof *device->factors);
    for (int i = 0; i < count; i++) {
        text_at(L, 2 * i + 1, device->factors[i].kind, sizeof device->factors[i].kind);
        device->factors[i].speed = number_at(L, 2 * i + 2);
        device->factor_count = i + 1;
    }
    lua_pop(L, 1);
}

static void device_read(lua_State *L, int index, struct mgb_machine_device *out)
{
    static const char *const tflops[] = {"f32_tflops", "tf32_tflops", "bf16_tflops",
                                         "f16_tflops"}; /* in order of enum mgb_precision */
    out->device.class = MGB_CLASS_SIMULATED;
    out->device.driver_index = -1;
    text_field(L, index, "label", out->device.label, sizeof out->device.label);
    out->device.memory_bytes = gib_field(L, index, "memory_gib");
    out->device.cores = int_field(L, index, "multiprocessors");
    for (int i = 0; i < 4; i++)
        out->tflops[i] = number_field(L, index, tflops[i]);
    out->memory_gbps = number_field(L, index, "memory_gbps");
    out->launch_us = number_field(L, index, "launch_us");
    curve_read(L, index, "compute", &out->compute);
    curve_read(L, index, "memory", &out->memory);
    out->copies_in = int_field(L, index, "copies_in");
    out->copies_out = int_field(L, index, "copies_out");
    out->one_engine = mgb_script_boolean_field(L, index, "one_engine");
    out->board = -1;
    out->board_speed = number_field(L, index, "board_speed");
    factors_read(L, index, out);
}

/* The GPUs that the table on the top describes, from device `first`; returns how many. */
static int group_read(lua_State *L, struct mgb_machine *machine, int first, int *board)
{
    int at = lua_gettop(L), count = int_field(L, at, "count");
    int size = int_field(L, at, "board_size");
    device_read(L, at, &machine->devices[first]);
    for (int i = 0; i < count; i++) {
        struct mgb_machine_device *device = &machine->devices[first + i];
        *device = machine->devices[first];
        device->device.name = (struct mgb_device_name){MGB_DEVICE_GPU, first + i - 1, 0};
        device->device.physical = first + i - 1;
        device->board = size > 1 ? *board + i / size : -1;
    }
    *board += size > 1 ? (count + size - 1) / size : 0;
    return count;
}

/* The list of groups on the top. */
static int64_t groups_count(lua_State *L, int groups)
{
    int64_t count = 0;
    for (int i = 1; i <= groups; i++) {
        lua_rawgeti(L, -1, i);
        count += int_field(L, lua_gettop(L), "count");
        lua_pop(L, 1);
    }
    return count;
}

static void devices_read(lua_State *L, int index, struct mgb_machine *machine)
{
    int nodes = int_field(L, index, "nodes"), groups = list_push(L, index, "gpus"), board = 0;
    int64_t count = 1 + groups_count(L, groups) * nodes;
    if (count > COUNT_MOST)
        mgb_script_fail(L, "mgb.machine: more than %d GPUs", COUNT_MOST);
    machine->devices = block_make(L, (size_t)count, sizeof *machine->devices);
    lua_getfield(L, index, "cpu");
    machine->device_count = 1;
    device_read(L, lua_gettop(L), machine->devices);
    machine->devices[0].device.name = (struct mgb_device_name){MGB_DEVICE_CPU, 0, 0};
    lua_pop(L, 1);
    for (int node = 0; node < nodes; node++) {
        for (int i = 1; i <= groups; i++) {
            lua_rawgeti(L, -1, i);
            int first = machine->device_count;
            machine->device_count++; /* its factors are the machine's while they are read */
            machine->device_count = first + group_read(L, machine, first, &board);
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
    int speeds = list_push(L, index, "speeds") / 2;
    for (int i = 0; i < speeds; i++) {
        int device = (int)number_at(L, 2 * i + 1);
        if (device >= 0 && device < machine->device_count)
            machine->devices[device].speed = number_at(L, 2 * i + 2);
    }
    lua_pop(L, 1);
}

static void switches_read(lua_State *L, int index, struct mgb_machine *machine)
{
    int count = list_push(L, index, "switches");
    if (count > 0)
        machine->switches = block_make(L, (size_t)count, sizeof *machine->switches);
    for (int i = 0; i < count; i++)
        text_at(L, i + 1, machine->switches[i], sizeof machine->switches[i]);
    machine->switch_count = count;
    lua_pop(L, 1);
}

static void wires_read(lua_State *L, int index, struct mgb_machine *machine)
{
    int count = list_push(L, index, "wires") / 6;
    if (count > 0)
        machine->wires = block_make(L, (size_t)count, sizeof *machine->wires);
    for (int i = 0; i < count; i++) {
        struct mgb_machine_wire *wire = &machine->wires[i];
        wire->a = (int)number_at(L, 6 * i + 1);
        wire->b = (int)number_at(L, 6 * i + 2);
        wire->gbps = number_at(L, 6 * i + 3);
        wire->back_gbps = number_at(L, 6 * i + 4);
        wire->latency_us = number_at(L, 6 * i + 5);
        text_at(L, 6 * i + 6, wire->kind, sizeof wire->kind);
    }
    machine->wire_count = count;
    lua_pop(L, 1);
}

static void pairs_read(lua_State *L, int index, struct mgb_machine *machine)
{
    int count = list_push(L, index, "pairs") / 7;
    if (count > 0)
        machine->pairs = block_make(L, (size_t)count, sizeof *machine->pairs);
    for (int i = 0; i < count; i++)
        machine->pairs[i] = (struct mgb_machine_pair){.from = (int)number_at(L, 7 * i + 1),
                                                      .to = (int)number_at(L, 7 * i + 2),
                                                      .no_peer = number_at(L, 7 * i + 3) > 0,
                                                      .on_gbps = number_at(L, 7 * i + 4),
                                                      .on_latency_us = number_at(L, 7 * i + 5),
                                                      .off_gbps = number_at(L, 7 * i + 6),
                                                      .off_latency_us = number_at(L, 7 * i + 7)};
    machine->pair_count = count;
    lua_pop(L, 1);
}

static void host_read(lua_State *L, int index, struct mgb_machine *machine)
{
    lua_getfield(L, index, "host");
    int at = lua_gettop(L);
    machine->host = (struct mgb_machine_host){
        .cores = int_field(L, at, "cores"),
        .core_total = number_field(L, at, "core_total"),
        .memory_gbps = number_field(L, at, "memory_gbps"),
        .reduce_gbps = number_field(L, at, "reduce_gbps"),
        .pageable_gbps = number_field(L, at, "pageable_gbps"),
        .submit_us = number_field(L, at, "submit_us"),
        .step_us = number_field(L, at, "step_us"),
        .sums_apart = mgb_script_boolean_field(L, at, "sums_apart"),
        .inputs_ready = mgb_script_boolean_field(L, at, "inputs_ready"),
        .copy_waits = (enum mgb_copy_wait)int_field(L, at, "copy_waits"),
    };
    lua_getfield(L, index, "collective");
    at = lua_gettop(L);
    machine->collective = (struct mgb_machine_collective){
        .start_us = number_field(L, at, "start_us"),
        .hop_us = number_field(L, at, "hop_us"),
        .network_hop_us = number_field(L, at, "network_hop_us"),
        .ring_share = number_field(L, at, "ring_share"),
        .tree_share = number_field(L, at, "tree_share"),
        .switch_gbps = number_field(L, at, "switch_gbps"),
        .compute_share = number_field(L, at, "compute_share"),
    };
    lua_pop(L, 2);
}

/* { "0123456789abcdef", threads, rows, ns, rows, ns, ... } on the top: adds its costs, or counts them only. */
static int64_t cost_read(lua_State *L, struct mgb_machine_cost *costs)
{
    int64_t count = ((int64_t)lua_rawlen(L, -1) - 2) / 2;
    lua_rawgeti(L, -1, 1);
    uint64_t signature = strtoull(luaL_checkstring(L, -1), NULL, 16);
    lua_pop(L, 1);
    for (int i = 0; costs && i < count; i++)
        costs[i] = (struct mgb_machine_cost){signature, (int64_t)number_at(L, 2 * i + 3),
                                             (int)number_at(L, 2), number_at(L, 2 * i + 4)};
    return count < 0 ? 0 : count;
}

static void costs_read(lua_State *L, int index, struct mgb_machine *machine)
{
    int lists = list_push(L, index, "costs");
    int64_t count = 0, at = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 1; i <= lists; i++) {
            lua_rawgeti(L, -1, i);
            if (pass == 0)
                count += cost_read(L, NULL);
            else
                at += cost_read(L, machine->costs + at);
            lua_pop(L, 1);
        }
        if (count > COUNT_MOST)
            mgb_script_fail(L, "mgb.machine: more than %d costs", COUNT_MOST);
        if (pass == 0 && count > 0)
            machine->costs = block_make(L, (size_t)count, sizeof *machine->costs);
    }
    machine->cost_count = (int)at;
    lua_pop(L, 1);
}

void mgb_script_fill_machine(lua_State *L, int index, struct mgb_machine *machine)
{
    text_field(L, index, "name", machine->name, sizeof machine->name);
    text_field(L, index, "summary", machine->summary, sizeof machine->summary);
    machine->source = text_copy(L, index, "source");
    machine->file = text_copy(L, index, "file");
    host_read(L, index, machine);
    devices_read(L, index, machine);
    switches_read(L, index, machine);
    wires_read(L, index, machine);
    pairs_read(L, index, machine);
    costs_read(L, index, machine);
    machine->cpu_devices = mgb_script_boolean_field(L, index, "cpu_devices");
    machine->device_sigma = number_field(L, index, "device_sigma");
    machine->step_sigma = number_field(L, index, "step_sigma");
    machine->uncertainty = number_field(L, index, "uncertainty");
}
