-- Four P100 on PCIe, two a socket, and the host's buffers on socket 0: GPUs of the other socket reach them slowly. Without peer
-- access copies are staged through these buffers (peer_access = false).
local cards, wires = require "machines.parts.cards", require "machines.parts.wires"

local links = {
  { "/cpu:0", "socket0", gbps = 60, kind = "memory", latency_us = 0 },
  { "/cpu:0", "socket1", gbps = 3.78, back_gbps = 2.54, kind = "qpi", latency_us = 1 },
  { "socket0", "socket1", gbps = 6.0, kind = "qpi", latency_us = 1 },
  source = {
    pcie = "PCIe 3 x16: 12.15 GB/s in, 12.89 out on the socket of the buffers: gearshifft pull request 82; " .. wires.copy_us_source,
    memory = "guess: what four channels DDR4-2400 reach",
    qpi = "3.78 GB/s in, 2.54 out from the other socket: gearshifft pull request 82; for peers 6.0: NCCL's constant for Broadwell" } }
for i = 0, 3 do
  links[#links + 1] = { "socket" .. i // 2, "/gpu:" .. i, gbps = 12.15, back_gbps = 12.89, latency_us = wires.copy_us }
end

return mgb.machine{
  name = "p100-pcie-4", summary = "4 P100 PCIe, two a socket, buffers on socket 0",
  gpu = cards.p100_pcie{ count = 4 }, links = links,
  host = { name = "2 x Xeon E5 v4", memory_gib = 256, memory_gbps = 120, cores = 28, reduce_gbps = 30, pageable_gbps = 6, submit_us = 2.2,
    source = { memory_gib = "guess", memory_gbps = "guess: 0.78 of two times four channels DDR4-2400", cores = "guess",
      reduce_gbps = "guess: 5 to 10 GB/s a thread", pageable_gbps = "guess", submit_us = "as launch_us: ReFrame, CSCS" } },
  peers = {
    on = { latency_us = wires.peer_us }, off = { 2.5, wires.staged_us },
    { "/gpu:0", "/gpu:1", on = 10 }, { "/gpu:2", "/gpu:3", on = 10 },
    source = "peer copies on one socket at 9 to 11.5 GB/s (GTX 1080 Ti) and latencies: rossumai; staged 2.54 GB/s, out to buffers on " ..
             "the other socket: gearshifft pull request 82 (from memory of its own socket it would be 12)" },
  collective = wires.collective("pcie"),
}
