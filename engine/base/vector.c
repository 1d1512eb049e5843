/* Growth of the arrays of vector.h: capacity doubles, sizes are checked. */
#include "engine/base/vector.h"

#include "engine/base/memory.h"
#include <limits.h>
#include <stdint.h>

bool mgb_vector_grow_(void **at, int *capacity, int count, int more, size_t size)
{
    if (more < 0 || count > INT_MAX - more)
        return false;
    int wanted = count + more;
    if (wanted <= *capacity)
        return true;
    int larger = *capacity > INT_MAX / 2 ? INT_MAX : 2 * *capacity;
    if (larger < 8)
        larger = 8;
    if (larger < wanted)
        larger = wanted;
    if ((size_t)larger > SIZE_MAX / size)
        return false;
    void *block = mgb_realloc(*at, (size_t)larger * size);
    if (!block)
        return false;
    *at = block;
    *capacity = larger;
    return true;
}

void mgb_vector_done_(void **at, int *count, int *capacity)
{
    mgb_release(*at);
    *at = NULL;
    *count = *capacity = 0;
}
