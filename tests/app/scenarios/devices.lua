-- Devices and placement (ancestors.md 5.5). Row 44 in all spellings is in tests/engine/topo/test_device_name.c.
local S = require "scenario"

local base = { model = S.small{ dropout = 0.3 }, data = S.data(64, 10), optimizer = mgb.sgd{ lr = 0.05, momentum = 0.9 } }

S.rows{
  { "44", "every usual spelling of a device works in scripts, an xla_gpu does not", function()
    local s <close> = mgb.session(S.with(base, { gpus = 2, batch = 4 }))
    for _, name in ipairs{ "gpu:1", "/gpu:1", "GPU:1", "/device:GPU:1", "/job:localhost/replica:0/task:0/device:GPU:1" } do
      s.weights_at = "/gpu:0"
      s.weights_at = name
      S.equal(s.weights_at, "/gpu:1", "weights_at = " .. name)
    end
    S.fails(function() s.weights_at = "xla_gpu:0" end, "weights_at", "xla_gpu:0")
  end },
  { "45", "the list of devices always holds the host", function()
    for _, gpus in ipairs{ 0, 1, 3 } do
      local s <close> = mgb.session(S.with(base, { gpus = gpus, batch = 4 }))
      S.equal(s:memory()["/cpu:0"] ~= nil, true, "the host among the devices of " .. gpus .. " GPUs")
    end
  end },
  { "47", "a count that is too high names wanted and present, and stays at its old value", function()
    local s <close> = mgb.session(S.with(base, { gpus = 1, batch = 4 }))
    S.fails(function() s.gpus = 40 end, "/gpu:39", "/gpu:15")
    S.equal(s.gpus, 1, "GPUs")
    s:step(1)
  end },
  { "48", "a count of 1 and of 0 run; one GPU is marked as the baseline", function()
    S.equal(mgb.run(S.with(base, { gpus = 0, batch = 4, steps = 2 })).outcome, "ok", "outcome on the CPU alone")
    local rows = mgb.sweep(S.with(base, { name = "row 48", steps = 2, batch = 4, grid = { gpus = { 1, 2 } } }))
    S.equal(rows[1].outcome, "ok", "outcome on one GPU")
    S.equal(rows[1].baseline, true, "the row of one GPU is the baseline")
    S.equal(rows[2].baseline, false, "the row of two is none")
    S.equal(rows[1].speedup, 1, "speed-up of the baseline")
  end },
  { "50", "devices that are not listed hold nothing", function()
    local s <close> = mgb.session(S.with(base, { gpus = { 2, 5 }, batch = 4 }))
    s:step(2)
    for name, use in pairs(s:memory()) do
      if name ~= "/cpu:0" and name ~= "/gpu:2" and name ~= "/gpu:5" then
        S.equal(use.held + use.planned + use.peak, 0, "bytes on " .. name)
      end
    end
    local shown = {} -- and a result names none of them
    for name in pairs(mgb.run(S.with(base, { gpus = { 2, 5 }, batch = 4, steps = 2, warmup = 0 })).memory) do
      shown[#shown + 1] = name
    end
    table.sort(shown)
    S.equal(table.concat(shown, " "), "/cpu:0 /gpu:2 /gpu:5", "devices of r.memory")
  end },
  { "51", "the same id twice is refused by name, unless asked for", function()
    S.fails(function() mgb.session(S.with(base, { gpus = { 0, 0 } })) end, "/gpu:0", "twice", "logical")
    local s <close> = mgb.session(S.with(base, { gpus = { 0, 0 }, logical = true, batch = 4 }))
    s:step(1)
    S.equal(#s.towers, 2, "towers on one device")
  end },
  { "16", "(issue 2) 0 to 16 devices work; -1, 17 and a list with one too many are refused, and the session goes on", function()
    local s <close> = mgb.session(S.with(base, { gpus = 0, global_batch = 33 }))
    for gpus = 0, 16 do
      s.gpus = gpus
      S.equal(#s:step(1).losses, 1, "steps on " .. gpus)
    end
    S.fails(function() s.gpus = -1 end, "gpus", "-1", "a count from 0")
    S.fails(function() s.gpus = 17 end, "/gpu:16", "/gpu:15")
    S.fails(function() s.gpus = {} end, "gpus")
    S.equal(s.gpus, 16, "GPUs after the refusals")
    s:step(1)
  end },
  { "53", "the table of variables: bytes, device, and why there", function()
    local s <close> = mgb.session(S.with(base, { gpus = 3, batch = 4, weights_at = "spread" }))
    local devices, reasons = {}, {}
    for _, v in ipairs(s:variables()) do
      S.equal(v.bytes > 0 and v.device ~= "" and v.why ~= "", true, "bytes, device and reason of " .. v.name)
      if v.role == "master" then devices[v.device], reasons[v.why] = true, true end
    end
    S.equal(devices["/gpu:0"] and devices["/gpu:1"] and devices["/gpu:2"], true, "spread over all three")
    S.equal(next(reasons):find("spread", 1, true) ~= nil, true, "the reason says spread")
  end },
  { "54", "every listed device works in every step", function()
    for _, strategy in ipairs{ "outputs", "gradients", "allreduce", "independent" } do
      local r = mgb.run(S.with(base, { gpus = 4, batch = 4, steps = 3, warmup = 0, strategy = strategy }))
      S.equal(S.value([[SELECT count(*) FROM step_device WHERE segment_id = ? AND device LIKE '/gpu%'
                         AND forward_busy_ns > 0 AND backward_busy_ns > 0]], r.segment_id), 12,
              "devices at work under " .. strategy)
    end
  end },
  { "55", "the same seed under the four flag settings, 20 steps: losses and weights equal to the last bit", function()
    local wanted, digest
    for _, flags in ipairs(S.combinations) do
      local losses, here = S.train(S.with(S.with(base, { gpus = 3, global_batch = 10 }), flags), 20)
      wanted, digest = wanted or losses, digest or here
      for i, loss in ipairs(losses) do S.equal(loss, wanted[i], "loss of step " .. i - 1) end
      S.equal(here, digest, "digest")
    end
    local live <close> = mgb.session(S.with(base, { gpus = 3, global_batch = 10 }))
    for step = 1, 20 do -- and toggled under way
      live:set(S.combinations[step % 4 + 1])
      S.equal(live:step(1).losses[1], wanted[step], "loss of step " .. step - 1 .. ", toggled")
    end
    S.equal(live:digest(), digest, "digest, toggled")
  end },
}
