-- Trains mnist_cnn on the 9,000 training digits and measures it on the 1,000 test digits after every epoch.
--     mgbench -e train_mnist.lua --gpus 2 --epochs 3
local o = mgb.options{
  gpus = { 1, "GPUs" },
  batch = { 128, "examples of all GPUs together" },
  epochs = { 3, "passes over the training data" },
  seed = { 1, "of weights, order and dropout" },
}

local s <close> = mgb.session{
  model = "mnist_cnn", data = mgb.data.mnist{ split = "train" }, gpus = o.gpus, global_batch = o.batch,
  optimizer = mgb.adam{ lr = 0.001 }, seed = o.seed,
}
local test = mgb.data.mnist{ split = "test" }
local rows = {}
for epoch = 1, o.epochs do
  local seg = s:step((9000 + o.batch - 1) // o.batch) -- every row once; the last step has what is left
  local e = s:evaluate(test)
  rows[epoch] = { epoch = epoch, loss = seg.loss, step_ms = seg.step_ms, test_loss = e.loss, accuracy = e.metrics.accuracy,
                  backend = s.backend }
end
mgb.table(rows, { "epoch", "loss", "step_ms", "test_loss", "accuracy" })
