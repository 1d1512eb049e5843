-- DGX H100: 18 NVLinks a GPU to NVSwitches that reduce.
local cards = require "machines.parts.cards"

return require "machines.parts.hopper"{
  name = "dgx-h100", summary = "NVIDIA DGX H100: 8 H100 SXM5, NVSwitch with in-switch reduction, two sockets",
  gpu = cards.h100_sxm5{ count = 8 }, link_gbps = 374, ring_share = 370.8 / 374,
  nvlink_source = "a pair copies 371 to 377 GB/s over 18 links: NCCL issue 1264",
}
