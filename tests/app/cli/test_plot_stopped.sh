# plot and report with a gnuplot that fails, never ends or dies, and when the user stops them: the old files stay.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export LC_ALL=C MGBENCH_CPU_DEVICES=2 MGBENCH_DB="$work/here/r.db"

cat >small.lua <<LUA
mgb.run{ model = $small, gpus = 2, batch = 4, steps = 4, warmup = 1, backend = "host" }
LUA
expect 0 "$(mgbench --quiet -e small.lua 2>/dev/null)" '' mgbench --quiet -e small.lua

# A gnuplot that does what \$FAKE says; \$\$ of the one that hangs stands in the file "hangs".
mkdir fake
cat >fake/gnuplot <<'SH'
#!/bin/sh
case $FAKE in
    fails) echo 'line 3: no such terminal' >&2; exit 3 ;;
    dies) kill -TERM $$ ;;
    hangs) echo $$ >"$HANGS.new"; mv "$HANGS.new" "$HANGS"; exec sleep 1000 ;;
esac
SH
chmod +x fake/gnuplot
export PATH="$work/here/fake:$PATH" HANGS="$work/here/hangs"

there() { # a gnuplot hangs
    [ -s hangs ] && kill -0 "$(cat hangs)"
}
gone() {
    ! kill -0 "$(cat hangs)" || grep -q '^State:.Z' "/proc/$(cat hangs)/status"
}
old() { # the files of an earlier time
    mkdir -p page
    echo old >page/index.html
    echo old >a.svg
    rm -f hangs
}
kept() {
    same 'exit code' "$1" "$code"
    same 'the old page' old "$(cat page/index.html)"
    same 'the old picture' old "$(cat a.svg)"
    same 'nothing is left' 'index.html' "$(ls -A page)"
    same 'nothing is left' 'a.svg' "$(ls a.svg*)"
}

# It fails: a report has characters, and says so once on standard error; a picture is none.
old
expect 0 page/index.html \
    'mgbench: report: gnuplot failed (exit 3): line 3: no such terminal; pictures are drawn with characters' \
    env FAKE=fails "$MGBENCH" report page
same 'the page tells at both pictures' 2 "$(grep -c '<p>Drawn with characters, for gnuplot failed (exit 3): line 3: no such terminal' page/index.html)"
same 'no picture' 0 "$(grep -c '<figure' page/index.html)"
old
expect 1 '' 'mgbench: plot phases: gnuplot failed (exit 3): line 3: no such terminal' \
    env FAKE=fails "$MGBENCH" plot phases --file a.svg
kept 1
expect 1 '' 'mgbench: plot phases: gnuplot was ended by signal 15' env FAKE=dies "$MGBENCH" plot phases --file a.svg
kept 1

# It never ends.
old
expect 1 '' "mgbench: plot phases: gnuplot did not end within 0.1 s and was ended: try again, or give it more (MGBENCH_GNUPLOT_TIMEOUT=SECONDS)" \
    env FAKE=hangs MGBENCH_GNUPLOT_TIMEOUT=0.1 "$MGBENCH" plot phases --file a.svg
kept 1
expect 0 page/index.html "mgbench: report: gnuplot did not end within 0.1 s and was ended: try again, or give it more (MGBENCH_GNUPLOT_TIMEOUT=SECONDS); pictures are drawn with characters" \
    env FAKE=hangs MGBENCH_GNUPLOT_TIMEOUT=0.1 "$MGBENCH" report page

# The user stops it: from the terminal, alone, by SIGTERM; it ends with us also when we are killed.
export FAKE=hangs
for what in report plot; do
    for how in group alone TERM KILL; do
        command_line="$what, stopped: $how"
        old
        case $what in
            report) set -- report page ;;
            plot) set -- plot phases --file a.svg ;;
        esac
        : >"$work/out"
        setsid env --default-signal=INT "$MGBENCH" "$@" >"$work/out" 2>"$work/err" </dev/null &
        pid=$!
        until_true 60 there || same 'gnuplot is there' yes no
        case $how in
            group) kill -INT "-$pid" ;;
            alone) kill -INT "$pid" ;;
            TERM) kill -TERM "$pid" ;;
            KILL) kill -KILL "-$pid" ;;
        esac
        finished
        until_true 60 gone || same 'gnuplot is gone' yes no
        if [ "$how" = KILL ]; then
            same 'the old page' old "$(cat page/index.html)"
            same 'the old picture' old "$(cat a.svg)"
            rm -f ./*/*.partial ./*.partial
            continue
        fi
        case $what in
            report) told='mgbench: report: interrupted; no page was written, an older one is as it was' ;;
            plot) told='mgbench: plot phases: interrupted; no picture was written, an older one is as it was' ;;
        esac
        same 'tells' "$told" "$(cat "$work/err")"
        kept 130
    done
done

# What a killed one left is replaced by the next.
PATH=${PATH#*:}
if command -v gnuplot >/dev/null; then
    echo left >a.svg.partial
    expect 0 '' '' mgbench plot phases --file a.svg
    same 'the picture is new' 1 "$(grep -c '</svg>' a.svg)"
    same 'nothing is left' 'a.svg' "$(ls a.svg*)"
fi
finish
