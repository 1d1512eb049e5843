/* What the record knows of the speed of links. */
#ifndef APP_SESSION_LINKS_H
#define APP_SESSION_LINKS_H

#include "app/session/hub.h"

typedef void mgb_session_link_known(void *context, const char *from, const char *to, double gbps,
                                    double latency_us);

/* Of each link whose speed was measured: of the machine with this key (NULL: the one this runs on). Fails when there is no
 * database. */
enum mgb_status mgb_session_links_known(struct mgb_hub *hub, const char *key, const char *backend,
                                        mgb_session_link_known *known, void *context);

#endif
