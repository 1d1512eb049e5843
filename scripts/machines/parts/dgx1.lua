-- A DGX-1: eight GPUs on four PCIe switches, two switches a socket, NVLinks as `counts` says ("0-1:1 0-2:2 ...").
local wires = require "machines.parts.wires"

return function(o)
  local links, add = wires.list{
    pcie = wires.pcie3_source .. "; two GPUs a switch, two switches a socket (Alibaba's notes on the V100 system; P100: from memory); " ..
           wires.copy_us_source,
    memory = "guess: half of what the memory of both sockets reaches",
    qpi = "between the sockets for peers 6.0 GB/s: NCCL's constant for Broadwell; from the far socket to the host's memory 19.2, the " ..
          "nominal rate of one QPI link, from memory",
    nvlink = o.nvlink_source .. "; latency a guess" }
  add("/cpu:0", "socket0", 60, "memory", 0)
  add("/cpu:0", "socket1", 19.2, "qpi", 1)
  add("socket0", "socket1", 6.0, "qpi", 1)
  for i = 0, 3 do add("socket" .. i // 2, "plx" .. i, wires.pcie3, "pcie", wires.copy_us) end
  for i = 0, 7 do add("plx" .. i // 2, "/gpu:" .. i, wires.pcie3, "pcie", 0) end
  wires.nvlinks(links, o.counts, o.link_gbps)
  return mgb.machine{
    name = o.name, summary = o.summary, gpu = o.gpu, links = links,
    host = { name = "2 x Xeon E5-2698 v4", memory_gib = 512, memory_gbps = 120, cores = 40, reduce_gbps = 40, pageable_gbps = 6,
      submit_us = 2.2, copy_waits = "none",
      source = { memory_gib = "from memory", cores = "two sockets of 20, from memory",
        memory_gbps = "guess: 0.78 of two times four channels DDR4-2400, 153.6 nominal", reduce_gbps = "guess: 5 to 10 GB/s a thread, several",
        pageable_gbps = "guess: pageable copies of PCIe 3 run at 3 to 6 GB/s in all", submit_us = "as launch_us: ReFrame, CSCS" } },
    peers = { off = { latency_us = wires.staged_us }, source = wires.peer_us_source },
    collective = wires.collective("nvlink"),
  }
end
