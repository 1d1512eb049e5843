-- Fitting a few numbers, by least squares of relative errors, and what errors come to.
local fit = {}

-- The least of `f` between `low` and `high`, one valley assumed, to `share` of that range. `f` is asked for the ends too: a
-- parameter that lies at its bound is said to.
function fit.golden(f, low, high, share)
  local ratio = (math.sqrt(5) - 1) / 2
  local a, b = low, high
  local x, y = b - ratio * (b - a), a + ratio * (b - a)
  local fx, fy = f(x), f(y)
  while b - a > share * (high - low) do
    if fx <= fy then
      b, y, fy = y, x, fx
      x = b - ratio * (b - a)
      fx = f(x)
    else
      a, x, fx = x, y, fy
      y = a + ratio * (b - a)
      fy = f(y)
    end
  end
  local best, value = fx <= fy and x or y, math.min(fx, fy)
  for _, at in ipairs{ low, high } do
    local end_value = f(at)
    if end_value < value then best, value = at, end_value end
  end
  return best, value
end

-- x, y not below 0 with the least sum of (x * a + y * b - c)^2 over { a, b, c }.
function fit.two(list)
  local aa, ab, bb, ac, bc = 0, 0, 0, 0, 0
  for _, e in ipairs(list) do
    local a, b, c = e[1], e[2], e[3]
    aa, ab, bb, ac, bc = aa + a * a, ab + a * b, bb + b * b, ac + a * c, bc + b * c
  end
  local det = aa * bb - ab * ab
  if det > 1e-12 * aa * bb then
    local x, y = (ac * bb - bc * ab) / det, (bc * aa - ac * ab) / det
    if x >= 0 and y >= 0 then return x, y end
  end
  local x, y = aa > 0 and math.max(0, ac / aa) or 0, bb > 0 and math.max(0, bc / bb) or 0
  if aa > 0 and ac * ac / aa >= (bb > 0 and bc * bc / bb or 0) then return x, 0 end
  return 0, y
end

-- Where `f`, which rises with x, is `wanted`: secant within bounds. `from` is tried first.
function fit.solve(f, wanted, from, low, high)
  local x, fx = from, f(from)
  for _ = 1, 30 do
    if math.abs(fx / wanted - 1) < 1e-7 then break end
    if fx > wanted then high = x else low = x end
    local next = x * wanted / fx
    if next <= low or next >= high then next = (low + high) / 2 end
    if high - low < 1e-9 * high then break end
    x = next
    fx = f(x)
  end
  return x
end

-- { n, mean, max, bias, worst } of errors in per cent of points.
function fit.summary(errors)
  local s = { n = #errors, mean = 0, max = 0, bias = 0, worst = "-" }
  for _, e in ipairs(errors) do
    local size = math.abs(e.percent)
    s.mean, s.bias = s.mean + size, s.bias + e.percent
    if size > s.max then s.max, s.worst = size, e.name end
  end
  if s.n > 0 then s.mean, s.bias = s.mean / s.n, s.bias / s.n end
  return s
end

-- Kendall's tau of pairs whose measured values differ by more than `share`, and how many pairs those are.
function fit.tau(list, share)
  local right, wrong = 0, 0
  for i = 1, #list do
    for j = i + 1, #list do
      local a, b = list[i], list[j]
      if math.abs(a.measured - b.measured) > share * math.min(a.measured, b.measured) then
        local same = (a.measured - b.measured) * (a.predicted - b.predicted)
        if same > 0 then right = right + 1 elseif same < 0 then wrong = wrong + 1 end
      end
    end
  end
  local count = right + wrong
  return count > 0 and (right - wrong) / count or 1, count
end

return fit
