-- DGX A100, p4d, ND A100 v4: twelve NVLinks a GPU to NVSwitches, two GPUs a PCIe switch.
local cards, wires = require "machines.parts.cards", require "machines.parts.wires"

local links = {
  { "/cpu:0", "socket0", gbps = 150, kind = "memory", latency_us = 0 },
  { "/cpu:0", "socket1", gbps = 52, kind = "fabric", latency_us = 1 },
  { "socket0", "socket1", gbps = 16, kind = "fabric", latency_us = 1 },
  source = {
    pcie = wires.pcie4_source .. "; two GPUs a switch, two switches a socket: NVIDIA's DGX A100; " .. wires.copy_us_source,
    memory = "guess: half of what the memory of both sockets reaches",
    fabric = "between the sockets for peers 16 GB/s: NCCL's constant for AMD; from the far socket to the host's memory 52, two slots' worth, " ..
             "a guess",
    nvlink = "a pair copies 276 GB/s over 12 links: nvbandwidth; latency a guess" } }
for i = 0, 3 do links[#links + 1] = { "socket" .. i // 2, "plx" .. i, gbps = wires.pcie4, latency_us = wires.copy_us } end
for i = 0, 7 do
  links[#links + 1] = { "plx" .. i // 2, "/gpu:" .. i, gbps = wires.pcie4, latency_us = 0 }
  links[#links + 1] = { "nvswitch", "/gpu:" .. i, gbps = 276, latency_us = 1, kind = "nvlink" }
end

local collective = wires.collective("nvlink")
collective.ring_share = 240 / 276
collective.source = collective.source .. "; ring: 12 links of 20 GB/s, NCCL's constant, of 276"

return mgb.machine{
  name = "dgx-a100", summary = "NVIDIA DGX A100, p4d, ND A100 v4: 8 A100 SXM4 40 GB, NVSwitch, two sockets",
  gpu = cards.a100_sxm4_40gb{ count = 8 }, links = links,
  host = { name = "2 x EPYC 7742", memory_gib = 1024, memory_gbps = 300, cores = 128, reduce_gbps = 80, pageable_gbps = 10, submit_us = 2.2,
    source = { memory_gib = "from memory", cores = "two sockets of 64, from memory", memory_gbps = "guess: 0.73 of 16 channels DDR4-3200",
      reduce_gbps = "guess: 5 to 10 GB/s a thread", pageable_gbps = "guess", submit_us = "guess: as of the P100, ReFrame" } },
  peers = { off = { latency_us = wires.staged_us }, source = wires.peer_us_source },
  collective = collective,
}
