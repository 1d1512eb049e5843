-- DGX-1V, p3.16xlarge: six NVLinks a V100, some pairs have two.
local cards = require "machines.parts.cards"

return require "machines.parts.dgx1"{
  name = "dgx1v", summary = "NVIDIA DGX-1V, p3.16xlarge: 8 V100 SXM2, NVLink cube mesh, two sockets",
  gpu = cards.v100_sxm2{ count = 8 }, link_gbps = 20,
  counts = "0-1:1 0-2:1 0-3:2 0-4:2 1-2:2 1-3:1 1-5:2 2-3:2 2-6:1 3-7:1 4-5:1 4-6:1 4-7:2 5-6:2 5-7:1 6-7:2",
  nvlink_source = "20 GB/s a link of NVLink 2: NCCL's constant (nominal 25); counts of links: topology listing of 2017, Alibaba's notes",
}
