/* Sensors of the GPUs in use, read about once a second on a thread of their own: a driver in trouble may take seconds to
 * answer, and neither a step nor the watchdog waits for it. */
#ifndef APP_SESSION_SENSORS_H
#define APP_SESSION_SENSORS_H

#include "app/session/private.h"

struct session_sensors;

/* NULL when the devices have no sensors, or there is no thread for them. */
struct session_sensors *mgb_session_sensors_start(const struct script_session *session);
/* Does not wait for a reading under way. NULL is allowed. */
void mgb_session_sensors_stop(struct session_sensors *sensors);
/* The readings since the last call, into the ring. With `first`, waits a moment for a device's very first one. */
void mgb_session_sensors_push(struct script_session *session, bool first);
/* As services.h has it. */
bool mgb_session_sensed(struct script_session *session, int device, struct mgb_sensed *out);

#endif
