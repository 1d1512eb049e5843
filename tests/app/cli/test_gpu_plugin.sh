# A CUDA plugin that is not to be loaded: cut short, of another build, another library, no library. Each is refused with what
# to do, before anything of it runs, and the program takes CPU devices. A cut NVML is no sensors and nothing worse.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
. "$MGB_SOURCE_DIR/tests/app/cli/fake_gpus.sh"
whole=$MGBENCH_PLUGIN_DIR/libmgb_cuda.so
nvml=$(find "$MGB_BUILD_DIR" -name 'libfake_nvml.so' | head -n 1)
export MGBENCH_PLUGIN_DIR="$work/plugin"
plugin=$MGBENCH_PLUGIN_DIR/libmgb_cuda.so
mkdir "$MGBENCH_PLUGIN_DIR"

taken_are() { # what, devices of kind cuda, words of the remark
    command_line=$1
    mgbench devices --csv >"$work/out" 2>"$work/err"
    same 'exit code' 0 "$?"
    same 'GPUs' "$2" "$(grep -c ',cuda,cuda,' "$work/out")"
    same "'$3'" 1 "$(grep -c "$3" "$work/err")"
}
for bytes in 64 5000 50000 100000; do
    head -c $bytes "$whole" >"$plugin"
    taken_are "cut after $bytes bytes" 0 '^mgbench: CPU devices, because '
done
same 'names the file and its bytes' 1 \
    "$(grep -c "$plugin is cut short: it has 100000 of [0-9]* bytes; copy or build it again" "$work/err")"

contract=$(sed -n 's/.*MGB_CONTRACT "\(.*\)"/\1/p' "$MGB_BUILD_DIR/generated/engine/backend/mgb_contract.h")
LC_ALL=C sed "s/$contract/0123456789abcdef/g" "$whole" >"$plugin"
taken_are 'of another build' 0 "$plugin was built from other sources than this program; build both anew from the same"
expect 4 '' "mgbench: $plugin was built from other sources than this program; build both anew from the same" \
    "$MGBENCH" run mlp --backend cuda --steps 1
# AddressSanitizer's own symbols hold the name too, and without them nothing can be loaded.
if ! grep -q __odr_asan "$whole"; then
    LC_ALL=C sed 's/mgb_cuda_contract/mgb_cuda_kontract/g' "$whole" >"$plugin"
    taken_are 'of a build that says nothing' 0 'was built from other sources'
fi
cp "$nvml" "$plugin"
taken_are 'another library' 0 "$plugin is no CUDA plugin of this program; build it anew"
echo 'no library' >"$plugin"
taken_are 'no library' 0 'the CUDA plugin cannot be loaded: .*libmgb_cuda.so'
cp "$whole" "$plugin"
command_line='a whole copy'
same 'is taken' 2 "$(mgbench devices --csv | grep -c ',cuda,cuda,')"

head -c 9000 "$nvml" >"$work/nvml.so"
command_line='a cut NVML'
export MGBENCH_NVML="$work/nvml.so"
start run mlp --quiet --backend cuda --batch 4 --steps 2 --db r.db
finished
same 'runs, without sensors' '0 0' "$code $(ask "select count(*) from sample where device like '/gpu%'")"

finish
