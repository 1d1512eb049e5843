/* tests/engine/cuda/machine.h on the GPUs of the plugin: as many logical devices as a test asks for, dealt out over the
 * cards that there are. What only the fake runtime knows (handles that live on) is not looked at here. */
#include "tests/engine/cuda/machine.h"

#include "engine/base/memory.h"
#include "tests/gpu/card.h"
#include "tests/support/check.h"
#include <stdlib.h>

enum { MOST = 16 };

static int wanted;
static struct mgb_backend dealt;
static struct mgb_device truth[MOST + 1]; /* devices with the cards that they are on */

/* Planners see a card each; none of the tests asks for logical devices. */
static enum mgb_status dealt_probe(struct mgb_topology *out)
{
    struct mgb_topology found;
    MGB_TRY(card.cuda->probe(&found));
    *out = (struct mgb_topology){.machine = "logical", .device_count = wanted + 1};
    out->devices = mgb_alloc(sizeof *out->devices * (size_t)(wanted + 1));
    assert_non_null(out->devices);
    for (int i = 0; i <= wanted; i++) {
        truth[i] = found.devices[i == 0 ? 0 : (i - 1) % card.count + 1];
        if (i > 0)
            truth[i].name.index = i - 1;
        out->devices[i] = truth[i];
        out->devices[i].physical = i;
    }
    mgb_topology_done(&found);
    return MGB_OK;
}

static enum mgb_status dealt_open(void **out, const struct mgb_topology *topology,
                                  const struct mgb_backend_options *options)
{
    static struct mgb_topology cards;
    struct mgb_backend_options shared = *options;
    cards = *topology;
    cards.devices = truth;
    shared.logical = true;
    return card.cuda->open(out, &cards, &shared);
}

void machine_set(const char *gpus, const char *fail)
{
    assert_null(fail);
    wanted = atoi(gpus);
    assert_in_range(wanted, 1, MOST);
}

const struct mgb_backend *machine_cuda(void)
{
    dealt = *card.cuda;
    dealt.probe = dealt_probe;
    dealt.open = dealt_open;
    return &dealt;
}

void machine_check_empty(void)
{
}
