-- Amazon's p2.8xlarge: eight K80 GPUs that all reach each other.
local cards, wires = require "machines.parts.cards", require "machines.parts.wires"

local links = { { "/cpu:0", "fabric", gbps = 2 * wires.pcie3, latency_us = wires.copy_us },
  source = { pcie = wires.pcie3_source .. "; a switch a board, boards joined by a fabric with two uplinks, from memory and a guess; " ..
                    wires.copy_us_source } }
for i = 0, 3 do links[#links + 1] = { "fabric", "board" .. i, gbps = wires.pcie3, latency_us = 0 } end
for i = 0, 7 do links[#links + 1] = { "board" .. i // 2, "/gpu:" .. i, gbps = wires.pcie3, latency_us = 0 } end

return mgb.machine{
  name = "p2-8xlarge", summary = "Amazon p2.8xlarge: 4 K80 boards, 8 GPUs, peer access between all",
  gpu = cards.k80{ count = 8 }, links = links,
  host = { name = "32 virtual CPUs", memory_gib = 488, memory_gbps = 60, cores = 16, core_total = 20, reduce_gbps = 20, pageable_gbps = 5,
    submit_us = 5.7,
    source = { memory_gib = "Amazon's page", cores = "32 virtual CPUs: Amazon's page; two a core",
      core_total = "guess: 1.25 of a core with two threads", memory_gbps = "guess: one socket of four channels DDR4",
      reduce_gbps = "guess: 5 to 10 GB/s a thread", pageable_gbps = "guess", submit_us = "as launch_us: ReFrame, CSCS" } },
  peers = { on = { 10, wires.peer_us }, off = { latency_us = 17 },
    source = "peer access works between all eight: TensorFlow issue 5789; 10 GB/s and latencies as of GTX 1080 Ti and M60: rossumai" },
  collective = wires.collective("pcie"),
}
