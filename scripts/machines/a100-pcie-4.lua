return require "machines.parts.a100_pcie"{
  name = "a100-pcie-4", summary = "4 A100 PCIe 40 GB on the root ports of two EPYC sockets", gpus = 4,
}
