-- DGX-1 with P100: a hybrid cube mesh, four NVLinks a GPU.
local cards = require "machines.parts.cards"

return require "machines.parts.dgx1"{
  name = "dgx1-p100", summary = "NVIDIA DGX-1: 8 P100 SXM2, NVLink cube mesh, two sockets",
  gpu = cards.p100_sxm2{ count = 8 }, link_gbps = 18,
  counts = "0-1:1 0-2:1 0-3:1 1-2:1 1-3:1 2-3:1 4-5:1 4-6:1 4-7:1 5-6:1 5-7:1 6-7:1 0-4:1 1-5:1 2-6:1 3-7:1",
  nvlink_source = "18 GB/s a link of NVLink 1: NCCL's constant (nominal 20); two quads, each fully connected, and twins: SCCL's topology",
}
