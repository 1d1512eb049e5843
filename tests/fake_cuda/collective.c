/* Collectives across streams. Orders are those of the data: a rank's result comes after every rank's contribution to
 * it, and nothing more. Sums are taken in the order of ranks, so all ranks get the same bits. */
#include "tests/fake_cuda/nccl.h"

#include "engine/base/half.h"

#include <stdlib.h>
#include <string.h>

struct collective {
    atomic_int refs;
    int ranks;
    struct fake_collective_call calls[FAKE_MAX_DEVICES]; /* by rank */
    struct fake_record *arrived[FAKE_MAX_DEVICES];       /* the rank's contribution is there */
    struct fake_record *consumed[FAKE_MAX_DEVICES];      /* the rank has read all contributions */
    bool lacking;                                        /* a rank */
    char *sent; /* broadcast: what the root sent, so that the root need not wait for readers */
};

struct collective_op {
    struct fake_op op;
    struct collective *collective;
    struct fake_clique *clique;
    int rank;
};

struct lone_op { /* a collective of one rank is a copy, which a graph may play again */
    struct fake_op op;
    struct fake_collective_call call;
};

static void collective_drop(struct collective *it)
{
    if (atomic_fetch_sub(&it->refs, 1) != 1)
        return;
    for (int rank = 0; rank < it->ranks; rank++) {
        fake_record_drop(it->arrived[rank]);
        fake_record_drop(it->consumed[rank]);
    }
    free(it->sent);
    free(it);
}

size_t fake_type_size(ncclDataType_t type)
{
    static const unsigned char sizes[] = {
        [ncclInt8] = 1,    [ncclUint8] = 1,   [ncclInt32] = 4,   [ncclUint32] = 4,
        [ncclInt64] = 8,   [ncclUint64] = 8,  [ncclFloat16] = 2, [ncclFloat32] = 4,
        [ncclFloat64] = 8, [ncclBfloat16] = 2};
    return (unsigned)type < sizeof sizes ? sizes[type] : 0;
}

static float number_get(const void *from, size_t i, ncclDataType_t type)
{
    if (type == ncclFloat32)
        return ((const float *)from)[i];
    uint16_t half = ((const uint16_t *)from)[i];
    return type == ncclFloat16 ? mgb_f32_of_f16(half) : mgb_f32_of_bf16(half);
}

static void numbers_put(void *to, const float *from, size_t count, ncclDataType_t type)
{
    if (type == ncclFloat32)
        memcpy(to, from, count * sizeof *from);
    for (size_t i = 0; type != ncclFloat32 && i < count; i++)
        ((uint16_t *)to)[i] =
            type == ncclFloat16 ? mgb_f16_of_f32(from[i]) : mgb_bf16_of_f32(from[i]);
}

static void sum_take(float *sum, const struct collective *it, size_t count)
{
    for (int rank = 0; rank < it->ranks; rank++) {
        const struct fake_collective_call *call = &it->calls[rank];
        fake_touch_read(call->from, count * fake_type_size(call->type));
        for (size_t i = 0; i < count; i++) {
            float value = number_get(call->from, i, call->type);
            sum[i] = rank == 0 ? value : sum[i] + value;
        }
    }
    if (it->calls[0].mean)
        for (size_t i = 0; i < count; i++)
            sum[i] /= (float)it->ranks;
}

/* False when the rank was aborted before. */
static bool rank_await(const struct collective_op *part, struct fake_record *record)
{
    return fake_record_wait_unless(record, &part->clique->aborted[part->rank]);
}

static bool ranks_await(const struct collective_op *part, struct fake_record **records)
{
    for (int rank = 0; rank < part->collective->ranks; rank++)
        if (!rank_await(part, records[rank]))
            return false;
    return true;
}

static void sum_put(const struct collective *it, int rank, const float *sum)
{
    const struct fake_collective_call *call = &it->calls[rank];
    fake_touch_write(call->to, call->count * fake_type_size(call->type));
    numbers_put(call->to, sum, call->count, call->type);
}

/* As far as a test wishes it (FAKE_CUDA_WRONG_SUM). */
static void sum_damage(float *sum, size_t count, int rank)
{
    const struct fake_config *config = fake_config_get();
    if (config->wrong_sums && count > 0 && (config->wrong_sums_all || config->wrong_rank == rank))
        sum[0] = 2 * sum[0] + 1;
}

/* In place or not, no rank writes its result before all have read what they need of its memory. */
static void all_reduce_run(const struct collective_op *part)
{
    struct collective *it = part->collective;
    size_t count = it->calls[part->rank].count;
    float *sum = fake_allocate(count * sizeof(float) + 1);
    fake_record_finish(it->arrived[part->rank]);
    if (ranks_await(part, it->arrived)) {
        sum_take(sum, it, count);
        sum_damage(sum, count, part->rank);
        fake_record_finish(it->consumed[part->rank]);
        if (ranks_await(part, it->consumed))
            sum_put(it, part->rank, sum);
    }
    free(sum);
}

/* The root takes the sum; the others are done when it has read what they send. */
static void reduce_run(const struct collective_op *part)
{
    struct collective *it = part->collective;
    int root = it->calls[part->rank].root;
    size_t count = it->calls[part->rank].count;
    fake_record_finish(it->arrived[part->rank]);
    if (part->rank != root) {
        rank_await(part, it->consumed[root]);
        return;
    }
    float *sum = fake_allocate(count * sizeof(float) + 1);
    if (ranks_await(part, it->arrived)) {
        sum_take(sum, it, count);
        fake_record_finish(it->consumed[root]);
        sum_put(it, root, sum);
    }
    free(sum);
}

/* What the ranks share inside is freed by the last of them, which comes after the others only by the reference count
 * that ThreadSanitizer does not see; so it must not see the copies of it either. */
static void bytes_copy_unseen(void *to, const void *from, size_t bytes)
{
    volatile char *out = to;
    for (size_t i = 0; i < bytes; i++)
        out[i] = ((const char *)from)[i];
}

static void broadcast_run(const struct collective_op *part)
{
    struct collective *it = part->collective;
    const struct fake_collective_call *call = &it->calls[part->rank];
    size_t bytes = call->count * fake_type_size(call->type);
    bool root = part->rank == call->root;
    if (root) {
        it->sent = fake_allocate(bytes + 1);
        fake_touch_read(call->from, bytes);
        bytes_copy_unseen(it->sent, call->from, bytes);
        fake_record_finish(it->arrived[part->rank]);
    } else if (!rank_await(part, it->arrived[call->root])) {
        return;
    }
    if (root && call->to == call->from)
        return;
    fake_touch_write(call->to, bytes);
    bytes_copy_unseen(call->to, it->sent, bytes);
}

static void collective_run(struct fake_op *op)
{
    const struct collective_op *part = (const struct collective_op *)op;
    bool aborted = atomic_load(&part->clique->aborted[part->rank]) != 0;
    switch (part->collective->calls[part->rank].kind) {
    case FAKE_ALL_REDUCE:
        if (!aborted)
            all_reduce_run(part);
        break;
    case FAKE_BROADCAST:
        if (!aborted)
            broadcast_run(part);
        break;
    case FAKE_REDUCE:
        if (!aborted)
            reduce_run(part);
        break;
    }
    collective_drop(part->collective);
}

static void lone_run(struct fake_op *op)
{
    const struct fake_collective_call *call = &((const struct lone_op *)op)->call;
    size_t bytes = call->count * fake_type_size(call->type);
    fake_touch_read(call->from, bytes);
    if (call->to != call->from)
        memmove(call->to, call->from, bytes);
}

static bool calls_agree(const struct fake_collective_call *a, const struct fake_collective_call *b)
{
    return a->kind == b->kind && a->count == b->count && a->type == b->type && a->root == b->root &&
           a->mean == b->mean;
}

/* The first call not yet taken, and with it the first such call of every other rank of its clique. */
static ncclResult_t collective_gather(struct collective *it, struct fake_collective_call *calls,
                                      int count, int first)
{
    struct fake_clique *clique = calls[first].comm->clique;
    bool present[FAKE_MAX_DEVICES] = {false};
    int found = 0;
    it->ranks = clique->ranks;
    for (int i = first; i < count && found < clique->ranks; i++) {
        int rank = calls[i].comm->rank;
        if (calls[i].taken || calls[i].comm->clique != clique || present[rank])
            continue;
        calls[i].taken = present[rank] = true;
        it->calls[rank] = calls[i];
        found++;
        if (!calls_agree(&calls[first], &calls[i])) {
            fake_complain("rank %d calls another collective than rank %d", rank,
                          calls[first].comm->rank);
            return ncclInvalidUsage;
        }
    }
    it->lacking = found < clique->ranks;
    if (!it->lacking || fake_config_get()->missing_rank_hangs)
        return ncclSuccess;
    fake_complain("a group has %d of %d ranks of a collective", found, clique->ranks);
    return ncclInvalidUsage;
}

/* What a test wished for the rank's call goes before it. */
static void wish_push(const struct fake_collective_call *call, bool hangs)
{
    if (call->wish.fault)
        fake_stream_push(call->stream, fake_fault_make(call->comm->device, call->wish.fault));
    if (hangs || call->wish.hangs)
        fake_stream_push(call->stream,
                         fake_hang_make(&call->comm->clique->aborted[call->comm->rank]));
}

static void lone_push(const struct fake_collective_call *call)
{
    struct lone_op *op = fake_allocate(sizeof *op);
    *op = (struct lone_op){.op.run = lone_run, .call = *call};
    wish_push(call, false);
    fake_stream_push(call->stream, &op->op);
}

/* Once the last operation is queued the collective may be over and gone. */
static void ranks_push(struct collective *it)
{
    int ranks = it->ranks;
    atomic_init(&it->refs, ranks);
    for (int rank = 0; rank < ranks; rank++) {
        it->arrived[rank] = fake_record_make(1);
        it->consumed[rank] = fake_record_make(1);
    }
    for (int rank = 0; rank < ranks; rank++) {
        const struct fake_collective_call *call = &it->calls[rank];
        struct collective_op *op = fake_allocate(sizeof *op);
        *op = (struct collective_op){
            .op.run = collective_run, .collective = it, .clique = call->comm->clique, .rank = rank};
        wish_push(call, false);
        fake_stream_push(call->stream, &op->op);
    }
}

static void collective_push(struct collective *it)
{
    if (!it->lacking && it->ranks > 1) {
        ranks_push(it);
        return;
    }
    if (it->ranks == 1)
        lone_push(&it->calls[0]);
    for (int rank = 0; it->lacking && rank < it->ranks; rank++)
        if (it->calls[rank].comm)
            wish_push(&it->calls[rank], true);
    free(it);
}

static ncclResult_t collectives_match(struct collective **made, int *made_count,
                                      struct fake_collective_call *calls, int count)
{
    for (int i = 0; i < count; i++) {
        if (calls[i].taken)
            continue;
        struct collective *it = fake_allocate(sizeof *it);
        made[(*made_count)++] = it;
        ncclResult_t result = collective_gather(it, calls, count, i);
        if (result != ncclSuccess)
            return result;
    }
    return ncclSuccess;
}

ncclResult_t fake_collectives_start(const struct fake_collective_call *calls, int count)
{
    struct fake_collective_call *copy = fake_allocate((size_t)count * sizeof *copy + 1);
    struct collective **made = fake_allocate((size_t)count * sizeof *made + 1);
    int made_count = 0;
    if (count > 0)
        memcpy(copy, calls, (size_t)count * sizeof *copy);
    ncclResult_t result = collectives_match(made, &made_count, copy, count);
    fake_lock();
    for (int i = 0; i < made_count; i++) {
        if (result == ncclSuccess)
            collective_push(made[i]);
        else
            free(made[i]);
    }
    fake_unlock();
    free(made);
    free(copy);
    return result;
}
