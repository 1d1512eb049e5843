-- mgb.verify: do two placements train the same? Both are stepped side by side, and compared after every step.
local mgb, _, host = ...

local verdict_type = {}

function verdict_type.__tostring(v)
  if v.equal and v.bitwise then return ("the same to the last bit over %d steps"):format(v.steps) end
  if v.equal then return ("equal within %s over %d steps (largest relative difference %s)"):format(
    host.number_text(v.tolerance), v.steps, host.number_text(v.difference)) end
  return ("different from step %d on: loss %s against %s, largest difference of a weight %s%s"):format(v.first_step,
    host.number_text(v.losses_a[v.first_step + 1]), host.number_text(v.losses_b[v.first_step + 1]),
    host.number_text(v.weight_difference), v.variable and " in " .. v.variable or "")
end

local function side_open(name, common, given)
  local all = {}
  for key, value in pairs(common) do all[key] = value end
  for key, value in pairs(given) do all[key] = value end
  local what = "mgb.verify: " .. name
  local s = host.prepare(what, host.options_check(what, all), all, 0)
  local ok, status, message = host.open_prepared(s)
  if not ok then host.raise(status, message) end
  return s
end

local function relative(x, y)
  local largest = math.max(math.abs(x), math.abs(y))
  if largest == 0 then return 0 end
  return math.abs(x - y) / largest
end

local function side_step(s, index)
  local figures, status, message = s.session:step(1, 0, host.rates(s.schedule, index, 1), 0)
  if not figures then host.raise(status, message) end
  return figures.losses[1], s.session:digest()
end

-- { equal =, bitwise =, first_step = (from 0), difference = (relative, of a loss), weight_difference =, variable =,
--   losses_a =, losses_b =, digest_a =, digest_b = }. `tolerance` 0 asks for equality to the last bit.
function mgb.verify(options)
  local o = host.options_check("mgb.verify", options,
    { a = "table!", b = "table!", steps = "positive", tolerance = "amount" })
  local common, steps, tolerance = {}, o.steps or 20, o.tolerance or 0
  for key, value in pairs(options) do
    if key ~= "a" and key ~= "b" and key ~= "steps" and key ~= "tolerance" then common[key] = value end
  end
  local a = side_open("a", common, o.a)
  local b = side_open("b", common, o.b)
  local v = setmetatable({ steps = steps, tolerance = tolerance, bitwise = true, difference = 0, losses_a = {}, losses_b = {} },
                         verdict_type)
  for i = 1, steps do
    v.losses_a[i], v.digest_a = side_step(a, i - 1)
    v.losses_b[i], v.digest_b = side_step(b, i - 1)
    local difference = relative(v.losses_a[i], v.losses_b[i])
    local same = v.digest_a == v.digest_b and v.losses_a[i] == v.losses_b[i]
    v.bitwise = v.bitwise and same
    if difference ~= difference or difference > v.difference then v.difference = difference end
    if not v.first_step and not (tolerance == 0 and same or tolerance > 0 and difference <= tolerance) then
      v.first_step = i - 1
    end
  end
  v.equal = v.first_step == nil
  v.weight_difference, v.variable = a.session:difference(b.session)
  a.session:close()
  b.session:close()
  return v
end
