# The kernels under compute-sanitizer: memcheck (addresses, leaks of the device) and racecheck (shared memory). Skipped
# where the tool is not to be found: COMPUTE_SANITIZER names it, else PATH, CUDA_HOME and /usr/local/cuda are looked at.
program=${MGB_BUILD_DIR:?}/tests/test_gpu_operators
if [ "${MGB_GPU:-}" != 1 ]; then
    echo 'SKIP: MGB_GPU=1 runs this on the GPUs of this machine'
    exit 77
fi
tool=${COMPUTE_SANITIZER:-$(PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin:/usr/local/cuda/bin command -v compute-sanitizer)}
if [ ! -x "$tool" ]; then
    echo 'SKIP: compute-sanitizer is not there; it comes with the CUDA toolkit (cuda-sanitizer)'
    exit 77
fi
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
bad=0
for kind in memcheck racecheck; do
    echo "== $kind"
    MGB_GPU=brief "$tool" --tool "$kind" --error-exitcode 9 --print-limit 20 "$program" >"$log" 2>&1
    code=$?
    grep -E 'MGB_SEED|ERROR SUMMARY|RACECHECK SUMMARY' "$log"
    if [ "$code" -eq 77 ]; then
        cat "$log"
        exit 77
    fi
    # It ends with the program's code too, so that a summary must say that it looked at all.
    if [ "$code" -ne 0 ] || ! grep -q -E '(ERROR|RACECHECK) SUMMARY: 0 ' "$log"; then
        cat "$log"
        echo "$kind: exit code $code"
        bad=1
    fi
done
exit $bad
