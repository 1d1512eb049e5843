# What befalls GPUs, in the whole program on fake ones: a lost GPU, one that hangs and a collective that lacks a rank end the
# process, outcome first, and a sweep goes on; without memory the session lives on. Sensors beside the run.
# (reference/ecosystem.md 6.3, rows 40, 43 to 45.)
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
. "$MGB_SOURCE_DIR/tests/app/cli/fake_gpus.sh"
export MGBENCH_DB=r.db MGBENCH_STEP_TIMEOUT=2

newest() {
    ask "select $1 from run order by id desc"
}

# ---- a lost GPU: points with pinned memory lose one when they ask for it ----
cat >sweep.lua <<LUA
mgb.table(mgb.sweep{ name = "lost", model = $small, batch = 4, steps = 5, warmup = 0, backend = "cuda", gpus = 2,
                     grid = { pinned = { true, false } } }, { "pinned", "outcome" })
LUA
command_line='a sweep that loses a GPU'
export FAKE_CUDA_FAIL=cudaHostAlloc:2=719
start --quiet -e sweep.lua
finished
unset FAKE_CUDA_FAIL
same 'exit code' 0 "$code"
same 'outcomes' 'crashed ok' "$(ask "select group_concat(r.outcome, ' ') from (select r.outcome from sweep_point p
    join run r on r.id = p.run_id order by p.point) r" | sed 's/ok crashed/crashed ok/')"
same 'why' 1 "$(ask "select count(*) from run where outcome = 'crashed' and message like '%lost to this process%'")"
same 'nothing still runs' 0 "$(ask "select count(*) from run where outcome = 'running'")"

command_line='a run that loses a GPU in a step'
export FAKE_CUDA_STICKY=cudaLaunchKernel:200=719
start run mlp --quiet --gpus 2 --batch 4 --steps 200 --graph=no
finished
unset FAKE_CUDA_STICKY
same 'exit code' 1 "$code"
same 'outcome' crashed "$(newest outcome)"
same 'names the device' 1 "$(newest "message like '/_pu:_, %'")"

# ---- a GPU that hangs ----
command_line='a GPU that hangs'
export FAKE_CUDA_HANG=cudaLaunchKernel:200
start run mlp --quiet --gpus 2 --batch 4 --steps 200 --graph=no
finished
unset FAKE_CUDA_HANG
same 'exit code' 1 "$code"
same 'outcome' timeout "$(newest outcome)"
same 'message' 1 "$(newest "message like '%did not finish; the last work given to it was %'")"
same 'steps of before are there' 1 "$(ask 'select count(*) > 0 from step where segment_id = (select max(id) from segment)')"

command_line='a GPU that hangs in a replayed step'
export FAKE_CUDA_HANG=cudaGraphLaunch:5
start run mlp --quiet --gpus 2 --batch 4 --steps 200
finished
unset FAKE_CUDA_HANG
same 'exit code' 1 "$code"
same 'outcome' timeout "$(newest outcome)"

# ---- a collective past its deadline ----
command_line='a collective that lacks a rank'
export FAKE_CUDA_HANG=cudaLaunchKernel:60
start run mlp --quiet --gpus 2 --batch 4 --steps 50 --strategy allreduce
finished
unset FAKE_CUDA_HANG
same 'exit code' 1 "$code"
same 'outcome' timeout "$(newest outcome)"
same 'the rank' 1 "$(newest "message like '%; rank _ (/gpu:_) never came to its all-reduce%'")"

# ---- out of memory ----
cat >oom.lua <<LUA
local function try(options)
  local ok, why = pcall(function()
    local s <close> = mgb.session{ model = $small, gpus = 2, batch = options.batch, warmup = 0, backend = "cuda" }
    s:step(2)
  end)
  print(ok, ok or (why:find("out of memory", 1, true) and why:find("/gpu:", 1, true)) and true)
end
try{ batch = 1000000 }
try{ batch = 4 }
LUA
command_line='out of memory'
export FAKE_CUDA_MEMORY=64M
start --quiet -e oom.lua
finished
unset FAKE_CUDA_MEMORY
same 'exit code' 0 "$code"
same 'refused, then well' 'false true true true ' "$(tr '\t\n' '  ' <"$work/out")"

# what a driver lacks of memory without saying how much; what cannot be locked of the host's memory
lacks() { # a variable of the fake, outcome and device and bytes needed, words
    command_line="out of memory by $1"
    export "$1"
    start run mlp --quiet --backend cuda --gpus 2 --batch 4 --steps 2 --graph=no
    finished
    unset "${1%%=*}"
    same 'exit code' 1 "$code"
    same 'stored' "$2" "$(ask "select outcome || ' ' || oom_device || ' ' || coalesce(oom_needed_bytes, '-') from segment
        order by id desc" | tr -d '"')"
    same "'$3'" 1 "$(grep -c "$3" "$work/err")"
}
lacks FAKE_CUDA_MEMORY=1M 'oom /gpu:0 -' 'out of memory on /gpu:0: [^ ]* [KMG]iB available'
lacks FAKE_CUDA_FAIL=cudaHostAlloc:1 'oom /cpu:0 -' 'cudaHostAlloc.*: out of memory on /cpu:0: [^ ]* [KMG]iB available'

# ---- sensors: NVML counts GPUs that CUDA_VISIBLE_DEVICES hides, in another order ----
nvml=$(find "$MGB_BUILD_DIR" -name 'libfake_nvml.so' | head -n 1)
command_line='sensors beside a run'
export MGBENCH_NVML="$nvml" FAKE_CUDA_DEVICES=3 CUDA_VISIBLE_DEVICES=2,0
export FAKE_NVML_CLOCK=1000,1001,1002 FAKE_NVML_POWER=250000 FAKE_NVML_TEMPERATURE=61,62,- FAKE_NVML_REASONS=0x21,0,0x44
export FAKE_NVML_MAX_CLOCK=2000,2000,1500
start run mlp --quiet --gpus 2 --batch 4 --steps 5
finished
same 'exit code' 0 "$code"
same 'each its own' '/gpu:0 1002000 250000 - power,hardware thermal|/gpu:1 1000000 250000 61000 thermal|' \
    "$(for gpu in 0 1; do ask "select device || ' ' || clock_khz || ' ' || power_mw || ' ' || coalesce(temperature_mc, '-') ||
    ' ' || throttle || '|' from sample where device = '/gpu:$gpu' and run_id = (select max(id) from run)" | tr -d '"\n'; done)"
same 'as the driver counts them' '2,0' \
    "$(ask "select group_concat(driver_index) from (select * from device where kind = 'cuda' order by name)" | tr -d '"')"
same 'throttled, not empty' 5 "$(ask "select count(*) from step s join segment g on g.id = s.segment_id where s.warmup = 0
    and g.run_id = (select max(id) from run)")"
same 'unlike ones' 1 "$(ask "select count(*) from note where run_id = (select max(id) from run)
    and text like '%are not alike, clock differs by 33 %the slower one holds the others up [unlike]'")"
same 'the doctor finds them' 0 "$("$MGBENCH" doctor 2>&1 | grep -c 'gpu sensors')"
export MGBENCH_NVML="$work/none.so"
same 'or says why not' 1 "$("$MGBENCH" doctor 2>&1 | grep -c "gpu sensors .*/gpu:0: no sensors: $work/none.so cannot be loaded")"
start run mlp --quiet --gpus 2 --batch 4 --steps 2
finished
same 'without the library' '0 0' "$code $(ask "select count(*) from sample where device like '/gpu%' and run_id =
    (select max(id) from run)")"

finish
