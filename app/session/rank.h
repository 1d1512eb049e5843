/* Which of several configurations is the fastest, and is it by more than noise: what a comparison of many answers first. */
#ifndef APP_SESSION_RANK_H
#define APP_SESSION_RANK_H

#include "app/session/judge.h"

/* The one with the least time an example, of those that may be judged if there are any; `count` when nothing ran. */
enum mgb_status mgb_rank_fastest(size_t *out, struct mgb_reader *reader,
                                 const struct mgb_selection *points, size_t count,
                                 const struct mgb_judge_options *options);

/* "Fastest: gpus=2, 247.1 ms; ahead of gpus=1 by 3.1 % [2.9, 3.4], more than noise", or "...; not told apart from: gpus=1".
 * `judged`: each of `count` others, in `words`, against A, which is `a`. An other that is faster than A is ranked before it. */
void mgb_rank_sentence(char *out, size_t size, const struct mgb_judgement *judged,
                       const char *const *words, size_t count, const char *a);

struct mgb_ranking {
    size_t
        fastest; /* of the points; their count: none is called so, nothing ran or every verdict is refused */
    char text[1200]; /* the sentence; "": less than two ran */
    char headline
        [160]; /* "Fastest, not told apart from 7 others: gpus=2, 0.2471 ms an example"; "" likewise */
};

/* Both at once: ranks `points` and words the answer. */
enum mgb_status mgb_rank_points(struct mgb_ranking *out, struct mgb_reader *reader,
                                const struct mgb_selection *points, const char *const *words,
                                size_t count, const struct mgb_judge_options *options);

#endif
