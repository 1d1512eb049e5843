-- Four P100 with NVLink: two links to one partner, one to each of the others.
local cards, wires = require "machines.parts.cards", require "machines.parts.wires"

local links = { source = {
  pcie = wires.pcie3_source .. "; two switches with two GPUs each on one socket, a guess; " .. wires.copy_us_source,
  nvlink = "18.3 GB/s a link, 36.4 of two, two to one partner and one to each other: Dell's note on its four-GPU server; latency a guess" } }
for i = 0, 1 do links[#links + 1] = { "/cpu:0", "plx" .. i, gbps = wires.pcie3, latency_us = wires.copy_us } end
for i = 0, 3 do links[#links + 1] = { "plx" .. i // 2, "/gpu:" .. i, gbps = wires.pcie3, latency_us = 0 } end
wires.nvlinks(links, "0-1:2 2-3:2 0-2:1 0-3:1 1-2:1 1-3:1", 18.2)

return mgb.machine{
  name = "p100-sxm2-4", summary = "4 P100 SXM2, NVLink: two links to one partner, one to the others",
  gpu = cards.p100_sxm2{ count = 4 }, links = links,
  host = { name = "2 x Xeon E5 v4", memory_gib = 256, memory_gbps = 120, cores = 28, reduce_gbps = 30, pageable_gbps = 6, submit_us = 2.2,
    source = { memory_gib = "guess", memory_gbps = "guess: 0.78 of two times four channels DDR4-2400", cores = "guess",
      reduce_gbps = "guess: 5 to 10 GB/s a thread", pageable_gbps = "guess", submit_us = "as launch_us: ReFrame, CSCS" } },
  peers = { off = { latency_us = wires.staged_us }, source = wires.peer_us_source },
  collective = wires.collective("nvlink"),
}
