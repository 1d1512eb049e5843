-- A DGX H100 or H200: eight GPUs, each with a PCIe switch of its own, four a socket, all on NVSwitches that reduce.
local wires = require "machines.parts.wires"

return function(o)
  local links, add = wires.list{
    pcie = wires.pcie5_source .. "; " .. wires.copy_us_source,
    memory = "guess: half of what the memory of both sockets reaches",
    upi = "between the sockets for peers 22 GB/s: NCCL's constant for Sapphire Rapids; from the far socket to the host's memory 106, " ..
          "two slots' worth, a guess",
    nvlink = o.nvlink_source .. "; latency a guess" }
  add("/cpu:0", "socket0", 200, "memory", 0)
  add("/cpu:0", "socket1", 106, "upi", 1)
  add("socket0", "socket1", 22, "upi", 1)
  for i = 0, 7 do
    add("socket" .. i // 4, "/gpu:" .. i, wires.pcie5, "pcie", wires.copy_us)
    add("nvswitch", "/gpu:" .. i, o.link_gbps, "nvlink", 1)
  end
  local collective = wires.collective("nvlink")
  collective.ring_share, collective.switch_gbps = o.ring_share, 480
  collective.source = collective.source .. "; ring: 18 links of 20.6 GB/s, NCCL's constant; in-switch 480 GB/s of bus bandwidth at 8 " ..
    "GPUs: NCCL issue 1455"
  return mgb.machine{
    name = o.name, summary = o.summary, gpu = o.gpu, links = links,
    host = { name = "2 x Xeon Platinum 8480C", memory_gib = 2048, memory_gbps = 400, cores = 112, reduce_gbps = 100, pageable_gbps = 10,
      submit_us = 2.2,
      source = { memory_gib = "from memory", cores = "two sockets of 56, from memory", memory_gbps = "guess: 0.65 of 16 channels DDR5-4800",
        reduce_gbps = "guess: 5 to 10 GB/s a thread", pageable_gbps = "guess", submit_us = "guess: as of the P100, ReFrame" } },
    peers = { off = { 37, wires.staged_us },
      source = "staged 36 to 38 GB/s: NCCL issue 1264; latency: " .. wires.peer_us_source },
    collective = collective,
  }
end
