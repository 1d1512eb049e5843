-- Wires that several machines have, and what copies and collectives take over them, with where that is from.
local wires = {}

wires.pcie3 = 12.0 -- GB/s one way of 16 lanes
wires.pcie3_source = "PCIe 3 x16 reaches 12.0 of 15.75 GB/s: NCCL's constant (gearshifft pull request 82: 12.15 in, 12.89 out, P100)"
wires.pcie4 = 26.0
wires.pcie4_source = "PCIe 4 x16 reaches 26.0 to 26.3 of 31 GB/s: nvbandwidth, Azure AI benchmarking guide (18.5 to 19.6 each way at once)"
wires.pcie5 = 53
wires.pcie5_source = "PCIe 5 x16 reaches 51 to 55 of 63 GB/s: Azure AI benchmarking guide, stas00/ml-engineering"
wires.copy_us = 5
wires.copy_us_source = "guess: a copy between host and GPU begins after 5 us"
-- A peer copy of PCIe GPUs.
wires.peer_us, wires.staged_us = 8, 14
wires.peer_us_source = "GTX 1080 Ti: 6 to 9 us with peer access, 12 to 16 without: rossumai"

-- Collectives of NCCL, protocol Simple.
function wires.collective(kind)
  return { start_us = 8.4, hop_us = kind == "nvlink" and 3.4 or 5.7, network_hop_us = 14, tree_share = 0.92,
           source = "NCCL's tuning constants, protocol Simple: 8.4 us and a hop 3.4 (NVLink), 5.7 (PCIe), 14 (network); tree 0.92" }
end

-- An empty list of links with its sources, and a function that adds one.
function wires.list(source)
  local links = { source = source }
  return links, function(a, b, gbps, kind, latency)
    links[#links + 1] = { a, b, gbps = gbps, kind = kind, latency_us = latency }
  end
end

-- Of the list `links`: a wire for each pair { "0-1", count } of GPUs, `gbps` a link.
function wires.nvlinks(links, counts, gbps)
  for pair, count in counts:gmatch("(%d+%-%d+):(%d+)") do
    local a, b = pair:match("(%d+)%-(%d+)")
    links[#links + 1] = { "/gpu:" .. a, "/gpu:" .. b, gbps = count * gbps, latency_us = 2, kind = "nvlink" }
  end
end

return wires
