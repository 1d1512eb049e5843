/* See power_cut.h. */
#include "tests/support/power_cut.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/draw.h"

enum { FILES = 3, SECTOR = 512 };

struct image {
    unsigned char *data;
    size_t size, room;
    bool there;
};

struct cut {
    struct image files[FILES];
    size_t synced[FILES]; /* events of the file before this one are on the disk */
    enum power_cut_mode mode;
    size_t torn; /* of POWER_CUT_IN_ORDER: the first event that is not whole */
    unsigned kept_percent;
    uint64_t seed, draws;
};

static uint32_t draw_below(struct cut *cut, uint32_t n)
{
    return mgb_draw_below(mgb_draw_at(cut->seed, 1, cut->draws++), n);
}

static void image_resize(struct image *image, size_t size)
{
    if (size > image->room) {
        image->room = size + 65536;
        image->data = realloc(image->data, image->room);
        if (!image->data)
            abort();
    }
    if (size > image->size)
        memset(image->data + image->size, 0, size - image->size);
    image->size = size;
    image->there = true;
}

static void image_write(struct image *image, int64_t offset, const unsigned char *data, size_t size)
{
    if (size == 0)
        return;
    if ((size_t)offset + size > image->size)
        image_resize(image, (size_t)offset + size);
    memcpy(image->data + offset, data, size);
}

/* Each sector on its own: whole, its beginning only, or not at all. */
static void write_scatter(struct cut *cut, const struct faulty_event *event)
{
    for (size_t at = 0; at < event->size;) {
        size_t to_boundary = SECTOR - ((size_t)event->offset + at) % SECTOR;
        size_t size = to_boundary < event->size - at ? to_boundary : event->size - at;
        uint32_t lot = draw_below(cut, 100);
        size_t kept = lot < cut->kept_percent       ? size
                      : lot < cut->kept_percent + 5 ? draw_below(cut, (uint32_t)size)
                                                    : 0;
        image_write(&cut->files[event->file], event->offset + (int64_t)at, event->data + at, kept);
        at += size;
    }
}

static void event_apply(struct cut *cut, const struct faulty_event *event)
{
    struct image *image = &cut->files[event->file];
    switch (event->kind) {
    case FAULTY_EVENT_WRITE:
        image_write(image, event->offset, event->data, event->size);
        return;
    case FAULTY_EVENT_TRUNCATE:
        image_resize(image, (size_t)event->offset);
        return;
    case FAULTY_EVENT_DELETE:
        image->size = 0;
        image->there = false;
        return;
    case FAULTY_EVENT_SYNC:
        return;
    }
}

/* An event that may not have reached the disk. */
static void event_risk(struct cut *cut, const struct faulty_event *event, size_t index)
{
    switch (cut->mode) {
    case POWER_CUT_NOTHING_LOST:
        event_apply(cut, event);
        return;
    case POWER_CUT_IN_ORDER:
        if (index < cut->torn)
            event_apply(cut, event);
        else if (index == cut->torn && event->kind == FAULTY_EVENT_WRITE)
            image_write(&cut->files[event->file], event->offset, event->data,
                        draw_below(cut, (uint32_t)event->size));
        return;
    case POWER_CUT_AT_RANDOM:
        if (event->kind == FAULTY_EVENT_WRITE)
            write_scatter(cut, event);
        else if (draw_below(cut, 100) < cut->kept_percent)
            event_apply(cut, event);
        return;
    case POWER_CUT_ALL_LOST:
    case POWER_CUT_MODES:
        return;
    }
}

/* A deletion is safe once its folder was synced: with it, or with the first sync of a new file, as SQLite does. */
static void synced_find(struct cut *cut, const struct faulty_event *events, size_t count)
{
    size_t deleted[FILES] = {0};
    bool new_file[FILES] = {true, true, true};
    for (size_t i = 0; i < count; i++) {
        int file = events[i].file;
        bool folder = false;
        if (events[i].kind == FAULTY_EVENT_DELETE) {
            deleted[file] = i + 1;
            folder = events[i].offset != 0;
            new_file[file] = true;
        } else if (events[i].kind == FAULTY_EVENT_SYNC) {
            cut->synced[file] = i + 1;
            folder = new_file[file];
            new_file[file] = false;
        }
        for (int k = 0; k < FILES && folder; k++)
            if (deleted[k] > cut->synced[k])
                cut->synced[k] = deleted[k];
    }
}

static void image_store(const struct image *image, const char *path, const char *ending)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", path, ending);
    unlink(name);
    if (!image->there)
        return;
    FILE *file = fopen(name, "wb");
    if (!file || (image->size > 0 && fwrite(image->data, 1, image->size, file) != image->size))
        abort();
    fclose(file);
}

void power_cut_make(const char *path, const struct faulty_event *events, size_t count,
                    enum power_cut_mode mode, uint64_t seed)
{
    static const char *const endings[FILES] = {"", "-wal", "-journal"};
    static const unsigned percents[] = {5, 50, 90};
    char shm[512];
    struct cut cut = {.mode = mode, .seed = seed};
    cut.kept_percent = percents[draw_below(&cut, 3)];
    synced_find(&cut, events, count);
    size_t first = count; /* that may be lost */
    for (int i = 0; i < FILES; i++)
        first = cut.synced[i] < first ? cut.synced[i] : first;
    cut.torn = first + draw_below(&cut, (uint32_t)(count - first) + 1);
    for (size_t i = 0; i < count; i++) {
        if (i < cut.synced[events[i].file])
            event_apply(&cut, &events[i]);
        else
            event_risk(&cut, &events[i], i);
    }
    for (int i = 0; i < FILES; i++) {
        image_store(&cut.files[i], path, endings[i]);
        free(cut.files[i].data);
    }
    snprintf(shm, sizeof shm, "%s-shm", path);
    unlink(shm);
}
