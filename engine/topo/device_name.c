/* Device names: any usual spelling in, one spelling out. Knows nothing of which devices exist. */
#include <mgb/topology.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define INDEX_MOST 99999

/* One "word:number" or "word" of a name. */
struct part {
    char word[24];
    bool numbered;
    int number;
    char text[24]; /* what follows the colon */
};

static bool part_read_number(struct part *part)
{
    const char *c = part->text;
    if (*c == '\0' || strlen(c) > 5)
        return false;
    for (part->number = 0; *c; c++) {
        if (!isdigit((unsigned char)*c))
            return false;
        part->number = part->number * 10 + (*c - '0');
    }
    return part->number <= INDEX_MOST;
}

/* Reads the part between `begin` and `end`, in lower case. */
static bool part_read(struct part *part, const char *begin, const char *end)
{
    const char *colon = memchr(begin, ':', (size_t)(end - begin));
    const char *word_end = colon ? colon : end;
    size_t word = (size_t)(word_end - begin), text = colon ? (size_t)(end - colon - 1) : 0;
    memset(part, 0, sizeof *part);
    if (word == 0 || word >= sizeof part->word || text >= sizeof part->text || (colon && text == 0))
        return false;
    for (size_t i = 0; i < word; i++)
        part->word[i] = (char)tolower((unsigned char)begin[i]);
    for (size_t i = 0; i < text; i++)
        part->text[i] = (char)tolower((unsigned char)colon[1 + i]);
    part->numbered = part_read_number(part);
    return true;
}

static bool kind_find(enum mgb_device_kind *out, const char *word)
{
    bool cpu = strcmp(word, "cpu") == 0, gpu = strcmp(word, "gpu") == 0;
    *out = cpu ? MGB_DEVICE_CPU : MGB_DEVICE_GPU;
    return cpu || gpu;
}

/* "cpu", "gpu:1", "device:gpu:1". */
static bool part_is_device(struct mgb_device_name *out, const struct part *part)
{
    struct part inner;
    const struct part *device = part;
    if (strcmp(part->word, "device") == 0) {
        if (!part_read(&inner, part->text, part->text + strlen(part->text)))
            return false;
        device = &inner;
    }
    if (!kind_find(&out->kind, device->word))
        return false;
    if (device->text[0] != '\0' && !device->numbered)
        return false;
    out->index = device->numbered ? device->number : 0;
    return true;
}

/* "host:1", and of TensorFlow's job path "job:NAME", "replica:0", "task:1" (a task is a host). */
static bool part_is_host(struct mgb_device_name *out, const struct part *part)
{
    if (strcmp(part->word, "job") == 0)
        return part->text[0] != '\0';
    if (strcmp(part->word, "replica") == 0)
        return part->numbered;
    if (strcmp(part->word, "host") != 0 && strcmp(part->word, "task") != 0)
        return false;
    out->host = part->number;
    return part->numbered;
}

static bool name_read(struct mgb_device_name *out, const char *text)
{
    const char *at = text + (*text == '/');
    for (;;) {
        const char *end = strchr(at, '/');
        bool last = end == NULL;
        struct part part;
        if (last)
            end = at + strlen(at);
        if (!part_read(&part, at, end))
            return false;
        if (last)
            return part_is_device(out, &part);
        if (!part_is_host(out, &part))
            return false;
        at = end + 1;
    }
}

enum mgb_status mgb_device_parse(struct mgb_device_name *out, const char *text)
{
    struct mgb_device_name name = {0};
    if (strcasecmp(text, "spread") == 0)
        name.kind = MGB_DEVICE_SPREAD;
    else if (!name_read(&name, text))
        return mgb_fail(MGB_INVALID,
                        "'%.60s' is not the name of a device: write /cpu:0, /gpu:1, "
                        "/host:1/gpu:0 or spread",
                        text);
    *out = name;
    return MGB_OK;
}

char *mgb_device_format(char out[MGB_DEVICE_NAME_MAX], struct mgb_device_name name)
{
    char host[24] = "";
    if (name.host > 0)
        snprintf(host, sizeof host, "/host:%d", name.host);
    switch (name.kind) {
    case MGB_DEVICE_UNSET:
        out[0] = '\0';
        break;
    case MGB_DEVICE_CPU:
    case MGB_DEVICE_GPU:
        snprintf(out, MGB_DEVICE_NAME_MAX, "%s/%s:%d", host,
                 name.kind == MGB_DEVICE_CPU ? "cpu" : "gpu", name.index);
        break;
    case MGB_DEVICE_SPREAD:
        snprintf(out, MGB_DEVICE_NAME_MAX, "spread");
        break;
    }
    return out;
}

bool mgb_device_equal(struct mgb_device_name a, struct mgb_device_name b)
{
    if (a.kind != b.kind)
        return false;
    if (a.kind == MGB_DEVICE_UNSET || a.kind == MGB_DEVICE_SPREAD)
        return true;
    return a.index == b.index && a.host == b.host;
}
