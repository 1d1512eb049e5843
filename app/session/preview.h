/* Looking at what a request would come to, without opening it. */
#ifndef APP_SESSION_PREVIEW_H
#define APP_SESSION_PREVIEW_H

#include "app/script/services.h"

#include <mgb/preview.h>

/* To be freed with mgb_preview_free; fails with what opening the request would fail with before it takes memory. */
enum mgb_status mgb_session_preview(struct mgb_preview **out,
                                    const struct script_open_request *request);

#endif
