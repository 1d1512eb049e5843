/* The records of every step: of fixed size, copied through the recorder's ring. See record.h for the rules that all
 * records share. */
#ifndef MGB_RECORD_STEP_H
#define MGB_RECORD_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include <mgb/phase.h>

struct mgb_maybe_int {
    int64_t value;
    bool known;
};
struct mgb_maybe_real {
    double value;
    bool known;
};
#define MGB_KNOWN_INT(x) ((struct mgb_maybe_int){.value = (x), .known = true})
#define MGB_KNOWN_REAL(x) ((struct mgb_maybe_real){.value = (x), .known = true})

struct mgb_record_step {
    int64_t segment;
    int64_t step;  /* index in the run, from 0, warm-up steps counted; continues across segments */
    int64_t epoch; /* from 0 */
    int64_t start_ns; /* session clock since the run began */
    int64_t wall_ns;
    int64_t examples; /* rows of all towers together */
    double loss;      /* NaN and infinities are stored as NULL and named in loss_status */
    bool has_loss;    /* false: simulated, or a step without one */
    bool warmup;
};

/* Where one device's time of one step went. A phase's busy time is the union of its tasks' intervals on the device and
 * the links it drives; its exposed time is the part during which the device's compute queue ran nothing else. */
struct mgb_record_step_device {
    int64_t segment;
    int64_t step;
    const char *device; /* "/gpu:0" */
    int64_t busy_ns[MGB_PHASE_COUNT];
    int64_t exposed_ns[MGB_PHASE_COUNT];
    int64_t finish_ns; /* from the step's start until this device's tower was done with backward */
    bool has_finish;   /* false: no tower runs here */
};

struct mgb_record_metric {
    int64_t segment;
    int64_t step;      /* the last step trained before it was taken */
    const char *split; /* "train", "test" */
    const char *name;  /* "accuracy" */
    double value;      /* NaN and infinities as with loss */
};

/* One task of a traced step. */
struct mgb_record_task {
    int64_t segment;
    int64_t step;
    const char *device; /* where it ran; for a copy, the device it arrives at */
    const char *queue;  /* "/gpu:0 compute", "/gpu:0->/cpu:0" */
    const char *kind;   /* "compute", "copy", "reduce", "allreduce", "update" */
    const char *name;   /* "tower1/conv1/backward" */
    enum mgb_phase phase;
    int64_t start_ns; /* from the step's start; may be negative for work staged ahead */
    int64_t duration_ns;
    int64_t bytes; /* moved, 0 for compute */
    int64_t task;  /* number in the step, from 0, as enqueued; stored only beside waits_for */
    const char
        *waits_for; /* JSON array of the numbers of tasks that had to end first; NULL: not known */
};

/* The state of one device, about once a second. Integer readings may be MGB_NO_READING, so that the record stays small. */
#define MGB_NO_READING INT64_MIN
struct mgb_record_sample {
    int64_t run;
    int64_t segment; /* 0: between segments */
    const char *device;
    int64_t at_ns; /* session clock since the run began */
    int64_t clock_khz;
    int64_t memory_clock_khz;
    int64_t power_mw;
    int64_t temperature_mc; /* thousandths of a degree Celsius */
    int64_t utilisation_ppm;
    int64_t memory_used_bytes;  /* of the whole device */
    int64_t process_bytes;      /* of this process: resident set on the host */
    int64_t process_peak_bytes; /* the largest that was; 0: not read either */
    const char *throttle;       /* reasons, comma separated; "" none; NULL not known */
};

enum mgb_record_kind {
    MGB_RECORD_STEP,
    MGB_RECORD_STEP_DEVICE,
    MGB_RECORD_METRIC,
    MGB_RECORD_TASK,
    MGB_RECORD_SAMPLE,
};
struct mgb_record {
    enum mgb_record_kind kind;
    union {
        struct mgb_record_step step;
        struct mgb_record_step_device step_device;
        struct mgb_record_metric metric;
        struct mgb_record_task task;
        struct mgb_record_sample sample;
    };
};

#endif
