-- A desktop with two consumer cards, each on PCIe 3 x16 of the one CPU.
local cards, wires = require "machines.parts.cards", require "machines.parts.wires"

return mgb.machine{
  name = "gtx1080ti-2", summary = "a desktop with 2 GTX 1080 Ti on PCIe 3",
  gpu = cards.gtx1080ti{ count = 2 },
  host = { name = "8 cores", memory_gib = 32, memory_gbps = 40, cores = 8, reduce_gbps = 20, pageable_gbps = 6, submit_us = 3,
    source = { memory_gib = "guess", memory_gbps = "guess: 10 to 60 GB/s in rossumai's notes", cores = "guess",
      reduce_gbps = "guess: 5 to 10 GB/s a thread", pageable_gbps = "guess", submit_us = "guess: as launch_us" } },
  links = { { "/cpu:0", "/gpu:0", gbps = wires.pcie3, latency_us = wires.copy_us },
            { "/cpu:0", "/gpu:1", gbps = wires.pcie3, latency_us = wires.copy_us },
            source = wires.pcie3_source .. "; " .. wires.copy_us_source },
  peers = { on = { 10, wires.peer_us }, off = { latency_us = wires.staged_us },
    source = "peer copies of two GTX 1080 Ti: 9 to 11.5 GB/s one way, 19 to 20 both ways at once; " .. wires.peer_us_source .. " too" },
  collective = wires.collective("pcie"),
}
