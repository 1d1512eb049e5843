# A run that stores variables twice is marked wherever its figures are shown, and compared with nothing.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db
marked() { # words wanted in the output, command...
    words=$1
    shift
    command_line="$*"
    start "$@"
    finished
    same 'marked' 1 "$([ "$(grep -c "$words" "$work/out")" -gt 0 ] && echo 1 || cat "$work/out" "$work/err")"
}

for gpus in 1 2; do
    mgbench run siamese_unshared --gpus $gpus --batch 2 --steps 4 --warmup 1 --backend host --quiet >/dev/null
done
marked 'ok.*, duplicates$' runs --last 1
marked '"duplicates":[1-9]' runs --last 1 --json
marked 'variables are stored more often' show last
marked 'duplicates' scaling siamese_unshared
marked '"wrong":"duplicates"' scaling siamese_unshared --json
marked 'trained otherwise than asked for' plot scaling siamese_unshared
mgbench report page siamese_unshared --quiet >/dev/null 2>&1
command_line=report
same 'marked' 1 "$(grep -q duplicates page/index.html && echo 1)"
marked 'refused' compare 1 2
marked 'stores [0-9]* variables twice' compare 1 2
finish
