/* See state.h. */
#include "engine/io/state.h"

#include "engine/base/memory.h"
#include "engine/base/json.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "optimizer 1"
#define MOST ((int64_t)1 << 53) /* steps, rows: more are no count of anything */

static const struct {
    const char *name;
    size_t at; /* in struct mgb_progress */
} counts[] = {{"step", offsetof(struct mgb_progress, step)},
              {"updates", offsetof(struct mgb_progress, updates)},
              {"epoch", offsetof(struct mgb_progress, epoch)},
              {"row", offsetof(struct mgb_progress, row)},
              {"rows", offsetof(struct mgb_progress, rows)}};

static const struct {
    const char *name;
    size_t at; /* in struct mgb_optimizer */
} numbers[] = {{"lr", offsetof(struct mgb_optimizer, lr)},
               {"momentum", offsetof(struct mgb_optimizer, momentum)},
               {"rho", offsetof(struct mgb_optimizer, rho)},
               {"beta1", offsetof(struct mgb_optimizer, beta1)},
               {"beta2", offsetof(struct mgb_optimizer, beta2)},
               {"epsilon", offsetof(struct mgb_optimizer, epsilon)},
               {"decay", offsetof(struct mgb_optimizer, decay)},
               {"clip_norm", offsetof(struct mgb_optimizer, clip_norm)}};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static int64_t *count_at(struct mgb_progress *progress, size_t i)
{
    return (int64_t *)((char *)progress + counts[i].at);
}

static float number_of(const struct mgb_optimizer *optimizer, size_t i)
{
    float value;
    memcpy(&value, (const char *)optimizer + numbers[i].at, sizeof value);
    return value;
}

char *mgb_state_path(const char *path)
{
    static const char ending[] = ".safetensors";
    size_t length = strlen(path), cut = sizeof ending - 1;
    struct mgb_text text = {0};
    char *out;
    bool ends = length > cut && strcmp(path + length - cut, ending) == 0;
    mgb_text_add(&text, "%.*s.optimizer%s", (int)(ends ? length - cut : length), path, ending);
    return mgb_text_take(&out, &text) == MGB_OK ? out : NULL;
}

void mgb_state_write(struct mgb_writer *out, const struct mgb_checkpoint_state *state,
                     uint64_t weights)
{
    struct mgb_progress progress = state->progress;
    mgb_writer_add_word(out, "mgbench", FORMAT);
    mgb_writer_add_word(out, "weights", "%016llx", (unsigned long long)weights);
    mgb_writer_add_word(out, "optimizer", "%s", mgb_optimizer_name(state->optimizer.kind));
    mgb_writer_add_word(out, "nesterov", "%d", state->optimizer.nesterov);
    for (size_t i = 0; i < COUNT(numbers); i++)
        mgb_writer_add_word(out, numbers[i].name, "%.9g", (double)number_of(&state->optimizer, i));
    for (size_t i = 0; i < COUNT(counts); i++)
        mgb_writer_add_word(out, counts[i].name, "%lld", (long long)*count_at(&progress, i));
    mgb_writer_add_word(out, "seed", "%llu", (unsigned long long)progress.seed);
    if (progress.loss_scale > 0.0f) {
        mgb_writer_add_word(out, "loss_scale", "%.9g", (double)progress.loss_scale);
        mgb_writer_add_word(out, "scale_steps", "%d", (int)progress.scale_steps);
    }
}

/* The value of a word, which is to be `what`. */
static enum mgb_status word_fail(const struct mgb_tensor_file *file, const char *name,
                                 const char *what)
{
    const char *value = mgb_tensor_file_find_word(file, name);
    char shown[MGB_JSON_SHOWN];
    return mgb_fail(MGB_CORRUPT, "'%s' of its __metadata__ is %s%s%s, %s expected", name,
                    value ? "'" : "missing", value ? mgb_json_show(shown, value) : "",
                    value ? "'" : "", what);
}

static bool whole_read(uint64_t *out, const char *text, int base)
{
    char *end;
    if (!text || !*text || text[strspn(text, base == 16 ? "0123456789abcdef" : "0123456789")])
        return false;
    errno = 0;
    *out = strtoull(text, &end, base);
    return errno == 0 && !*end;
}

static enum mgb_status number_read(const struct mgb_tensor_file *file, const char *name, void *out)
{
    const char *text = mgb_tensor_file_find_word(file, name);
    char *end = NULL;
    double value = text && *text ? mgb_number_read(text, &end) : (double)NAN;
    float number = isfinite(value) && fabs(value) < 3.4e38 ? (float)value : NAN;
    if (!isfinite(number) || *end)
        return word_fail(file, name, "a number");
    memcpy(out, &number, sizeof number);
    return MGB_OK;
}

static enum mgb_status kind_read(struct mgb_optimizer *out, const struct mgb_tensor_file *file)
{
    const char *name = mgb_tensor_file_find_word(file, "optimizer");
    for (int kind = MGB_SGD; name && kind <= MGB_ADAM; kind++) {
        out->kind = (enum mgb_optimizer_kind)kind;
        if (strcmp(mgb_optimizer_name(out->kind), name) == 0)
            return MGB_OK;
    }
    return word_fail(file, "optimizer", "the name of an optimizer");
}

/* There where steps in f16 were made. */
static enum mgb_status scale_read(struct mgb_progress *out, const struct mgb_tensor_file *file)
{
    uint64_t steps;
    int exponent;
    if (!mgb_tensor_file_find_word(file, "loss_scale"))
        return MGB_OK;
    MGB_TRY(number_read(file, "loss_scale", &out->loss_scale));
    if (out->loss_scale <= 0.0f || frexpf(out->loss_scale, &exponent) > 0.5f)
        return word_fail(file, "loss_scale", "a power of two");
    if (!whole_read(&steps, mgb_tensor_file_find_word(file, "scale_steps"), 10) ||
        steps > INT32_MAX)
        return word_fail(file, "scale_steps", "a count");
    out->scale_steps = (int32_t)steps;
    return MGB_OK;
}

enum mgb_status mgb_state_read(struct mgb_checkpoint_state *out, uint64_t *weights,
                               const struct mgb_tensor_file *file)
{
    const char *format = mgb_tensor_file_find_word(file, "mgbench");
    uint64_t value;
    *out = (struct mgb_checkpoint_state){0};
    if (!format || strcmp(format, FORMAT) != 0)
        return word_fail(file, "mgbench", "'" FORMAT "'");
    if (!whole_read(weights, mgb_tensor_file_find_word(file, "weights"), 16))
        return word_fail(file, "weights", "a digest");
    MGB_TRY(kind_read(&out->optimizer, file));
    if (!whole_read(&value, mgb_tensor_file_find_word(file, "nesterov"), 10) || value > 1)
        return word_fail(file, "nesterov", "0 or 1");
    out->optimizer.nesterov = value;
    for (size_t i = 0; i < COUNT(numbers); i++)
        MGB_TRY(number_read(file, numbers[i].name, (char *)&out->optimizer + numbers[i].at));
    for (size_t i = 0; i < COUNT(counts); i++) {
        const char *text = mgb_tensor_file_find_word(file, counts[i].name);
        if (!whole_read(&value, text, 10) || value > (uint64_t)MOST)
            return word_fail(file, counts[i].name, "a count");
        *count_at(&out->progress, i) = (int64_t)value;
    }
    MGB_TRY(scale_read(&out->progress, file));
    if (out->progress.row > 0 && out->progress.row >= out->progress.rows)
        return word_fail(file, "row", "a row of the epoch");
    return whole_read(&out->progress.seed, mgb_tensor_file_find_word(file, "seed"), 10)
               ? MGB_OK
               : word_fail(file, "seed", "a whole number");
}

bool mgb_state_fits(const struct mgb_checkpoint_state *stored,
                    const struct mgb_checkpoint_state *run)
{
    return stored->optimizer.kind == run->optimizer.kind &&
           mgb_optimizer_slots(&stored->optimizer) == mgb_optimizer_slots(&run->optimizer);
}

void mgb_state_differ(char *out, size_t size, const struct mgb_checkpoint_state *stored,
                      const struct mgb_checkpoint_state *run)
{
    size_t used = 0;
    *out = '\0';
    if (stored->progress.seed != run->progress.seed)
        used += (size_t)mgb_format(out, size, "seed %llu now, %llu before",
                                   (unsigned long long)run->progress.seed,
                                   (unsigned long long)stored->progress.seed);
    if (stored->progress.rows != run->progress.rows && used < size)
        used += (size_t)mgb_format(
            out + used, size - used, "%sdata of %lld rows now, %lld before: the epoch begins anew",
            used ? "; " : "", (long long)run->progress.rows, (long long)stored->progress.rows);
    for (size_t i = 0; i < COUNT(numbers) && used < size; i++) {
        float now = number_of(&run->optimizer, i), before = number_of(&stored->optimizer, i);
        if (now < before || now > before)
            used +=
                (size_t)mgb_format(out + used, size - used, "%s%s %g now, %g before",
                                   used ? "; " : "", numbers[i].name, (double)now, (double)before);
    }
}
