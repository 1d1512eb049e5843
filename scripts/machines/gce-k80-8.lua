-- Eight K80 GPUs in a virtual machine of Google's: peers are not visible, all goes by way of the host.
local cards, wires = require "machines.parts.cards", require "machines.parts.wires"

local links = { source = { pcie = wires.pcie3_source .. "; a switch a board, from memory; " .. wires.copy_us_source } }
for i = 0, 3 do links[#links + 1] = { "/cpu:0", "board" .. i, gbps = wires.pcie3, latency_us = wires.copy_us } end
for i = 0, 7 do links[#links + 1] = { "board" .. i // 2, "/gpu:" .. i, gbps = wires.pcie3, latency_us = 0 } end

return mgb.machine{
  name = "gce-k80-8", summary = "Google n1-standard-32 with 4 K80 boards: 8 GPUs, no peer access",
  gpu = cards.k80{ count = 8 }, links = links,
  host = { name = "32 virtual CPUs", memory_gib = 120, memory_gbps = 60, cores = 16, core_total = 20, reduce_gbps = 20, pageable_gbps = 5,
    submit_us = 5.7,
    source = { memory_gib = "n1-standard-32, from memory", cores = "32 virtual CPUs: TensorFlow's page of benchmarks; two a core",
      core_total = "guess: 1.25 of a core with two threads", memory_gbps = "guess: one socket of four channels DDR4", reduce_gbps =
      "guess: 5 to 10 GB/s a thread", pageable_gbps = "guess", submit_us = "as launch_us: ReFrame, CSCS" } },
  peers = { access = false, off = { 5.6, 17 },
    source = "TensorFlow's page uses the CPU for every model there: not visible is inferred; through the host 5.3 to 5.9 GB/s, latency 16 to 18 us of an M60 in a cloud: rossumai" },
  collective = wires.collective("pcie"),
}
