-- The published rates of scripts/data/published.csv: points with several GPUs, each with the one-GPU row it scales from, and
-- which of them parameters may be fitted to.
local rows = {}

-- Gradient bytes and forward multiply-adds of an image, of shared/numbers/hardware.md: what says how much there is to move.
rows.models = {
  alexnet = { bytes = 244e6, macs = 0.72e9 }, vgg16 = { bytes = 553e6, macs = 15.5e9 }, resnet50 = { bytes = 102e6, macs = 4.1e9 },
  resnet152 = { bytes = 242e6, macs = 11.5e9 }, inception_v3 = { bytes = 95e6, macs = 5.73e9 },
}

local function csv_read(name)
  local keys, list = nil, {}
  for line in io.lines(mgb.data.shipped(name)) do
    local fields = {}
    for quoted, plain in (line .. ","):gmatch('("?)(.-)%1,') do fields[#fields + 1] = plain end
    if not keys then
      keys = fields
    else
      local row = {}
      for i, key in ipairs(keys) do row[key] = tonumber(fields[i]) or fields[i] end
      list[#list + 1] = row
    end
  end
  return list
end

-- The GPU of a machine, whichever way its GPUs are joined: what one of them does alone is the same.
local function alone(machine) return (machine:gsub("_bridged$", "")) end

local function key_of(row)
  return table.concat({ row.source, alone(row.machine), row.model, row.batch, row.precision }, " ")
end

-- Points and singles (rows of one GPU), in the order of the file; `step_ms` of each, `single` and `calibrates` of points.
function rows.read()
  local fitted, ones, points, singles = {}, {}, {}, {}
  for _, row in ipairs(csv_read("published-split.csv")) do fitted[row.line] = true end
  local all = csv_read("published.csv")
  for _, row in ipairs(all) do
    row.step_ms = row.gpus * row.batch * 1000 / row.images_per_s
    row.name = ("%s %s N=%d b=%d %s %s"):format(row.machine, row.model, row.gpus, row.batch, row.precision, row.placement)
    if row.gpus == 1 then ones[key_of(row)], singles[#singles + 1] = row, row end
  end
  for _, row in ipairs(all) do
    if row.gpus > 1 then
      row.single, row.calibrates = ones[key_of(row)], fitted[row.line] or false
      points[#points + 1] = row
    end
  end
  return points, singles
end

-- The lines of the collection that are left out, by reason, the largest count first.
function rows.left_out()
  local counts, order = {}, {}
  for _, row in ipairs(csv_read("published-left-out.csv")) do
    if not counts[row.reason] then order[#order + 1] = row.reason end
    counts[row.reason] = (counts[row.reason] or 0) + row.rows
  end
  table.sort(order, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and a < b end)
  return order, counts
end

return rows
