-- What the scenarios share: running rows by name, comparing, small models and data. A row is
--     { "K1", "what is expected", function() ... end }
-- and the first one that goes wrong ends the script with its name.
local S = {}

function S.rows(rows)
  for _, row in ipairs(rows) do
    local ok, message = pcall(row[3])
    if not ok then error(("row %s: %s: %s"):format(row[1], row[2], message), 0) end
    print(("row %-4s %s"):format(row[1], row[2]))
  end
end

function S.equal(got, wanted, what)
  if got ~= wanted then error(("%s is %s, expected %s"):format(what, tostring(got), tostring(wanted)), 2) end
end

-- Relative to the larger one.
function S.near(got, wanted, tolerance, what)
  local largest = math.max(math.abs(got), math.abs(wanted))
  if not (math.abs(got - wanted) <= tolerance * math.max(largest, 1e-30)) then
    error(("%s is %.9g, expected %.9g within %g"):format(what, got, wanted, tolerance), 2)
  end
end

function S.fails(fn, ...)
  local ok, message = pcall(fn)
  if ok then error("no error was raised", 2) end
  for _, part in ipairs{ ... } do
    if not message:find(part, 1, true) then error(("the error \"%s\" does not say \"%s\""):format(message, part), 2) end
  end
end

-- The numbers of a column, and one value.
function S.query(sql, ...) return mgb.db.query(sql, ...) end

function S.value(sql, ...)
  local row = mgb.db.query(sql, ...)[1]
  local _, value = next(row or {})
  return value
end

-- The rows of each tower, as { 3, 2, 2, 2 }.
function S.split(session)
  local rows = {}
  for i, tower in ipairs(session.towers) do rows[i] = tower.rows end
  return table.concat(rows, " ")
end

function S.held(session, device) return session:memory()[device].held end

-- Uniform numbers that are the same everywhere, without math.random's state.
function S.numbers(count, seed)
  local list, x = {}, seed or 1
  for i = 1, count do
    x = (x * 1103515245 + 12345) % 2147483648
    list[i] = x / 2147483648 - 0.5
  end
  return list
end

-- `count` rows of `width` numbers, with a class below `classes` and a target each.
function S.data(count, width, classes)
  local x, label, target, numbers = {}, {}, {}, S.numbers(count * width)
  for i = 1, count do
    x[i] = table.move(numbers, (i - 1) * width + 1, i * width, 1, {})
    label[i] = (i * 7 + i // 3) % (classes or 2)
    target[i] = x[i][1] - 2 * x[i][width]
  end
  return mgb.data.rows{ x = x, label = label, target = target }
end

-- A classifier with a regression beside it, over `width` numbers.
function S.small(options)
  options = options or {}
  return nn.model("small", function(m)
    local x, label, target = m:input("x", { options.width or 10 }), m:input("label", {}, "i32"), m:input("target", {})
    local h = nn.dense{ units = 12, activation = "tanh" }(x)
    if options.norm then h = nn.batch_norm(h) end
    if options.dropout then h = nn.dropout{ rate = options.dropout }(h) end
    local logits = nn.dense{ units = options.classes or 2, name = "logits" }(h)
    local value = nn.reshape{ shape = {} }(nn.dense{ units = 1, name = "value" }(h))
    m:output("logits", logits)
    m:loss(nn.softmax_cross_entropy(logits, label))
    m:loss(nn.mean_squared_error(value, target), { weight = 0.5 })
    m:metric("accuracy", nn.accuracy(logits, label))
  end)
end

-- One weight w, loss (w x - t)^2: with w = 0 and x = 1 the gradient of a row is -2 t.
S.line = nn.model("line", function(m)
  local x, t = m:input("x", { 1 }), m:input("t", { 1 })
  local y = nn.dense{ units = 1, bias = false, kernel_init = "zeros", name = "w" }(x)
  m:output("y", y)
  m:loss(nn.mean_squared_error(y, t))
end)

-- The weight after one step of plain SGD with rate 1 on these gradients of the single rows.
function S.step_of(gradients, placement)
  local x, t = {}, {}
  for i, g in ipairs(gradients) do x[i], t[i] = 1, -g / 2 end
  local options = { model = S.line, data = mgb.data.rows{ x = x, t = t }, optimizer = mgb.sgd{ lr = 1 } }
  for key, value in pairs(placement) do options[key] = value end
  local s <close> = mgb.session(options)
  s:step(1)
  return s:values("w/kernel")[1], S.split(s)
end

S.combinations = { -- relocation x merge
  { cpu_relocation = false, cpu_merge = true }, { cpu_relocation = true, cpu_merge = true },
  { cpu_relocation = false, cpu_merge = false }, { cpu_relocation = true, cpu_merge = false } }

-- `steps` steps: losses, digest.
function S.train(options, steps)
  local s <close> = mgb.session(options)
  return s:step(steps or 1).losses, s:digest()
end

function S.with(options, more)
  local all = {}
  for key, value in pairs(options) do all[key] = value end
  for key, value in pairs(more) do all[key] = value end
  return all
end

return S
