# A point of a sweep that an earlier process made is a result like any other: digest, losses, memory, traffic and all that is
# stored. What a schedule or a function of the script closes over makes another point. A crashed point counts for nothing.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"

# The experiment, killed in its third point, goes on to the end and finds the same weights.
points_begun() {
    [ "$(ask "select count(*) = 3 and (select count(*) from step s join segment g on g.id = s.segment_id
        where g.run_id = (select max(id) from run)) > 6 from run" p.db)" = 1 ]
}
command_line='placement.lua, killed in its third point'
export MGBENCH_FAULT=slow:/gpu:1:us=100
start --quiet --db p.db --backend host -e "$MGB_SOURCE_DIR/scripts/experiments/placement.lua" --model digits_cnn \
    --data digits --steps 150
unset MGBENCH_FAULT
until_true 60 points_begun
kill -9 "$(ask 'select pid from run order by id desc' p.db)"
finished
same 'exit code' 0 "$code"
same 'taken from before' 1 "$(grep -c '^Taken from an earlier run: gpus=1 .*; gpus=2 cpu_relocation=no cpu_merge=yes; ' "$work/out")"
same 'weights compared' 1 "$(grep -c '^3 placements on 2 GPUs trained the same weights' "$work/out")"
same 'crashed row without speed-up' 1 "$(grep -c '^ *2 .* - .*crashed$' "$work/out")"
same 'what bounds it' 1 "$(grep -c ' it is [a-z]* bound\.$' "$work/out")"
same 'digests' '4 4 1' "$(ask "select count(*) || ' ' || count(digest) || ' ' || count(distinct case gpus when 2 then digest end)
    from segment where outcome = 'ok'" p.db)"

# A row that is taken up again has every field of the row that was made, by value.
cat >same.lua <<'LUA'
local function show(v)
  if type(v) ~= "table" then return type(v) == "number" and ("%.6g"):format(v) or tostring(v) end
  local parts = {}
  for key, field in pairs(v) do parts[#parts + 1] = tostring(key) .. "=" .. show(field) end
  table.sort(parts)
  return "{" .. table.concat(parts, " ") .. "}"
end
local alike
function alike(a, b) -- times are stored in whole nanoseconds
  if type(a) == "number" and type(b) == "number" then return a == b or math.abs(a - b) <= 1e-5 * math.abs(a) end
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, field in pairs(a) do if not alike(field, b[key]) then return false end end
  for key in pairs(b) do if a[key] == nil then return false end end
  return true
end
local function sweep()
  return mgb.sweep{ name = "same", model = "digits_cnn", data = mgb.data.digits(), steps = 8, warmup = 2, resume = true,
    grid = { gpus = { 1, 2 }, strategy = { "outputs", "allreduce" }, batch = { 8, 4000000 } }, gpu_memory = "256MiB",
    optimizer = mgb.sgd{ lr = 0.01, schedule = function(step) return 0.01 / (step + 1) end } }
end
local first, second = sweep(), sweep()
local of_process = { resumed = true, first_phase = true }
for i, row in ipairs(first) do
  local again, names = second[i], { losses = true }
  assert(not row.resumed and again.resumed, "row " .. i .. " was not resumed")
  for name in pairs(row) do names[name] = true end
  for name in pairs(names) do
    local a, b = row[name], again[name]
    if name == "memory" then for _, use in pairs(a) do use.held = nil end end
    if not of_process[name] and not alike(a, b) then error(("%s: %s: %s, then %s"):format(row.label, name, show(a), show(b))) end
  end
  print(row.outcome, row.run_id ~= nil, row.outcome == "oom" and row.oom.device or #again.losses)
end
local ok, message = pcall(second[1].evaluate, second[1], mgb.data.digits())
print(ok, message)
LUA
expect 0 "$(printf 'ok\ttrue\t10\nok\ttrue\t10\noom\ttrue\t/gpu:0\noom\ttrue\t/gpu:0\nok\ttrue\t10\nok\ttrue\t10\noom\ttrue\t/gpu:0\noom\ttrue\t/gpu:0
false\tsame.lua:34: evaluate: this run was made earlier: its figures are in the database, its weights are gone')" '' \
    mgbench --quiet --db s.db --backend host -e same.lua

# Other rates, other data: other points. The same rates by another function: the same point.
cat >stale.lua <<'LUA'
local o = mgb.options{ lr = 0.1, scale = 1.0, other = false }
local lr, scale, cut = o.lr, { by = { o.scale } }, math.floor
local function shrink(x) return cut(x * 4) / 4 * scale.by[1] end
local rows = mgb.sweep{ name = "stale", model = "digits_cnn", steps = 2, warmup = 0, batch = 4, resume = true, grid = { gpus = { 1 } },
  data = mgb.data.map(mgb.data.digits(), function(row)
    for i, x in ipairs(row.image) do row.image[i] = shrink(x) end
    return row
  end),
  optimizer = mgb.sgd{ schedule = o.other and function() return o.lr end or function(step) return step >= 0 and lr or 0 end } }
print(rows[1].resumed)
LUA
for try in 'false' 'true' 'false --lr 0.2' 'true --lr 0.2' 'false --scale 2' 'true --scale 2' 'true --other'; do
    # shellcheck disable=SC2086
    expect 0 "${try%% *}" '' mgbench --quiet --db s.db --backend host -e stale.lua ${try#"${try%% *}"}
done

# What cannot be compared is run again, and said.
cat >doubt.lua <<'LUA'
local counter = setmetatable({}, { __index = function() return 0 end })
local rows = mgb.sweep{ name = "doubt", model = "digits_cnn", steps = 2, warmup = 0, batch = 4, resume = true, grid = { gpus = { 1, 2 } },
  data = mgb.data.map(mgb.data.digits(), function(row) row.label = row.label + counter.x return row end) }
print(rows[1].resumed, rows[2].resumed)
LUA
for try in 1 2; do
    command_line="doubt.lua, $try"
    start --db s.db --backend host -e doubt.lua
    finished
    same 'exit code' 0 "$code"
    same 'rows' "$(printf 'false\tfalse')" "$(cat "$work/out")"
    same 'told' "mgbench: warning: mgb.sweep 'doubt': gpus=1: points are run again, for they cannot be compared with those of before: mgb.data.map: 'counter' is a table, which has no value to compare [resume]" \
        "$(grep warning "$work/err")"
done

finish
