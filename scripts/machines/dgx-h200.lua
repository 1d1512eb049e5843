-- DGX H200: a DGX H100 with larger and faster memory.
local cards = require "machines.parts.cards"

return require "machines.parts.hopper"{
  name = "dgx-h200", summary = "NVIDIA DGX H200: 8 H200 SXM5, NVSwitch with in-switch reduction, two sockets",
  gpu = cards.h200_sxm5{ count = 8 }, link_gbps = 396, ring_share = 370.8 / 396,
  nvlink_source = "a pair copies 396 GB/s one way over 18 links: Azure AI benchmarking guide",
}
