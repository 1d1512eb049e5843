/* Which SQLite the program runs with. */
#include "db/query.h"
#include <sqlite3.h>

const char *mgb_db_library_version(void)
{
    return sqlite3_libversion();
}
