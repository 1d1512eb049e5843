/* Mann-Whitney test of two small samples: do the values of one tend to be larger? Exact, ties included. */
#ifndef MGB_DB_RANK_TEST_H
#define MGB_DB_RANK_TEST_H

#include <stdbool.h>
#include <stddef.h>

#include <mgb/status.h>

enum {
    MGB_RANK_TEST_EXACT = 100
}; /* values of both samples together; above it the normal approximation */

struct mgb_rank_test {
    double u; /* pairs in which the first sample's value is the larger, ties counting half */
    double p; /* two-sided: twice the smaller tail, at most 1 */
    double
        smallest; /* the least p that samples of these sizes can give, were there no ties: 0.1 for 3 against 3 */
    bool exact;
};

/* Mann and Whitney, Annals of Mathematical Statistics 18 (1947); exact: the distribution over all divisions of the pooled
 * midranks. Both samples need a value. */
enum mgb_status mgb_rank_test_run(struct mgb_rank_test *out, const double *a, size_t a_count,
                                  const double *b, size_t b_count);

/* 2 / C(a_count + b_count, a_count), at most 1. Above 0.05 no outcome of the test is significant at 5 %. */
double mgb_rank_test_smallest(size_t a_count, size_t b_count);

#endif
