# CPU threads a device: where they differ between what is compared, the figures say so.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db

# Without a word about threads a device gets the cores divided by the devices; here the same is asked for, on any machine.
cat >grid.lua <<LUA
return { name = "grid", model = "mlp", batch = 4, steps = 6, warmup = 1, repeats = 2, backend = "host",
         grid = { gpus = { 1, 2 }, threads = { 1, 2 } }, skip = function(p) return p.gpus == p.threads end }
LUA
command_line='a sweep with unlike threads'
mgbench --quiet sweep grid.lua >out 2>err || same 'exit code' 0 $?
same 'threads are told apart' 1 "$(grep -c '^note: gpus=2 threads=1: the one-GPU baseline ran 2 threads a device, these 1: give threads = 1 to all$' out)"
same 'the rule is named' 1 "$(grep -c "^step_ms: mean of the repetitions' medians; examples_per_s: examples a step / step_ms\$" out)"

same 'the answer' 1 "$(grep -Ec '^Fastest: gpus=[12] threads=[12], [0-9.e-]+ ms an example; (ahead of|not told apart from:) gpus=[12] threads=[12]' out)"
mgbench compare sweep:grid | head -n 1 >first
same 'the same as of compare' "$(cat first)" "$(grep '^Fastest: ' out)"

sed 's/threads = { 1, 2 } }, skip.*/cpu_merge = { true, false } }, threads = 1 }/' grid.lua >alike.lua
command_line='a sweep with like threads'
mgbench --quiet sweep alike.lua --fresh >out 2>err || same 'exit code' 0 $?
same 'no remark on threads' 0 "$(grep -c 'baseline ran' out)"

command_line='a report'
mgbench report page sweep:grid >/dev/null 2>err || same 'exit code' 0 $?
same 'its answer' 1 "$(grep -c '<p>Fastest: .*merge /[cg]pu:0, .* ms; \(ahead of\|not told apart from:\) ' page/index.html)"

# A picture of the rate shows what the table does: a point's examples by the mean of its medians, no mean of rates. A median
# is kept in whole nanoseconds.
command_line='one figure'
cat >figure.lua <<LUA
local rows = mgb.sweep{ name = "one", model = "mlp", batch = 4, steps = 6, warmup = 1, repeats = 2, backend = "host", threads = 1,
                        grid = { gpus = { 1, 2 } } }
local mean = (rows[1].step_ms.median + rows[2].step_ms.median) / 2
print(math.abs(rows[1].over.step_ms / mean - 1) < 1e-4, math.abs(rows[1].over.examples_per_s / (4 * 1000 / mean) - 1) < 1e-4,
      rows[1].examples_per_s == 4 * 1000 / rows[1].step_ms.median)
LUA
same 'the mean of medians' 'true	true	true' "$(mgbench --quiet -e figure.lua)"

# Above what GPUs can give, whatever the reason.
command_line='an efficiency above 1'
mgbench --quiet -e 'mgb.table({ { gpus = 2, efficiency = 1.2 }, { gpus = 4, efficiency = 1.04 } }, { "gpus", "efficiency" })' >out
same 'is doubted' 1 "$(grep -c '^note: gpus=2: efficiency above 1.05 is more than ideal: look for ' out)"
same 'is all that is' 4 "$(grep -c . out)"

finish
