-- A sweep without a script: the table that mgb.sweep takes. mgbench sweep prints step times with intervals, speed-ups and
-- verdicts.
--     mgbench sweep grid.lua --dry-run        mgbench sweep grid.lua
return {
  name = "grid", model = "digits_cnn", data = mgb.data.digits(), batch = 16, steps = 60, repeats = 5,
  threads = math.max(1, mgb.cores // 2), -- of a CPU device, alike for one tower and for two
  grid = { gpus = { 1, 2 }, cpu_merge = { true, false } },
  skip = function(p) return p.gpus == 1 and not p.cpu_merge end,
}
