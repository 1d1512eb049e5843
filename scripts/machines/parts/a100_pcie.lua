-- A100 cards on the root ports of two AMD sockets, without a PCIe switch, as in Lambda's servers.
local cards, wires = require "machines.parts.cards", require "machines.parts.wires"

return function(o)
  local links, add = wires.list{
    pcie = wires.pcie4_source .. "; root ports of two EPYC 7502, no switch: lambdal/lambda-tensorflow-benchmark; " .. wires.copy_us_source,
    memory = "guess: half of what the memory of both sockets reaches",
    fabric = "between the sockets for peers 16 GB/s: NCCL's constant for AMD; from the far socket to the host's memory 52, two slots' " ..
             "worth, a guess" }
  add("/cpu:0", "socket0", 150, "memory", 0)
  add("/cpu:0", "socket1", 52, "fabric", 1)
  add("socket0", "socket1", 16, "fabric", 1)
  for i = 0, o.gpus - 1 do add("socket" .. i // (o.gpus // 2), "/gpu:" .. i, wires.pcie4, "pcie", wires.copy_us) end
  return mgb.machine{
    name = o.name, summary = o.summary, gpu = cards.a100_pcie_40gb{ count = o.gpus }, links = links,
    host = { name = "2 x EPYC 7502", memory_gib = 1024, memory_gbps = 300, cores = 64, reduce_gbps = 80, pageable_gbps = 10, submit_us = 2.2,
      source = { memory_gib = "guess", cores = "two sockets of 32: lambdal/lambda-tensorflow-benchmark names the CPU; cores from memory",
        memory_gbps = "guess: 0.73 of 16 channels DDR4-3200", reduce_gbps = "guess: 5 to 10 GB/s a thread", pageable_gbps = "guess",
        submit_us = "guess: as of the P100, ReFrame" } },
    peers = { on = { latency_us = wires.peer_us }, off = { 21, wires.staged_us },
      source = "staged 20 to 22 GB/s on a box of PCIe 4: NCCL issue 814 (peer access there 9.9, on another root complex); with peer access " ..
               "what the wires do, a guess; latency: " .. wires.peer_us_source },
    collective = wires.collective("pcie"),
  }
end
