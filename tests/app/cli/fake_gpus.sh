# Two fake GPUs for the program: the CUDA plugin over the fake runtime (tests/fake_cuda/fake_cuda.h says what can be set).
if [ ! -e "$MGB_BUILD_DIR/fake_plugin/libmgb_cuda.so" ]; then
    echo "SKIP: no CUDA plugin over the fake runtime"
    exit 77
fi
unset CUDA_VISIBLE_DEVICES
export MGBENCH_PLUGIN_DIR="$MGB_BUILD_DIR/fake_plugin" FAKE_CUDA_DEVICES=2
