/* Products of matrices whose rows lie apart, through oneDNN's sgemm, which 2.x and 3.x have alike. */
#include "engine/host/dnnl_shim.h"

#include <dnnl.h>

enum mgb_status mgb_dnnl_product(float *c, int64_t c_row, struct mgb_matrix a, struct mgb_matrix b,
                                 struct mgb_product product)
{
    dnnl_status_t status =
        dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', product.m, product.n,
                   product.k, product.alpha, a.at, a.row, b.at, b.row, product.beta, c, c_row);
    if (status == dnnl_success)
        return MGB_OK;
    return mgb_fail(status == dnnl_out_of_memory ? MGB_NO_MEMORY : MGB_DEVICE,
                    "oneDNN cannot multiply %lldx%lld by %lldx%lld (status %d)",
                    (long long)product.m, (long long)product.k, (long long)product.k,
                    (long long)product.n, (int)status);
}
