-- What mgbench sweep makes of a file that gives back a table: the sweep that it describes, and its table. Called with a
-- function that refuses, what C and the Lua parts lend each other, and what the file gave back.
local _, host, value = ...

if type(value) ~= "table" or getmetatable(value) ~= nil or value.grid == nil then return end

local options = {}
for name, option in pairs(value) do options[name] = option end
-- Simulated repetitions are equal.
local simulated = value.machine ~= nil or value.backend == "sim" or (value.backend == nil and host.machine ~= nil)
options.repeats = options.repeats or simulated and 1 or 5
local rows = mgb.sweep(options)

local columns = host.sweep_keys(options.grid)
for _, name in ipairs{ "step_ms", "examples_per_s", "speedup", "speedup_low", "speedup_high", "efficiency", "verdict", "outcome" } do
  if options.repeats > 1 or not (name == "verdict" or name:find("^speedup_")) then columns[#columns + 1] = name end
end
mgb.table(rows, columns)
if not host.is_text or rows[1] == nil or rawget(rows[1], "planned") then return end

-- Under the table: the answer, what its words mean, and why a cell has none.
local answer = host.rows_rank(rows)
if answer ~= "" then print(answer) end
if options.repeats == 1 and not simulated then print("One repetition a cell: intervals of speed-ups and verdicts need repeats = 5.") end
print("speedup: time an example of the baseline (one GPU, same batch) / of the cell; efficiency: speedup / GPUs")
local told, floor, source = {}, nil, nil
for _, row in ipairs(rows) do
  local over = row.over
  if over and over.floor and over.floor > (floor or 0) then floor, source = over.floor, over.floor_source end
  if over and over.reason and not told[row.label] then
    told[row.label] = true
    print(("  %s: %s"):format(row.label, over.reason))
  end
end
if floor then
  print(("[low, high]: 95 %%; differences up to %s %% count as none%s"):format(host.number_text(100 * floor),
        floor > 0.01 and ": noise floor " .. source or ""))
end
