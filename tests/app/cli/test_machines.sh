# machines and devices --machine: what is listed, drawn and said of broken files.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export LC_ALL=C

command_line='mgbench machines'
same 'names' "$(cd "$MGB_SOURCE_DIR/scripts/machines" && ls -- *.lua | sed 's/\.lua$//')" \
    "$(mgbench machines --csv | sed -n '2,$s/,.*//p')"
same 'a row' '{"machine":"dgx1v","gpus":8,"summary":"NVIDIA DGX-1V, p3.16xlarge: 8 V100 SXM2, NVLink cube mesh, two sockets","file":"' \
    "$(mgbench machines --json | grep '"dgx1v"' | sed 's/"file":".*/"file":"/')"
same 'wide lines' '' "$(mgbench machines | awk 'length > 100')"

command_line='mgbench machines dgx1v'
same 'head' 'dgx1v: NVIDIA DGX-1V, p3.16xlarge: 8 V100 SXM2, NVLink cube mesh, two sockets
8 x V100-SXM2-16GB' "$(mgbench machines dgx1v | sed -n 1,2p)"
same 'a source' '{"figure":"gpu.launch_us","source":"about 3 us for an empty kernel on recent parts: NVIDIA forum"}' \
    "$(mgbench machines dgx1v --json | grep launch_us | tr -d '\r' | head -n 1)"
expect 2 '' "mgbench: mgb.machine: there is no machine 'dgx1-p10' (did you mean 'dgx1-p100'?); mgbench machines lists them" \
    mgbench machines dgx1-p10

expect 0 'gtx1080ti-2: a desktop with 2 GTX 1080 Ti on PCIe 3 (simulated)

/cpu:0  8 cores, 32.0 GiB
|- /gpu:0  12 GB/s, 5 us, pcie
`- /gpu:1  12 GB/s, 5 us, pcie

device    memory    tflops  tf32  bf16  f16  GBps  us  label
/cpu:0    32.0 GiB     0.4     -     -    -    40   0  8 cores
/gpu:0-1  11.0 GiB    11.3     -     -    -   484   3  GTX 1080 Ti

copies between GPUs with peer access, GB/s (-: not possible)
from\to      0     1
/gpu:0       -  10.0
/gpu:1    10.0     -

without, by way of the host, GB/s
from\to      0     1
/gpu:0       -  12.0
/gpu:1    12.0     -' '' mgbench devices --machine gtx1080ti-2
mgbench machines --csv >"$work/shipped"
for name in $(sed -n '2,$s/,.*//p' "$work/shipped"); do
    command_line="mgbench devices --machine $name"
    same 'lines wider than 80' '' "$(mgbench devices --machine "$name" | sed 1d | awk 'length > 80')"
    same 'devices' "$(awk -F, -v n="$name" '$1 == n { print $2 + 2 }' "$work/shipped")" \
        "$(mgbench devices --machine "$name" --csv | wc -l)"
done
command_line='mgbench devices --machine dgx1v --links'
same 'pairs' 73 "$(mgbench devices --machine dgx1v --links --csv | wc -l)"
same 'a pair' '/gpu:0,/gpu:5,staged,slow,6,11' \
    "$(mgbench devices --machine dgx1v --links --csv | grep '^/gpu:0,/gpu:5,' | cut -d, -f 1-6)"
expect 2 '' 'mgbench: --machine: backend "host" cannot play on a machine file; leave --backend out, or give sim' \
    mgbench devices --machine dgx1v --backend host

# Files of the user: one hides a shipped one of its name, and one that is broken ends nothing.
mkdir -p machines "$XDG_DATA_HOME/mgbench/lua/machines"
cat >machines/mine.lua <<'LUA'
local cards = require "machines.parts.cards"
local links = { source = "none" }
for i = 0, 39 do links[#links + 1] = { "/cpu:0", "/gpu:" .. i, gbps = 10 } end
return mgb.machine{ name = "mine", gpu = cards.p100_pcie{ count = 40 }, links = links, speeds = { ["/gpu:3"] = 0.5, source = "none" } }
LUA
command_line='mgbench devices --machine ./machines/mine.lua'
same 'many' '`- ... and 16 more' "$(mgbench devices --machine ./machines/mine.lua | grep more)"
same 'matrix' 'The first 12 of 40 GPUs.' "$(mgbench devices --machine machines/mine.lua | grep 'The first' | sort -u)"
same 'a slow one' '/gpu:3 computes at 0.5 of its kind.' "$(mgbench devices --machine mine --lua-path . | grep computes)"
cp machines/mine.lua "$XDG_DATA_HOME/mgbench/lua/machines/dgx1v.lua"
echo 'return mgb.machine{ name = "y", gpus = 3 }' >"$XDG_DATA_HOME/mgbench/lua/machines/broken.lua"
mgbench machines --csv >"$work/list" 2>"$work/err"
code=$?
command_line='mgbench machines, one broken'
same 'exit code' 1 "$code"
same 'hides' "dgx1v,40,40 x P100-PCIE-16GB,$XDG_DATA_HOME/mgbench/lua/machines/dgx1v.lua" "$(grep '^dgx1v,' "$work/list" | tr -d '\r')"
same 'broken' 1 "$(grep -c '^broken,,.*gpus: table expected, got 3' "$work/list")"
same 'error' 'mgbench: a machine file cannot be read; mgbench machines NAME says why' "$(cat "$work/err")"
echo 'return 3' >three.lua
expect 2 '' "mgbench: mgb.machine: './three.lua' returns 3, not a machine: it should end in return mgb.machine{...}" \
    mgbench machines ./three.lua
echo 'return mgb.machine("./ring.lua")' >ring.lua
expect 2 '' "mgbench: mgb.machine: './ring.lua' asks for itself" mgbench machines ./ring.lua
echo 'while true do end' >endless.lua
start machines ./endless.lua
sleep 0.3
kill -INT "$pid"
finished
command_line='mgbench machines ./endless.lua, interrupted'
same 'exit code' yes "$([ "$code" -ne 0 ] && [ "$code" -lt 128 -o "$code" = 130 ] && echo yes)"
finish
