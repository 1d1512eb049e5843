-- Hangs, leaks, repeatability (ancestors.md 5.7), and the engine's rows of ecosystem.md 6.3. Row 71 is in test_interrupt.sh.
local S = require "scenario"

local base = { model = S.small{ dropout = 0.3 }, data = S.data(64, 10), optimizer = mgb.adam{ lr = 0.01 } }

S.rows{
  { "69", "a replica without rows: the step ends as usual, under every strategy", function()
    for _, strategy in ipairs{ "outputs", "gradients", "allreduce", "independent" } do
      local s <close> = mgb.session(S.with(base, { gpus = 4, global_batch = 3, strategy = strategy }))
      S.equal(S.split(s), "1 1 1 0", "rows of each tower")
      S.equal(#s:step(3).losses, 3, "steps under " .. strategy)
    end
  end },
  { "70", "a device that is too small: refused with device and bytes, the weights as before, a smaller batch works", function()
    local s <close> = mgb.session{ model = "digits_cnn", gpus = 2, batch = 4, gpu_memory = "2MiB" }
    s:step(2)
    local digest = s:digest()
    S.fails(function() s.batch = 4000 end, "/gpu:", "MiB", "2.0 MiB available")
    S.equal(s:digest(), digest, "digest after the refusal")
    S.equal(s.batch, 4, "batch after the refusal")
    s.batch = 2
    s:step(1)
    local r = mgb.run{ model = "digits_cnn", gpus = 2, batch = 4000, gpu_memory = "2MiB", expect = "oom", steps = 1 }
    S.equal(r.outcome, "oom", "outcome of a run that expects it")
    S.equal(r.oom.needed > r.oom.available and r.oom.available == 2 * 2 ^ 20, true, "bytes needed and available")
    S.equal(r.oom.device:match("^/gpu:[01]$") ~= nil, true, "device")
  end },
  { "72", "the same seed and setting twice: equal to the last bit; other GPU counts: equal within 1e-5", function()
    local options = S.with(base, { gpus = 2, global_batch = 12 })
    local losses, digest = S.train(options, 8)
    local again, same = S.train(options, 8)
    S.equal(same, digest, "digest, run twice")
    for i, loss in ipairs(losses) do S.equal(again[i], loss, "loss of step " .. i - 1) end
    S.equal(select(2, S.train(S.with(options, { seed = 2 }), 8)) ~= digest, true, "another seed is another run")
    for _, gpus in ipairs{ 1, 3, 4 } do
      local other = S.train(S.with(options, { gpus = gpus }), 1)
      S.near(other[1], losses[1], 1e-5, "first loss on " .. gpus)
    end
  end },
  { "74", "100 cycles of 1-4-1 GPUs and both flags: the bytes on every device return to their first value", function()
    local s <close> = mgb.session(S.with(base, { gpus = 1, batch = 4 }))
    s:step(1)
    local first, held = s:memory(), nil
    for cycle = 1, 100 do
      s:set(S.with(S.combinations[cycle % 4 + 1], { gpus = 4 }))
      if cycle % 10 == 0 then s:step(1) end
      s:set{ gpus = 1, cpu_relocation = false, cpu_merge = true }
    end
    s:step(1)
    for name, use in pairs(s:memory()) do
      held = first[name].held
      S.equal(use.held, held, "bytes held on " .. name)
    end
    s:close()
    local next_one <close> = mgb.session(S.with(base, { gpus = 1, batch = 4 }))
    next_one:step(1)
    for name, use in pairs(next_one:memory()) do S.equal(use.held, first[name].held, "bytes of a new session on " .. name) end
  end },
  { "49", "(ecosystem) weights and replicas are equal after 3 steps, relocated or not", function()
    for _, flags in ipairs{ { cpu_relocation = true }, { cpu_relocation = false }, { strategy = "allreduce" } } do
      local s <close> = mgb.session(S.with(S.with(base, { gpus = 3, batch = 4 }), flags))
      s:step(3)
      S.equal(s:check().ok, true, "check in value") -- raises when a replica differs from its master
    end
    local s <close> = mgb.session(S.with(base, { gpus = 2, batch = 4, relocation = "clone", cpu_relocation = true }))
    s:step(3)
    S.equal(s:check().leftover_count > 0, true, "a clone leaves the original behind, and that is reported")
  end },
  { "51", "(ecosystem) an unsupported mix is refused with the reason, not run on one GPU", function()
    S.fails(function() mgb.session(S.with(base, { gpus = 2, strategy = "allreduce", join_at = "/cpu:0" })) end,
            "join_at", "allreduce", "each tower takes its own loss")
    S.fails(function() mgb.session(S.with(base, { gpus = 2, cpu_relocation = true, weights_at = "/gpu:0" })) end,
            "cpu_relocation", "weights_at")
    S.fails(function() mgb.session(S.with(base, { gpus = 2, batch = 4, global_batch = 8 })) end, "batch", "global_batch")
    S.fails(function() mgb.session(S.with(base, { gpus = 2, precision = "bf16" })) end, "precision", "f32")
  end },
}
