# A loss that is no number any more is shown as such, told once, stored by its name, and found again by a resumed sweep.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
cat >diverged.lua <<'LUA'
local function sweep()
  return mgb.sweep{ name = "diverged", model = "mlp", steps = 6, warmup = 0, batch = 4, resume = true, grid = { gpus = { 1 } },
                    optimizer = mgb.sgd{ lr = 1e30 } }[1]
end
for _, row in ipairs{ sweep(), sweep() } do
  print(row.resumed, row.outcome, row.loss ~= nil and row.loss ~= row.loss, #row.losses, row.losses[6] ~= row.losses[6])
end
local r = mgb.run{ model = "mlp", steps = 6, warmup = 0, batch = 4, optimizer = mgb.sgd{ lr = 1e30 } }
print(r.loss ~= nil and r.loss ~= r.loss, r:evaluate(mgb.data.random{}).loss ~= nil)
LUA
command_line='a diverged run'
start --db r.db --backend host -e diverged.lua
finished
same 'exit code' 0 "$code"
same 'losses' "$(printf 'false\terror\ttrue\t6\ttrue\ntrue\terror\ttrue\t6\ttrue\ntrue\ttrue')" "$(cat "$work/out")"
same 'told once a run' 2 "$(grep -c 'loss is not finite from step' "$work/err")"
same 'and nothing else' 2 "$(grep -v '^repeat with' "$work/err" | grep -c .)"
same 'a cell that failed, with why' 'error: loss is not finite from step 1 on: it is not a number' "$(ask "select outcome || ': ' || message from run where id = 1")"
same 'stored' 'nan' "$(ask "select loss_status from step where segment_id = 1 order by step desc limit 1")"
command_line='a diverged run, in a table'
expect 0 'loss' '' sh -c "\"$MGBENCH\" run mlp --backend host --steps 4 --lr 1e30 --json --quiet --db r.db | grep -o loss"

finish
