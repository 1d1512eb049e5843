return require "machines.parts.a100_pcie"{
  name = "a100-pcie-8", summary = "8 A100 PCIe 40 GB on the root ports of two EPYC sockets", gpus = 8,
}
