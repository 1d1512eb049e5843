-- Placements of a model that differ in effect, predicted on a simulated machine, the fastest first: what mgbench predict shows and
-- mgb.best chooses from. Nothing is run and nothing stored.
local _, _, host = ...

local draws = 100 -- of the machine, for intervals and for which placement is better
local seed = 1    -- of the draws
local sure = 0.9  -- of the draws a placement wins to be called better (reference/simulation.md 5.4)
-- Where a machine file says nothing: published predictions for GPUs that were not measured are 12 to 15 % off (reference/
-- simulation.md, what is reached). The same is taken of wires and the host.
local doubt_default = 0.15

local columns = { "strategy", "weights_at", "join_at", "sum_at", "update_at", "allreduce", "overlap", "predicted_ms", "low_ms", "high_ms",
                  "examples_per_s", "gpu_mib", "verdict", "memory" }
local placed = { "strategy", "weights_at", "join_at", "sum_at", "update_at", "allreduce", "overlap" }

-- Values to try of an option: none but what was given, where something that decides it was.
local function axis(given, names, values)
  for _, name in ipairs(names) do
    if given[name] ~= nil then return { false } end -- as it is
  end
  return values
end

local on_cpu, first, spread = "/cpu:0", "/gpu:0", "spread"

-- Where towers meet, by weights: { weights_at =, [merge] =, update_at = }, updated where the weights live or where gradients are
-- summed.
local function places_list(list, given, strategy, merge, weights, merges)
  local update = axis(given, { "update_at" }, { false, true })
  for _, w in ipairs(weights) do
    for _, m in ipairs(merges) do
      for _, apart in ipairs(update) do
        if not apart or m and w ~= m and m ~= spread then
          list[#list + 1] = { strategy = strategy, weights_at = w or nil, [merge] = m or nil, update_at = apart and m or nil }
        end
      end
    end
  end
end

-- What to set beside what was given: a list of options by name. Towers of `like` stand where that system has them.
local function candidates_list(given, s, machine)
  if given.like ~= nil then return { {} } end
  local list, several = {}, s.request.placement:towers() > 1
  local ids = type(given.gpus) == "table" and given.gpus or {}
  first = "/gpu:" .. (ids[1] or 0)
  local weights = axis(given, { "weights_at", "cpu_relocation" }, several and { on_cpu, first, spread } or { on_cpu, first })
  for _, strategy in ipairs(given.strategy and { given.strategy } or several and { "outputs", "gradients", "allreduce" } or
                              { "outputs" }) do -- with one tower, outputs and gradients are the same work
    if strategy == "allreduce" then
      for _, algorithm in ipairs(axis(given, { "allreduce" }, machine.nodes > 1 and { "ring", "tree", "hierarchical" } or { "ring", "tree" })) do
        for _, overlap in ipairs(axis(given, { "overlap" }, { "yes", "no" })) do
          list[#list + 1] = { strategy = strategy, allreduce = algorithm or nil }
          if overlap then list[#list].overlap = overlap == "yes" end
        end
      end
    elseif strategy == "outputs" or strategy == "gradients" then
      local outputs = strategy == "outputs"
      local fixed = outputs and { "merge_at", "cpu_merge", "join_at", "loss_at", "sum_at" } or { "merge_at", "cpu_merge", "sum_at" }
      places_list(list, given, strategy, outputs and "merge_at" or "sum_at", weights,
                  axis(given, fixed, (outputs or not several) and { on_cpu, first } or { on_cpu, first, spread }))
    else
      list[#list + 1] = { strategy = strategy }
    end
  end
  return list
end

-- The request with options on top of what was asked.
function host.request_with(what, s, options)
  local request = {}
  for key, value in pairs(s.request) do request[key] = value end
  request.placement = host.placement_fill(what, s.request.placement:copy(), options)
  return request
end

local function effect_text(effective)
  local parts = {}
  for _, name in ipairs(host.placement_options) do
    if name ~= "cpu_merge" and name ~= "cpu_relocation" and name ~= "merge_at" and name ~= "like" then
      local value = effective[name]
      parts[#parts + 1] = name .. "=" .. (type(value) == "table" and table.concat(value, ",") or tostring(value))
    end
  end
  return table.concat(parts, " ")
end

local function gpu_bytes(devices)
  local most
  for _, d in ipairs(devices) do
    if d.device:find("gpu") and d.planned > (most or -1) then most = d.planned end
  end
  return most
end

local function row_make(player, options, play)
  local effective = player:placement()
  local ns, devices = play(player)
  local fits, why = player:admit()
  local row = { placement = options, effective = effective, fits = fits, message = not fits and why or nil, backend = "sim", simulated = true,
                memory = fits and "fits" or "out of memory" .. (why:match(" on /%S+%d") or ""),
                gpu_mib = gpu_bytes(devices) and gpu_bytes(devices) / 2^20 }
  for _, name in ipairs(placed) do row[name] = effective[name] end
  if fits then
    row.predicted_ms = ns / 1e6
    row.examples_per_s = effective.global_batch * 1e9 / ns
    row.devices = devices
  end
  return row
end

-- A row a placement that differs in effect, and the players beside them. What cannot be planned is left out, unless nothing can.
local function rows_make(candidates, make, play)
  local rows, players, seen, fault = {}, {}, {}, nil
  for _, options in ipairs(candidates) do
    local ok, player = pcall(make, options)
    local effect = ok and effect_text(player:placement())
    if not ok then
      fault = fault or player
    elseif not seen[effect] then
      seen[effect] = true
      local row = row_make(player, options, play)
      rows[#rows + 1], players[row] = row, player
    end
  end
  if #rows == 0 and fault then error(fault, 0) end
  return rows, players
end

local function rows_sort(rows)
  local rank = {}
  for i, row in ipairs(rows) do rank[row] = i end
  table.sort(rows, function(a, b)
    local x, y = a.predicted_ms or math.huge, b.predicted_ms or math.huge
    if x ~= y then return x < y end
    return rank[a] < rank[b]
  end)
end

-- The middle 95 % of the draws, and against the best: in how many it loses.
local function rows_judge(rows, samples)
  local best, tie = samples[rows[1]], false
  for _, row in ipairs(rows) do
    local own = samples[row]
    if own then
      local sorted, lost, even = table.move(own, 1, #own, 1, {}), 0, true
      for i, ns in ipairs(own) do
        if best[i] < ns then lost = lost + 1 end
        even = even and best[i] == ns
      end
      table.sort(sorted)
      local edge = math.max(1, #own // 40)
      row.low_ms, row.high_ms = sorted[edge] / 1e6, sorted[#own + 1 - edge] / 1e6
      row.loses = lost / #own
      row.verdict = row.loses >= sure and "slower" or "tie"
      tie = tie or row ~= rows[1] and row.verdict == "tie"
    else
      row.verdict = "-"
    end
  end
  if best then rows[1].verdict = tie and "tie" or "best" end
end

host.ranking_candidates, host.ranking_rows, host.ranking_sort = candidates_list, rows_make, rows_sort

local ranking_type = {}
ranking_type.__index = ranking_type

local function share_text(share) return ("%.3g %%"):format(100 * share) end

local function winner_text(rows)
  local ties = 0
  for _, row in ipairs(rows) do ties = ties + (row.verdict == "tie" and 1 or 0) end
  if not rows[1].predicted_ms then return "no placement fits into memory" end
  if ties > 1 then
    return ("tie: %d placements, of which none is faster than the others in %s of %d draws"):format(ties, share_text(sure), rows.draws)
  end
  return ("best: the first, in %s of %d draws or more against each other one"):format(share_text(sure), rows.draws)
end

function ranking_type.__tostring(rows)
  return ("simulated %s: %s on %d GPU%s, global batch %d; predictions, nothing is measured\n" ..
          "figures of the machine drawn %d times, off by %s: %s\n%s")
    :format(rows.machine.name, rows.model, rows.gpus, rows.gpus == 1 and "" or "s", rows.global_batch, rows.draws, share_text(rows.doubt),
            rows.doubt_given and "uncertainty of its file" or "it gives none, and published predictions for new GPUs are so far off",
            winner_text(rows))
end

-- Options as of mgb.run, and a machine; all GPUs of it unless others are given. Rows the fastest first, those out of memory last:
-- the placement in effect, predicted_ms, low_ms, high_ms, examples_per_s, gpu_mib, memory, verdict, and `placement`, the options.
function host.ranking_make(what, given)
  local own = {}
  for name, kind in pairs(host.run_options) do own[name] = kind end
  local o, all = host.options_check(what, given, own), {}
  for key, value in pairs(given or {}) do all[key] = value end
  local _, machine = host.machine_of(what, o.backend, o.machine)
  if not machine then host.fail(what .. ": machine: table, name or file of a machine expected, got nil") end
  if all.gpus == nil then all.gpus, o.gpus = machine.gpus, machine.gpus end
  local s = host.prepare(what, o, all, 0)
  local rows, players = rows_make(candidates_list(all, s, machine), function(options) return host.player(host.request_with(what, s, options)) end,
                                  function(player) return player:play(machine, s.seed) end)
  rows_sort(rows)
  local uncertainty = select(8, host.machine_facts(machine))
  local doubt = uncertainty > 0 and uncertainty or doubt_default
  local doubts, samples = { compute = doubt, wires = doubt, host = doubt }, {}
  for i, row in ipairs(rows) do
    if row.fits then
      host.progress(("predicting placement %d of %d"):format(i, #rows))
      samples[row] = {}
      for n = 0, draws - 1, 10 do
        table.move(players[row]:varied(machine, doubts, seed, n, 10), 1, 10, n + 1, samples[row])
      end
    end
  end
  host.progress("")
  rows.machine, rows.model, rows.draws, rows.doubt, rows.doubt_given = machine, s.model, draws, doubt, uncertainty > 0
  rows.gpus, rows.global_batch = s.request.placement:towers(), rows[1].effective.global_batch
  rows.columns, rows.prepared = columns, s
  rows_judge(rows, samples)
  return setmetatable(rows, ranking_type)
end
