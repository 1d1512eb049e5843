# The kernels under compute-sanitizer. Operators: memcheck (addresses) and racecheck (shared memory). The
# card's test and the equivalence suite: memcheck, of updates, sums, copies, collectives and replayed steps. Skipped where the
# tool is not to be found: COMPUTE_SANITIZER names it, else PATH, CUDA_HOME and /usr/local/cuda are looked at.
programs=${MGB_BUILD_DIR:?}/tests
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
for pair in memcheck:test_gpu_operators racecheck:test_gpu_operators memcheck:test_gpu_card \
    memcheck:test_gpu_equivalence; do
    kind=${pair%%:*} program=${pair#*:}
    echo "== $kind, $program"
    MGB_GPU=brief MGB_LONG=0 "$tool" --tool "$kind" --error-exitcode 9 --print-limit 20 "$programs/$program" >"$log" 2>&1
    code=$?
    grep -E 'MGB_SEED|ERROR SUMMARY|RACECHECK SUMMARY' "$log"
    if [ "$code" -eq 77 ]; then
        cat "$log"
        exit 77
    fi
    # It ends with the program's code too, so that a summary must say that it looked at all.
    if [ "$code" -ne 0 ] || ! grep -q -E '(ERROR|RACECHECK) SUMMARY: 0 ' "$log"; then
        cat "$log"
        echo "$kind, $program: exit code $code"
        bad=1
    fi
done
exit $bad
