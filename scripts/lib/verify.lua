-- mgb.verify: do two placements train the same? Both are stepped side by side, and compared after every step.
local mgb, _, host = ...

-- What design promises where arithmetic is in another order: across strategies and numbers of towers.
local rounding, rounding_of_weights = 1e-5, 1e-4

local verdict_type = {}

-- Two losses with as many digits as tell them apart.
local function losses_text(a, b)
  local x, y = ("%.6g"):format(a), ("%.6g"):format(b)
  if x == y and a ~= b then x, y = ("%.17g"):format(a), ("%.17g"):format(b) end
  return x, y
end

local function same_text(v)
  if v.bitwise then return ("the same to the last bit over %d steps"):format(v.steps) end
  local weights = v.digest_a == v.digest_b and "weights equal to the last bit" or
    "largest difference of a weight " .. host.number_text(v.weight_difference)
  if v.verdict == "rounding" then
    return ("the same to rounding over %d steps: losses differ by at most %s (relative), %s; across strategies and numbers of " ..
      "towers %s is promised, to the last bit only within one"):format(v.steps, host.number_text(v.difference), weights,
      host.number_text(rounding))
  end
  return ("equal within %s over %d steps (largest relative difference %s, %s)"):format(host.number_text(v.tolerance), v.steps,
    host.number_text(v.difference), weights)
end

local function different_text(v)
  local a, b = losses_text(v.losses_a[v.first_step + 1], v.losses_b[v.first_step + 1])
  local weights = v.digest_a == v.digest_b and "weights equal to the last bit" or
    ("largest difference of a weight %s%s"):format(host.number_text(v.weight_difference),
      v.variable and " in " .. v.variable or "")
  return ("different from step %d on: loss %s against %s, %s"):format(v.first_step, a, b, weights)
end

function verdict_type.__tostring(v)
  local text = v.equal and same_text(v) or different_text(v)
  if v.diverged_step then
    text = text .. ("; both diverged: from step %d on no loss is a number"):format(v.diverged_step)
  end
  if v.batch_a ~= v.batch_b then
    text = text .. ("; the global batches differ, %d against %d examples a step: the two see different data")
      :format(v.batch_a, v.batch_b)
  end
  if v.statistics then
    text = text .. ("; '%s' is of a batch norm, and with bn = \"tower\" every tower normalises by its own rows: %d and %d towers " ..
      "differ by that alone, with bn = \"sync\" on both sides they do not"):format(v.statistics, v.towers_a, v.towers_b)
  end
  return text
end

local function side_open(name, common, given)
  local all = {}
  for key, value in pairs(common) do all[key] = value end
  for key, value in pairs(given) do all[key] = value end
  local what = "mgb.verify: " .. name
  local s = host.prepare(what, host.options_check(what, all), all, 0)
  if s.request.machine then
    host.fail("mgb.verify: a simulated run has no values to compare; CPU devices train the same: backend = \"host\"")
  end
  s.request.tag = "verify" -- two that take turns and are looked at after every step: their times are no evidence
  local ok, status, message = host.open_prepared(s)
  if not ok then host.raise(status, message) end
  return s
end

local function is_number(x) return x == x and math.abs(x) < math.huge end

local function relative(x, y)
  if x == y or not (is_number(x) or is_number(y)) then return 0 end -- both diverged
  return math.abs(x - y) / math.max(math.abs(x), math.abs(y))
end

local function loss_same(x, y) return x == y or x ~= x and y ~= y end

local function side_step(s, index)
  local figures, status, message = s.session:step(1, 0, host.rates(s.schedule, index, 1), 0)
  if not figures then host.raise(status, message) end
  return figures.losses[1], s.session:digest()
end

-- Whether only the order of sums differs by design: neither strategy nor number of towers is the same.
local function order_differs(a, b)
  local _, x = a.session:placement()
  local _, y = b.session:placement()
  return x.strategy ~= y.strategy or a.session:facts().gpus ~= b.session:facts().gpus
end

-- A statistic that steps move, where the towers of the two sides do not normalise by the same rows.
local function statistics_differ(a, b)
  local towers, others = a.session:facts().gpus, b.session:facts().gpus
  local _, x = a.session:placement()
  local _, y = b.session:placement()
  local whole_a, whole_b = towers <= 1 or x.bn == "sync", others <= 1 or y.bn == "sync"
  if whole_a and whole_b or towers == others and not whole_a and not whole_b then return nil end
  for _, variable in ipairs(a.session:variables()) do
    if variable.moving then return variable.name end
  end
end

-- Steps both sides once and compares them.
local function step_compare(v, a, b, index)
  local x, y
  x, v.digest_a = side_step(a, index)
  y, v.digest_b = side_step(b, index)
  v.losses_a[index + 1], v.losses_b[index + 1] = x, y
  local difference, same = relative(x, y), v.digest_a == v.digest_b and loss_same(x, y)
  if not (difference <= v.difference) then v.difference = difference end -- a NaN stays
  if not is_number(x) and not is_number(y) then v.diverged_step = v.diverged_step or index end
  v.bitwise = v.bitwise and same
  if not same and not (difference <= v.tolerance and v.tolerance > 0) then v.first_step = v.first_step or index end
end

-- { equal =, bitwise =, verdict = ("bits", "tolerance", "rounding", "different"), first_step = (from 0), difference = (relative,
--   of a loss), weight_difference =, variable =, losses_a =, losses_b =, digest_a =, digest_b =, batch_a =, batch_b =,
--   diverged_step =, statistics = (of a batch norm by tower, when that makes them different) }. `tolerance` 0 asks for equality to the last bit, which is promised within one strategy and number of
-- towers; across them, equal to rounding counts as equal.
function mgb.verify(options)
  local o = host.options_check("mgb.verify", options,
    { a = "table!", b = "table!", steps = "positive", tolerance = "amount" })
  local common = {}
  for key, value in pairs(options) do
    if key ~= "a" and key ~= "b" and key ~= "steps" and key ~= "tolerance" then common[key] = value end
  end
  local a = side_open("a", common, o.a)
  local b = side_open("b", common, o.b)
  local v = setmetatable({ steps = o.steps or 20, tolerance = o.tolerance or 0, bitwise = true, difference = 0, losses_a = {},
    losses_b = {}, batch_a = a.session:facts().global_batch, batch_b = b.session:facts().global_batch }, verdict_type)
  for i = 0, v.steps - 1 do step_compare(v, a, b, i) end
  v.weight_difference, v.variable = a.session:difference(b.session)
  v.verdict = v.bitwise and "bits" or not v.first_step and "tolerance" or "different"
  if v.verdict == "different" and o.tolerance == nil and v.batch_a == v.batch_b and order_differs(a, b) and
     v.difference <= rounding and (v.digest_a == v.digest_b or v.weight_difference <= rounding_of_weights) then
    v.verdict = "rounding"
  end
  v.equal = v.verdict ~= "different"
  if not v.equal then
    v.statistics, v.towers_a, v.towers_b = statistics_differ(a, b), a.session:facts().gpus, b.session:facts().gpus
  end
  a.session:close()
  b.session:close()
  return v
end
