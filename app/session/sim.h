/* What plays the steps of a run on a machine that is not there: the simulator, opened on the machine of a request. */
#ifndef APP_SESSION_SIM_H
#define APP_SESSION_SIM_H

#include "app/script/services.h"

#include <mgb/sim.h>

/* NULL where the request names no machine. The machine is borrowed until close. MGB_INVALID: backend "sim" without one, or a
 * machine on another backend. */
enum mgb_status mgb_session_sim_open(struct mgb_sim **out,
                                     const struct script_open_request *request);
/* For run and preview options; NULL of NULL. */
const struct mgb_virtual *mgb_session_sim_virtual(struct mgb_sim *sim);

#endif
