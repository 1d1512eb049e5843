# Results that may only be read: whoever would write is told which file and whose; who reads an older one is told the way.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export LC_ALL=C MGBENCH_CPU_DEVICES=2

cat >small.lua <<LUA
mgb.run{ model = $small, gpus = 1, batch = 4, steps = 2, warmup = 1, backend = "host" }
LUA
mkdir box
mgbench --quiet --db box/r.db -e small.lua >"$work/out" 2>&1
mgbench seal box/r.db --quiet
me=$(id -un)

# What the user sees who may not write: root may always, and becomes another one.
as_reader() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups "$MGBENCH" "$@"
    else
        "$MGBENCH" "$@"
    fi
}
refused() { # what of box may only be read, who tells; then the commands
    for words in 'tag last x' 'note last x' 'rm last --yes' 'run mlp --backend host --steps 1' 'vacuum' 'seal'; do
        command_line="mgbench $words, $1"
        # shellcheck disable=SC2086
        as_reader $words --db box/r.db >"$work/out" 2>"$work/err"
        same 'exit code' 1 $?
        same 'message' 1 "$(grep -cF "may only be read: $1 (owner $me)" "$work/err")"
        same 'nothing else' 1 "$(grep -c . "$work/err")"
        same 'nothing said to be done' '' "$(cat "$work/out")"
    done
}
chmod 0755 "$work" "$work/here" box
chmod 0644 box/r.db
if as_reader query 'select 1' --db box/r.db >"$work/out" 2>&1; then
    [ "$(id -u)" -eq 0 ] || chmod 0444 box/r.db
    refused box/r.db
    chmod 0666 box/r.db
    [ "$(id -u)" -eq 0 ] || chmod 0555 box
    refused "$work/here/box"
    chmod 0777 box
    mgbench note last x --db box/r.db >"$work/out"
    [ "$(id -u)" -ne 0 ] || chmod 0644 box/r.db.lock
    [ "$(id -u)" -eq 0 ] || chmod 0444 box/r.db.lock
    refused box/r.db.lock
    rm -f box/r.db.lock
    command_line='still there'
    same 'rows' 1 "$(ask 'select count(*) from run' box/r.db)"
else
    echo "nobody to be who may not write: $(cat "$work/out")"
fi

# rm tells what it deleted when it did.
chmod 0755 box
expect 4 '' 'mgbench: 99: there is no such run; there is 1 run, the newest is 1' mgbench rm 1 99 --yes --db box/r.db
mgbench rm 1 --yes --db box/r.db >"$work/out" 2>"$work/err"
command_line='mgbench rm 1'
same 'what went' 1 "$(grep -c '^  run 1: mlp on ' "$work/err")"

finish
