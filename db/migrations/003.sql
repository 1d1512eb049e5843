-- Version 3: GPUs as their driver numbers them; peer access, tried against copies by way of the host.
ALTER TABLE device ADD COLUMN driver_index INTEGER;
ALTER TABLE device ADD COLUMN clock_mhz INTEGER;
ALTER TABLE link ADD COLUMN peer_verdict TEXT CHECK (peer_verdict IN ('good', 'slow', 'bad', 'refused'));
ALTER TABLE link ADD COLUMN peer_gbps REAL;
ALTER TABLE link ADD COLUMN peer_latency_ns INTEGER;
ALTER TABLE link ADD COLUMN staged_gbps REAL;
ALTER TABLE link ADD COLUMN staged_latency_ns INTEGER;
