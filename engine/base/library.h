/* Files of shared libraries, before they are loaded. */
#ifndef MGB_BASE_LIBRARY_H
#define MGB_BASE_LIBRARY_H

#include <mgb/status.h>

/* That the file holds every byte which dlopen would map: one that was cut short loads, and kills the process (SIGBUS) where
 * a missing page is touched. MGB_MISSING names it; what else is wrong with a file is left to dlopen and its message. */
enum mgb_status mgb_library_check(const char *path);

#endif
