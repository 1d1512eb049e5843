/* Inside of the judge: what is gathered of one side before it is compared, and what is said against it meanwhile. */
#ifndef APP_SESSION_JUDGE_SIDE_H
#define APP_SESSION_JUDGE_SIDE_H

#include "app/session/judge.h"

struct side_look { /* gathers one side's facts, a row a segment */
    struct mgb_judgement *out;
    struct mgb_judged_side *side;
    const char *name; /* "A" */
    int64_t run;      /* whose segments are called by their numbers */
    int64_t machine, model;
    int64_t oldest[2], newest[2]; /* of its runs: when the segment began, and the run */
    bool unjudged;                /* of one run it was not judged whether it is steady */
    size_t rows;
    bool mixed_model, mixed_settings;
    char settings[400]; /* of its first run */
};

/* A reason for no verdict, or something to know beside one; told once. */
void mgb_judge_refuse(struct mgb_judgement *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void mgb_judge_remark(struct mgb_judgement *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* By the clock, and by their numbers within a millisecond: those of another file came when they came. */
bool mgb_judge_is_earlier(const int64_t a[2], const int64_t b[2]);

/* Reads the facts of a side's segments. */
enum mgb_status mgb_judge_side_look(struct side_look *l, struct mgb_reader *reader,
                                    const struct mgb_selection *side);

#endif
