-- The results database of mgbench, as a new file gets it. Older files come here through migrations/, in order.
-- Views are in views.sql and are made anew after each migration.
--
-- Conventions. Columns may be added, never renamed. NULL means not known or without meaning, never zero. Names that end
-- in _ns are durations in nanoseconds, _ms UTC milliseconds since 1970 (in views: durations in milliseconds), _bytes
-- sizes in bytes; gbps is 1e9 bytes a second, one way. Devices are named "/cpu:0", "/gpu:1". Booleans are 0 and 1. What
-- is JSON says so. NaN and infinities cannot be stored as numbers: the value is NULL and a status column names them.

CREATE TABLE machine (
    id           INTEGER PRIMARY KEY,  -- row number
    key          TEXT NOT NULL UNIQUE, -- digest of what makes it the same machine
    name         TEXT NOT NULL,        -- host name, or the machine file's name
    simulated    INTEGER NOT NULL CHECK (simulated IN (0, 1)), -- 1: a machine file, nothing was measured on it
    source       TEXT,                 -- of a machine file: where its figures come from
    cpu          TEXT,                 -- processor's product name
    os           TEXT,                 -- operating system, as newest seen
    kernel       TEXT,                 -- kernel release, as newest seen
    cores        INTEGER,              -- physical cores
    threads      INTEGER,              -- hardware threads
    memory_bytes INTEGER               -- host memory
) STRICT;

-- Devices of a machine, one set a backend: the host backend's /gpu:0 is not the CUDA backend's. As the newest run saw them:
-- which GPU a name was in an older one is in run.environment.
CREATE TABLE device (
    machine_id         INTEGER NOT NULL REFERENCES machine (id) ON DELETE CASCADE, -- whose machine
    backend            TEXT NOT NULL,    -- "host", "cuda", "sim"
    name               TEXT NOT NULL,    -- "/gpu:0"
    kind               TEXT,             -- "cpu", "cuda", "sim"
    product            TEXT,             -- what the vendor calls it
    uuid               TEXT,             -- vendor's identity, stable across re-ordering
    pci                TEXT,             -- bus address, "0000:65:00.0"
    compute_capability TEXT,             -- CUDA's, "9.0"
    driver_version     TEXT,             -- as newest seen
    memory_bytes       INTEGER,          -- physical memory
    cores              INTEGER,          -- CPU cores or multiprocessors
    driver_index       INTEGER,          -- as the driver numbers it (nvidia-smi), whatever CUDA_VISIBLE_DEVICES says
    clock_mhz          INTEGER,          -- the highest of its compute units
    memory_gbps        REAL,             -- newest start-up probe, or the machine file
    f32_tflops         REAL,             -- newest start-up probe, or the machine file
    seen_ms            INTEGER NOT NULL, -- when this row was last written
    PRIMARY KEY (machine_id, backend, name)
) STRICT, WITHOUT ROWID;

-- Ways between devices, by ordered pair.
CREATE TABLE link (
    machine_id  INTEGER NOT NULL REFERENCES machine (id) ON DELETE CASCADE, -- whose machine
    backend     TEXT NOT NULL,    -- as in device
    from_device TEXT NOT NULL,    -- device or switch
    to_device   TEXT NOT NULL,    -- device or switch
    kind        TEXT,             -- "memory", "pcie", "nvlink", "network"
    peer_access INTEGER CHECK (peer_access IN (0, 1)), -- 1: a copy does not pass through the host
    gbps        REAL,             -- newest start-up probe, or the machine file
    latency_ns  INTEGER,          -- newest start-up probe, or the machine file
    peer_verdict TEXT CHECK (peer_verdict IN -- of trying peer access; bad: bytes arrived damaged; refused: by the driver
                     ('good', 'slow', 'bad', 'refused')),
    peer_gbps   REAL,             -- with peer access, as tried when it was first asked for
    peer_latency_ns INTEGER,      -- likewise
    staged_gbps REAL,             -- by way of the host, likewise
    staged_latency_ns INTEGER,    -- likewise
    seen_ms     INTEGER NOT NULL, -- when this row was last written
    PRIMARY KEY (machine_id, backend, from_device, to_device)
) STRICT, WITHOUT ROWID;

CREATE TABLE model (
    id            INTEGER PRIMARY KEY, -- row number
    name          TEXT NOT NULL,       -- as in models/
    options       TEXT NOT NULL,       -- JSON object, keys sorted; "{}" if none
    graph_digest  TEXT NOT NULL,       -- of the graph of one tower in text form
    parameters    INTEGER,             -- trainable numbers
    forward_flops INTEGER,             -- floating point operations of one example's forward pass
    UNIQUE (name, options, graph_digest)
) STRICT;

CREATE TABLE run (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again after deletion
    uuid               TEXT NOT NULL UNIQUE, -- the same in every file the run is merged into
    started_ms         INTEGER NOT NULL,     -- when it began
    finished_ms        INTEGER,              -- NULL: running, or crashed
    machine_id         INTEGER NOT NULL REFERENCES machine (id), -- what it ran on
    model_id           INTEGER NOT NULL REFERENCES model (id), -- what was trained
    backend            TEXT NOT NULL,        -- "host", "cuda", "sim"
    simulated          INTEGER NOT NULL CHECK (simulated IN (0, 1)), -- 1: played on a virtual clock
    seed               INTEGER,              -- of everything random
    script             TEXT,                 -- path; NULL: no script
    script_digest      TEXT,                 -- of its text
    command            TEXT,                 -- repeats the run; quoted for a shell
    program_version    TEXT,                 -- mgbench's
    versions           TEXT,                 -- JSON object: libraries and drivers in use
    environment        TEXT,                 -- JSON object: settings that can change figures; which GPU a name was
    data               TEXT,                 -- what it trained on
    outcome            TEXT NOT NULL CHECK (outcome IN -- how it ended
                           ('running', 'ok', 'oom', 'error', 'interrupted', 'crashed', 'timeout')),
    message            TEXT,                 -- why it did not end ok
    log_complete       INTEGER NOT NULL CHECK (log_complete IN (0, 1)), -- 0: recording stopped before it ended
    pid                INTEGER NOT NULL,     -- of the process that writes it
    pid_namespace      INTEGER,              -- inode of /proc/self/ns/pid: where the pid is valid
    process_started    INTEGER,              -- clock ticks since boot, field 22 of /proc/PID/stat
    boot_id            TEXT,                 -- /proc/sys/kernel/random/boot_id
    host               TEXT                  -- host name
) STRICT;
CREATE INDEX run_machine ON run (machine_id);
CREATE INDEX run_model ON run (model_id);
CREATE INDEX run_outcome ON run (outcome);

-- A stretch of steps under one unchanged placement. Columns asked_*: as asked, NULL if not asked for. The same without
-- asked_: in effect, NULL where it has no meaning under the strategy, or was never settled since the run was refused.
CREATE TABLE segment (
    id                     INTEGER PRIMARY KEY AUTOINCREMENT, -- row number
    run_id                 INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, -- whose run
    started_ms             INTEGER NOT NULL, -- when it began
    finished_ms            INTEGER,          -- NULL: running, or crashed
    outcome                TEXT NOT NULL CHECK (outcome IN -- how it ended
                               ('running', 'ok', 'oom', 'error', 'interrupted', 'crashed', 'timeout')),
    message                TEXT,             -- why it did not end ok
    first_step             INTEGER NOT NULL, -- index in the run of its first step
    warmup_rule            TEXT CHECK (warmup_rule IN ('fixed', 'auto')), -- ends at a count, or when steps settle
    warmup_steps           INTEGER,          -- how many steps are left out of the figures
    optimizer              TEXT,             -- name and settings
    plan_digest            TEXT,             -- of the full step's plan in text form
    tower_rows             TEXT,             -- JSON array: rows a tower, in tower order
    gave_way               TEXT,             -- what of the asked could not be had and why, a line each
    asked_strategy         TEXT,
    asked_like             TEXT,             -- system whose defaults were taken
    asked_gpus             INTEGER,
    asked_gpu_list         TEXT,             -- JSON array of device names in merge order
    asked_batch_mode       TEXT CHECK (asked_batch_mode IN ('weak', 'strong')),
    asked_batch_per_gpu    INTEGER,          -- examples
    asked_global_batch     INTEGER,          -- examples
    asked_cpu_relocation   INTEGER CHECK (asked_cpu_relocation IN (0, 1)),
    asked_cpu_merge        INTEGER CHECK (asked_cpu_merge IN (0, 1)),
    asked_weights_at       TEXT,
    asked_merge_at         TEXT,             -- short for join_at, loss_at and sum_at
    asked_join_at          TEXT,
    asked_loss_at          TEXT,
    asked_sum_at           TEXT,
    asked_update_at        TEXT,
    asked_relocation       TEXT CHECK (asked_relocation IN ('move', 'clone')),
    asked_allreduce        TEXT,
    asked_bucket_mib       REAL,             -- MiB
    asked_overlap          INTEGER CHECK (asked_overlap IN (0, 1)),
    asked_wire_type        TEXT,
    asked_staged           INTEGER CHECK (asked_staged IN (0, 1)),
    asked_stale            INTEGER CHECK (asked_stale IN (0, 1)),
    asked_peer_access      TEXT CHECK (asked_peer_access IN ('auto', 'true', 'false')),
    asked_pinned           TEXT CHECK (asked_pinned IN ('auto', 'true', 'false')),
    asked_graph            TEXT CHECK (asked_graph IN ('auto', 'true', 'false')),
    asked_bn               TEXT,
    asked_precision        TEXT,
    asked_recompute        TEXT,
    asked_logical          INTEGER CHECK (asked_logical IN (0, 1)),
    asked_gpu_memory_bytes INTEGER,          -- limit a device
    asked_threads          INTEGER,          -- CPU threads a device
    asked_hosts            INTEGER,
    strategy               TEXT CHECK (strategy IN -- how the towers train together
                               ('outputs', 'gradients', 'allreduce', 'independent')),
    gpus                   INTEGER,          -- towers' devices; 0: one tower on /cpu:0
    gpu_list               TEXT,             -- JSON array of device names in merge order
    batch_mode             TEXT CHECK (batch_mode IN ('weak', 'strong')), -- weak: the batch per GPU was given
    batch_per_gpu          INTEGER,          -- examples; the largest tower's
    global_batch           INTEGER,          -- examples; all towers together
    cpu_relocation         INTEGER CHECK (cpu_relocation IN (0, 1)), -- 1: weights live on the CPU
    cpu_merge              INTEGER CHECK (cpu_merge IN (0, 1)), -- 1: towers meet on the CPU
    weights_at             TEXT,             -- home of the master weights
    join_at                TEXT,             -- where outputs are joined
    loss_at                TEXT,             -- where the loss is taken
    sum_at                 TEXT,             -- where gradients are summed
    update_at              TEXT,             -- where the optimizer runs and its slots live
    relocation             TEXT CHECK (relocation IN ('move', 'clone')), -- clone leaves the original weights behind
    allreduce              TEXT,             -- algorithm
    bucket_mib             REAL,             -- size of a gradient bucket, MiB
    overlap                INTEGER CHECK (overlap IN (0, 1)), -- 1: buckets move while backward runs
    wire_type              TEXT,             -- type of a gradient while it travels
    staged                 INTEGER CHECK (staged IN (0, 1)), -- 1: next step's weights are fetched early
    stale                  INTEGER CHECK (stale IN (0, 1)), -- 1: gradients are applied one step late
    peer_access            TEXT CHECK (peer_access IN ('auto', 'true', 'false')), -- copies that avoid the host
    pinned                 TEXT CHECK (pinned IN ('auto', 'true', 'false')), -- page-locked host memory for copies
    graph                  TEXT CHECK (graph IN ('auto', 'true', 'false')), -- steps replayed as CUDA graphs
    bn                     TEXT,             -- batch statistics: "tower" or "sync"
    precision              TEXT,             -- arithmetic of the towers
    recompute              TEXT,             -- what of forward is computed again for backward
    logical                INTEGER CHECK (logical IN (0, 1)), -- 1: a physical GPU may be listed twice
    gpu_memory_bytes       INTEGER,          -- limit a device
    threads                INTEGER,          -- CPU threads a device
    hosts                  INTEGER,          -- MPI ranks' hosts
    oversubscribed         INTEGER CHECK (oversubscribed IN (0, 1)), -- 1: the towers' threads are more than the cores
    digest                 TEXT,             -- of weights and slots at the end; NULL: more steps followed, or it failed
    oom_device             TEXT,             -- of outcome oom: which device's memory did not suffice
    oom_needed_bytes       INTEGER,          -- of outcome oom: what was wanted of it
    oom_available_bytes    INTEGER,          -- of outcome oom: what there was
    target_noise           REAL,             -- half width of the median's interval over the median to stop at; NULL: none
    max_time_ns            INTEGER,          -- for its steps at most; NULL: no limit
    stop_reason            TEXT CHECK (stop_reason IN -- what ended its measuring
                               ('steps', 'epochs', 'noise', 'time', 'stopped')),
    ring_waits             INTEGER           -- times a step waited for the recorder; NULL: not known
) STRICT;
CREATE INDEX segment_run ON segment (run_id);

-- The figures of a finished segment; all over its timed (not warm-up) steps.
CREATE TABLE segment_stat (
    segment_id      INTEGER PRIMARY KEY REFERENCES segment (id) ON DELETE CASCADE, -- whose segment
    timed_steps     INTEGER NOT NULL, -- steps the figures are over
    warmup_steps    INTEGER NOT NULL, -- steps left out
    examples        INTEGER NOT NULL, -- of the timed steps
    timed_ns        INTEGER NOT NULL, -- sum of their wall times; examples per second is examples / this
    median_ns       INTEGER,          -- of an even count: mean of the middle two
    p5_ns           INTEGER,          -- percentiles are nearest-rank: a time that was measured
    p95_ns          INTEGER,          -- nearest-rank
    p99_ns          INTEGER,          -- NULL below 100 timed steps
    mean_ns         INTEGER,          -- timed_ns / timed_steps
    min_ns          INTEGER,          -- fastest timed step
    max_ns          INTEGER,          -- slowest timed step
    ci95_low_ns     INTEGER,          -- 95 % interval of the median; NULL below 20 timed steps
    ci95_high_ns    INTEGER,          -- its upper end
    interval_method TEXT,             -- how the interval was computed
    steady          INTEGER CHECK (steady IN (0, 1)), -- NULL: nobody judged
    unaccounted_ns  INTEGER,          -- between the timed steps: first start to last end, less timed_ns
    noise           REAL,             -- half width of the interval over the median; NULL without one
    interval_seed   INTEGER,          -- of the resampling: the same steps give the same interval again
    drift           REAL,             -- second half of the timed steps over the first, medians, less 1; NULL: too few
    not_steady      TEXT,             -- why steady is 0
    outliers_mild   INTEGER,          -- steps beyond 1.5 interquartile ranges, see outlier
    outliers_far    INTEGER,          -- steps beyond 3 of them
    first_step_ns   INTEGER,          -- wall time of the segment's very first step, warm-up or not
    first_step_cause TEXT,            -- what of it was longer than in the timed steps; NULL: nothing, or not known
    loss_last       REAL,             -- of the last step; NULL: it has none that is finite
    replicas_agree  INTEGER CHECK (replicas_agree IN (0, 1)) -- all copies of the weights alike, to the bit; NULL: not compared
) STRICT;

-- Every step, none dropped.
CREATE TABLE step (
    segment_id  INTEGER NOT NULL REFERENCES segment (id) ON DELETE CASCADE, -- whose segment
    step        INTEGER NOT NULL, -- index in the run, from 0
    epoch       INTEGER NOT NULL, -- from 0
    warmup      INTEGER NOT NULL CHECK (warmup IN (0, 1)), -- 1: left out of the figures
    start_ns    INTEGER NOT NULL, -- since the run began, monotonic
    wall_ns     INTEGER NOT NULL, -- from start to end on the host clock
    examples    INTEGER NOT NULL, -- rows of all towers together
    loss        REAL,             -- NULL: see loss_status
    loss_status TEXT NOT NULL CHECK (loss_status IN ('ok', 'none', 'nan', 'inf', '-inf')), -- none: simulated
    PRIMARY KEY (segment_id, step)
) STRICT, WITHOUT ROWID;

-- Where one device's time of one step went. Busy: union of a phase's tasks on the device and the links it drives.
-- Exposed: the part of it during which the device's compute queue ran nothing else.
CREATE TABLE step_device (
    segment_id          INTEGER NOT NULL REFERENCES segment (id) ON DELETE CASCADE, -- whose segment
    step                INTEGER NOT NULL, -- index in the run, from 0
    device              TEXT NOT NULL,    -- device name
    finish_ns           INTEGER,          -- from the step's start to the end of its tower's backward; NULL: no tower
    input_busy_ns       INTEGER NOT NULL, -- batch read and moved to the device
    input_exposed_ns    INTEGER NOT NULL, -- of it, with nothing else computing
    fetch_busy_ns       INTEGER NOT NULL, -- weights from their home
    fetch_exposed_ns    INTEGER NOT NULL, -- of it, with nothing else computing
    forward_busy_ns     INTEGER NOT NULL, -- forward, loss and metrics
    forward_exposed_ns  INTEGER NOT NULL, -- of it, with nothing else computing
    backward_busy_ns    INTEGER NOT NULL, -- gradients
    backward_exposed_ns INTEGER NOT NULL, -- of it, with nothing else computing
    join_busy_ns        INTEGER NOT NULL, -- outputs together, their gradients back
    join_exposed_ns     INTEGER NOT NULL, -- of it, with nothing else computing
    sum_busy_ns         INTEGER NOT NULL, -- gradients moved and added, all-reduce
    sum_exposed_ns      INTEGER NOT NULL, -- of it, with nothing else computing
    update_busy_ns      INTEGER NOT NULL, -- clipping and optimizer
    update_exposed_ns   INTEGER NOT NULL, -- of it, with nothing else computing
    wait_busy_ns        INTEGER NOT NULL, -- nothing to run
    wait_exposed_ns     INTEGER NOT NULL, -- of it, with nothing else computing
    PRIMARY KEY (segment_id, step, device)
) STRICT, WITHOUT ROWID;

-- Timed steps that took unusually short or long (Tukey's fences over the timed steps), the 1000 farthest of a segment; the
-- counts in segment_stat are of all. They stay in every figure.
CREATE TABLE outlier (
    segment_id INTEGER NOT NULL REFERENCES segment (id) ON DELETE CASCADE, -- whose segment
    step       INTEGER NOT NULL, -- index in the run, from 0
    side       TEXT NOT NULL CHECK (side IN ('low', 'high')), -- shorter or longer than the others
    far        INTEGER NOT NULL CHECK (far IN (0, 1)), -- 1: beyond 3 interquartile ranges, else beyond 1.5
    ratio      REAL NOT NULL,    -- its wall time over the median
    cause      TEXT,             -- what grew with it, "sum on /cpu:0 +12.3 ms", "throttle: thermal on /gpu:0; ..."; NULL: not known
    PRIMARY KEY (segment_id, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE metric (
    id           INTEGER PRIMARY KEY, -- row number
    segment_id   INTEGER NOT NULL REFERENCES segment (id) ON DELETE CASCADE, -- whose segment
    step         INTEGER NOT NULL,    -- the last step trained before it was taken
    split        TEXT NOT NULL,       -- "train", "test"
    name         TEXT NOT NULL,       -- "accuracy"
    value        REAL,                -- NULL: see value_status
    value_status TEXT NOT NULL CHECK (value_status IN ('ok', 'nan', 'inf', '-inf')) -- what value is, if not a number
) STRICT;
CREATE INDEX metric_segment ON metric (segment_id, step);

-- Tasks of traced steps: those that a script asked for, else one warm-up step a segment (none in plans of over 2000 tasks).
CREATE TABLE task (
    id          INTEGER PRIMARY KEY,          -- row number
    segment_id  INTEGER NOT NULL REFERENCES segment (id) ON DELETE CASCADE, -- whose segment
    step        INTEGER NOT NULL,             -- index in the run, from 0
    device      TEXT NOT NULL,                -- where it ran; of a copy, where it arrived
    queue       TEXT NOT NULL,                -- the device: computing; another: a copy from there; 'collective': all-reduce
    kind        TEXT NOT NULL,                -- "compute", "copy", "reduce", "allreduce", "update"
    phase       TEXT NOT NULL CHECK (phase IN -- what it is for
                    ('input', 'fetch', 'forward', 'backward', 'join', 'sum', 'update', 'wait')),
    name        TEXT NOT NULL,                -- task of the step plan
    start_ns    INTEGER NOT NULL,             -- from the step's start; negative: staged ahead
    duration_ns INTEGER NOT NULL,             -- on its queue
    bytes       INTEGER NOT NULL,             -- moved; 0 for compute
    task        INTEGER,                      -- number in the step, from 0, in the order of being enqueued
    waits_for   TEXT                          -- JSON array: numbers of the tasks that had to end first; NULL: not known
) STRICT;
CREATE INDEX task_segment ON task (segment_id, step);

-- What a device held in a traced step, a row whenever that changes: a buffer counts from the start of the first task that
-- touches it to the end of the last.
CREATE TABLE task_memory (
    segment_id INTEGER NOT NULL REFERENCES segment (id) ON DELETE CASCADE, -- whose segment
    step       INTEGER NOT NULL, -- index in the run, from 0
    device     TEXT NOT NULL,    -- device name
    category   TEXT NOT NULL CHECK (category IN -- what the bytes are held for
                   ('weights', 'replicas', 'gradients', 'slots', 'activations', 'workspace', 'merge',
                    'leftover', 'input')),
    at_ns      INTEGER NOT NULL, -- from the step's start
    bytes      INTEGER NOT NULL, -- from then on
    PRIMARY KEY (segment_id, step, device, category, at_ns)
) STRICT, WITHOUT ROWID;

-- A category's measured peak comes from the traced steps (at least one a segment with warm-up, see task): a buffer counts
-- from the start of the first task that touches it to the end of the last, as they ran; what lasts counts throughout. The
-- planned one goes by the order of tasks, so that queues that run ahead of each other may make the measured one larger.
CREATE TABLE memory (
    segment_id    INTEGER NOT NULL REFERENCES segment (id) ON DELETE CASCADE, -- whose segment
    device        TEXT NOT NULL, -- device name
    category      TEXT NOT NULL CHECK (category IN -- what the bytes are held for
                      ('weights', 'replicas', 'gradients', 'slots', 'activations', 'workspace', 'merge',
                       'leftover', 'input')),
    planned_bytes INTEGER,       -- from the step plan
    peak_bytes    INTEGER,       -- measured, the category's own peak; NULL: no step was traced
    PRIMARY KEY (segment_id, device, category)
) STRICT, WITHOUT ROWID;

-- A device as a whole; categories peak at different moments, so this is not their sum. Measured: what the device gave for
-- the segment's arenas; with MGBENCH_CANARIES set, how far into them anything was ever written.
CREATE TABLE memory_total (
    segment_id     INTEGER NOT NULL REFERENCES segment (id) ON DELETE CASCADE, -- whose segment
    device         TEXT NOT NULL, -- device name
    planned_bytes  INTEGER,       -- from the step plan
    peak_bytes     INTEGER,       -- measured
    capacity_bytes INTEGER,       -- what could have been used
    PRIMARY KEY (segment_id, device)
) STRICT, WITHOUT ROWID;

CREATE TABLE traffic (
    segment_id       INTEGER NOT NULL REFERENCES segment (id) ON DELETE CASCADE, -- whose segment
    from_device      TEXT NOT NULL,    -- where bytes leave
    to_device        TEXT NOT NULL,    -- where they arrive
    bytes_per_step   INTEGER NOT NULL, -- all copies of a step together
    time_per_step_ns INTEGER,          -- the link's copies, mean of the traced steps; NULL: none, or an all-reduce's own
    PRIMARY KEY (segment_id, from_device, to_device)
) STRICT, WITHOUT ROWID;

CREATE TABLE variable (
    id         INTEGER PRIMARY KEY, -- row number
    segment_id INTEGER NOT NULL REFERENCES segment (id) ON DELETE CASCADE, -- whose segment
    name       TEXT NOT NULL,       -- full scope path
    scope      TEXT NOT NULL,       -- the path without its last part
    shape      TEXT NOT NULL,       -- "3x3x1x32"
    type       TEXT NOT NULL,       -- "f32"
    bytes      INTEGER NOT NULL,    -- of this storage
    device     TEXT NOT NULL,       -- where it is stored
    role       TEXT NOT NULL CHECK (role IN ('master', 'replica', 'duplicate', 'leftover', 'slot')), -- why it is there
    storage_id INTEGER NOT NULL     -- equal numbers are the same bytes
) STRICT;
CREATE INDEX variable_segment ON variable (segment_id);

CREATE TABLE duplicate (
    id         INTEGER PRIMARY KEY, -- row number
    segment_id INTEGER NOT NULL REFERENCES segment (id) ON DELETE CASCADE, -- whose segment
    variable   TEXT NOT NULL,       -- full scope path
    twin       TEXT NOT NULL,       -- the variable it copies
    device     TEXT,                -- where the copy is
    bytes      INTEGER NOT NULL,    -- of the copy
    why        TEXT NOT NULL        -- why it counts as one
) STRICT;
CREATE INDEX duplicate_segment ON duplicate (segment_id);

-- State of devices, about once a second.
CREATE TABLE sample (
    id                INTEGER PRIMARY KEY, -- row number
    run_id            INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, -- whose run
    segment_id        INTEGER REFERENCES segment (id) ON DELETE CASCADE, -- NULL: between segments
    device            TEXT NOT NULL,       -- device name
    at_ns             INTEGER NOT NULL,    -- since the run began, monotonic
    clock_khz         INTEGER,             -- of the compute units, kHz
    memory_clock_khz  INTEGER,             -- kHz
    power_mw          INTEGER,             -- milliwatts
    temperature_mc    INTEGER,             -- thousandths of a degree Celsius
    utilisation_ppm   INTEGER,             -- millionths
    memory_used_bytes INTEGER,             -- of the whole device, other processes included
    process_bytes     INTEGER,             -- resident set of this process
    process_peak_bytes INTEGER,            -- the largest it was so far
    throttle          TEXT                 -- reasons, comma separated; '': none
) STRICT;
CREATE INDEX sample_run ON sample (run_id, at_ns);
CREATE INDEX sample_segment ON sample (segment_id);

-- What comparing a configuration with itself showed on a machine (mgbench selftest): differences up to the floor are noise.
CREATE TABLE noise_floor (
    id             INTEGER PRIMARY KEY, -- row number
    machine_id     INTEGER NOT NULL REFERENCES machine (id) ON DELETE CASCADE, -- where
    backend        TEXT NOT NULL,    -- "host", "cuda", "sim"
    measured_ms    INTEGER NOT NULL, -- when
    floor          REAL NOT NULL,    -- a fraction: 0.01 is 1 %
    comparisons    INTEGER NOT NULL, -- of the configuration with itself
    false_verdicts INTEGER NOT NULL, -- of these, how many said faster or slower
    settings       TEXT NOT NULL     -- JSON object: what was run
) STRICT;
CREATE INDEX noise_floor_machine ON noise_floor (machine_id);

CREATE TABLE note (
    id     INTEGER PRIMARY KEY, -- row number
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, -- whose run
    at_ms  INTEGER NOT NULL,    -- when it was written
    text   TEXT NOT NULL        -- what somebody remarked
) STRICT;
CREATE INDEX note_run ON note (run_id);

CREATE TABLE tag (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, -- whose run
    name   TEXT NOT NULL, -- the label
    PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_name ON tag (name);

CREATE TABLE baseline (
    name       TEXT PRIMARY KEY, -- what compare calls it
    segment_id INTEGER NOT NULL REFERENCES segment (id) ON DELETE CASCADE, -- whose segment
    set_ms     INTEGER NOT NULL  -- when it was set
) STRICT, WITHOUT ROWID;
CREATE INDEX baseline_segment_id ON baseline (segment_id);

-- All repetitions a baseline stands for; the one in baseline is among them. Deleting that one takes the name away.
CREATE TABLE baseline_segment (
    name       TEXT NOT NULL REFERENCES baseline (name) ON DELETE CASCADE, -- whose baseline
    segment_id INTEGER NOT NULL REFERENCES segment (id) ON DELETE CASCADE, -- a repetition
    PRIMARY KEY (name, segment_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX baseline_segment_segment ON baseline_segment (segment_id);

CREATE TABLE sweep (
    id            INTEGER PRIMARY KEY AUTOINCREMENT, -- row number
    name          TEXT NOT NULL,                     -- resuming finds points by it
    started_ms    INTEGER NOT NULL,                  -- when it began
    finished_ms   INTEGER,                           -- NULL: not all points were reached
    script        TEXT,                              -- path of the script
    script_digest TEXT,                              -- of its text
    settings      TEXT,                              -- JSON: grid, repeats, what all points share
    order_seed    INTEGER                            -- of the random order of points; NULL: grid order
) STRICT;
CREATE INDEX sweep_name ON sweep (name);

-- A point of a sweep; deleted with the run that measured it, so that resuming measures it again.
CREATE TABLE sweep_point (
    sweep_id        INTEGER NOT NULL REFERENCES sweep (id) ON DELETE CASCADE, -- whose sweep
    point           INTEGER NOT NULL, -- index in grid order, from 0
    repeat          INTEGER NOT NULL, -- from 0
    run_id          INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, -- whose run
    position        INTEGER NOT NULL, -- in the order in which they ran, from 0
    settings        TEXT NOT NULL,    -- JSON object of the grid's values
    settings_digest TEXT NOT NULL,    -- of everything that makes it the same point
    PRIMARY KEY (sweep_id, point, repeat, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sweep_point_run ON sweep_point (run_id);
CREATE INDEX sweep_point_digest ON sweep_point (settings_digest);
