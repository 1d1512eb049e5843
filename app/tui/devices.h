/* The lines of the devices view, apart from how the view scrolls: headings, devices, links, who reaches whom. */
#ifndef APP_TUI_DEVICES_H
#define APP_TUI_DEVICES_H

#include "app/tui/list.h"
#include "app/tui/view.h"

enum devices_kind {
    DEVICES_RULE, /* of devices */
    DEVICES_HEAD,
    DEVICES_DEVICE,
    DEVICES_LINKS_RULE,
    DEVICES_LINKS_HEAD,
    DEVICES_LINK,
    DEVICES_PEERS_RULE,
    DEVICES_PEERS_HEAD,
    DEVICES_PEER,      /* a GPU that sends; receivers are columns */
    DEVICES_IDLE_RULE, /* of devices that the plan leaves alone; then of such links */
    DEVICES_IDLE_LINKS_RULE,
    DEVICES_IDLE_PEERS_RULE
};
struct devices_line {
    enum devices_kind kind;
    int index; /* of the facts' devices or links; headings: how many lines follow; PEERS_HEAD: of those in use */
};

bool tui_devices_is_heading(enum devices_kind kind);
/* Draws one line into `row`; `left`: receivers of the matrix scrolled away. */
void tui_devices_draw(struct tui_canvas *canvas, struct tui_rect row,
                      const struct devices_line *line, const struct tui_scene *scene, int left);
void tui_devices_draw_link(struct tui_canvas *canvas, struct tui_rect row,
                           const struct devices_line *line, const struct tui_scene *scene,
                           int left);
/* All that is known of what a line is about, with a rule, into `area` of 5 rows at least. */
void tui_devices_detail(struct tui_canvas *canvas, struct tui_rect area,
                        const struct devices_line *line, const struct tui_scene *scene);

/* "yes", "off" (possible, not used), "no: via host"; "-" where a CPU takes part. */
const char *tui_devices_peer_words(const struct mgb_facts *facts,
                                   const struct mgb_facts_link *link);
int64_t tui_devices_traffic(const struct mgb_facts *facts); /* bytes a step over all links */
/* Measured memory of a device in the segment in force; NULL: none. */
const struct mgb_bench_memory *tui_devices_memory(const struct mgb_snapshot *snapshot,
                                                  const char *device);

#endif
