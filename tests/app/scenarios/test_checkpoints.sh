# Scenarios of checkpoints.lua, in a folder of their own; then the same by the command line.
. "${MGB_SOURCE_DIR:?}/tests/app/scenarios/driver.sh"
cd "$work" || exit 1
scenarios checkpoints

export MGBENCH_DB="$work/cli.db"
adam="--backend host --data digits --optimizer adam --warmup 0 --quiet"
loss() { # of a run's rows
    sed -n 's/.*"loss": *\([0-9.]*\).*/\1/p'
}
# shellcheck disable=SC2086
{
    whole=$("$MGBENCH" run digits_cnn $adam --steps 8 --gpus 2 --batch 16 --json | loss)
    "$MGBENCH" run digits_cnn $adam --steps 5 --gpus 2 --batch 16 --save cli.safetensors >out || fail cli "saving failed"
    [ -f cli.safetensors ] && [ -f cli.optimizer.safetensors ] || fail cli "no files"
    rest=$("$MGBENCH" run digits_cnn $adam --steps 3 --gpus 2 --batch 16 --load cli.safetensors --json | loss)
    [ -n "$whole" ] && [ "$whole" = "$rest" ] || fail cli "resumed loss is $rest, uninterrupted $whole"
    "$MGBENCH" run digits_cnn $adam --steps 1 --load cli.safetensors --weights-only >out || fail cli "weights alone failed"
}

# refuse CODE WORDS ARGUMENTS...
refuse() {
    code=$1 words=$2
    shift 2
    "$MGBENCH" run "$@" --steps 1 >out 2>err
    got=$?
    [ "$got" -eq "$code" ] || fail cli "run $*: exit $got, not $code: $(cat err)"
    grep -q -e "$words" err || fail cli "run $*: '$(cat err)' lacks '$words'"
}
mkfifo pipe
head -c 700 cli.safetensors >short.safetensors
refuse 2 "tensor 'logits/kernel' is 512x10" mlp --load cli.safetensors
refuse 1 "short.safetensors': tensor '" digits_cnn --load short.safetensors
refuse 4 "No such file" digits_cnn --load nothing
refuse 2 "is a pipe" digits_cnn --load pipe
refuse 2 "is a pipe" digits_cnn --save pipe
refuse 2 "is a folder" digits_cnn --save .
refuse 4 "folder 'no'" digits_cnn --save no/w
refuse 2 "belongs to --load" digits_cnn --partial
refuse 2 "exclude each other" digits_cnn --save w --repeats 2
[ "$(find . -name '*.tmp' | wc -l)" -eq 0 ] || fail cli "something is left beside the files"
