-- Version 2: how measuring ended, steadiness and outliers, what tasks waited for, memory over a traced step, the noise floor.
ALTER TABLE segment ADD COLUMN target_noise REAL;
ALTER TABLE segment ADD COLUMN max_time_ns INTEGER;
ALTER TABLE segment ADD COLUMN stop_reason TEXT CHECK (stop_reason IN ('steps', 'epochs', 'noise', 'time', 'stopped'));
ALTER TABLE segment ADD COLUMN ring_waits INTEGER;
ALTER TABLE segment_stat ADD COLUMN noise REAL;
ALTER TABLE segment_stat ADD COLUMN interval_seed INTEGER;
ALTER TABLE segment_stat ADD COLUMN drift REAL;
ALTER TABLE segment_stat ADD COLUMN not_steady TEXT;
ALTER TABLE segment_stat ADD COLUMN outliers_mild INTEGER;
ALTER TABLE segment_stat ADD COLUMN outliers_far INTEGER;
ALTER TABLE segment_stat ADD COLUMN first_step_ns INTEGER;
ALTER TABLE segment_stat ADD COLUMN first_step_cause TEXT;
ALTER TABLE segment_stat ADD COLUMN loss_last REAL;
ALTER TABLE task ADD COLUMN task INTEGER;
ALTER TABLE task ADD COLUMN waits_for TEXT;
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
CREATE TABLE outlier (
    segment_id INTEGER NOT NULL REFERENCES segment (id) ON DELETE CASCADE, -- whose segment
    step       INTEGER NOT NULL, -- index in the run, from 0
    side       TEXT NOT NULL CHECK (side IN ('low', 'high')), -- shorter or longer than the others
    far        INTEGER NOT NULL CHECK (far IN (0, 1)), -- 1: beyond 3 interquartile ranges, else beyond 1.5
    ratio      REAL NOT NULL,    -- its wall time over the median
    cause      TEXT,             -- what grew with it, "sum on /cpu:0 +12.3 ms", "throttle: thermal on /gpu:0; ..."; NULL: not known
    PRIMARY KEY (segment_id, step)
) STRICT, WITHOUT ROWID;
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
