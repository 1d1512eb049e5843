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
ALTER TABLE segment_stat ADD COLUMN replicas_agree INTEGER CHECK (replicas_agree IN (0, 1));
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
-- The columns of its key come first: SQLite 3.40's integrity_check takes others between them for NULL.
ALTER TABLE sweep_point RENAME TO sweep_point_1;
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
INSERT INTO sweep_point (sweep_id, point, repeat, run_id, position, settings, settings_digest)
    SELECT sweep_id, point, repeat, run_id, position, settings, settings_digest FROM sweep_point_1;
DROP TABLE sweep_point_1;
CREATE INDEX sweep_point_run ON sweep_point (run_id);
CREATE INDEX sweep_point_digest ON sweep_point (settings_digest);
-- A table has that name now.
DROP INDEX baseline_segment;
CREATE INDEX baseline_segment_id ON baseline (segment_id);
-- All repetitions a baseline stands for; the one in baseline is among them. Deleting that one takes the name away.
CREATE TABLE baseline_segment (
    name       TEXT NOT NULL REFERENCES baseline (name) ON DELETE CASCADE, -- whose baseline
    segment_id INTEGER NOT NULL REFERENCES segment (id) ON DELETE CASCADE, -- a repetition
    PRIMARY KEY (name, segment_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX baseline_segment_segment ON baseline_segment (segment_id);
