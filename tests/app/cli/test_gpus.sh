# The whole program on GPUs that are none: the CUDA plugin over the fake runtime, loaded as the real one is. Which devices
# there are and why not, runs on several, one card for several devices, ways between GPUs that damage bytes or crawl.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
. "$MGB_SOURCE_DIR/tests/app/cli/fake_gpus.sh"

# ---- what there is, and why not ----
command_line='mgbench devices'
same 'devices' '/cpu:0 cpu /gpu:0 cuda /gpu:1 cuda ' \
    "$(mgbench devices --csv | tr -d '\r' | sed 1d | awk -F, '{ printf "%s %s ", $1, $2 }')"
same 'both shown' '0000:11:00.0,GPU-fafafafa-fafa-fafa-fafa-fafafafafa01' \
    "$(mgbench devices --csv | tr -d '\r' | sed -n '4s/.*Fake GPU,//p')"
export FAKE_CUDA_DEVICES=3 CUDA_VISIBLE_DEVICES=2,0
same 'those that are visible, in that order' '0000:12:00.0 0000:10:00.0 ' \
    "$(mgbench devices --csv | sed '1,2d' | awk -F, '{ printf "%s ", $6 }')"
export CUDA_VISIBLE_DEVICES=GPU-fafafafa-fafa-fafa-fafa-fafafafafa02,1
same 'by UUID and by number' '0000:12:00.0 0000:11:00.0 ' \
    "$(mgbench devices --csv | sed '1,2d' | awk -F, '{ printf "%s ", $6 }')"
for hidden in -1 7 nonsense GPU-fafa GPU-beef MIG-GPU-fafafafa/1/0; do
    expect 4 '' "mgbench: no CUDA: CUDA_VISIBLE_DEVICES='$hidden' hides every device" \
        env CUDA_VISIBLE_DEVICES="$hidden" "$MGBENCH" devices --backend cuda
done
unset CUDA_VISIBLE_DEVICES
export FAKE_CUDA_DEVICES=2

refused() { # code of the driver, words
    expect 4 '' "mgbench: no CUDA: $2" env FAKE_CUDA_INIT="$1" "$MGBENCH" devices --backend cuda
}
refused 35 'no NVIDIA driver is installed (code 35)'
refused 34 'no NVIDIA driver is installed (code 34)'
refused 100 'the driver reports no device (code 100)'
expect 4 '' "mgbench: no CUDA: CUDA_VISIBLE_DEVICES='' hides every device" \
    env CUDA_VISIBLE_DEVICES= "$MGBENCH" devices --backend cuda
command_line='auto without a driver'
same 'one line why' 'mgbench: CPU devices, because no CUDA: no NVIDIA driver is installed (code 35)' \
    "$(FAKE_CUDA_INIT=35 mgbench devices 2>&1 >/dev/null)"

# ---- runs ----
command_line='run on two GPUs'
start run mlp --quiet --gpus 2 --batch 4 --steps 3 --db r.db
finished
same 'exit code' 0 "$code"
same 'backend and outcome' 'cuda ok' "$(ask "select backend || ' ' || outcome from run order by id desc")"
same 'identities' '/gpu:0 0 0000:10:00.0 9.0,/gpu:1 1 0000:11:00.0 9.0' \
    "$(ask "select group_concat(name || ' ' || driver_index || ' ' || pci || ' ' || compute_capability, ',') from
        (select * from device where kind = 'cuda' order by name)" | tr -d '"')"

# names are another GPU's in the next run: each keeps what its own were
was() { # which GPU /gpu:0 of a run was
    ask "select json_extract(environment, '\$.\"/gpu:0\"') from run where id = $1" | tr -d '"'
}
command_line='the same name for another GPU'
first=$(ask 'select max(id) from run')
CUDA_VISIBLE_DEVICES=1 start run mlp --quiet --batch 4 --steps 3 --db r.db
finished
same 'before' 'Fake GPU, 0000:10:00.0, GPU-fafafafa-fafa-fafa-fafa-fafafafafa00, number 0' "$(was "$first")"
same 'now' 'Fake GPU, 0000:11:00.0, GPU-fafafafa-fafa-fafa-fafa-fafafafafa01' "$(was "$((first + 1))")"
same 'shown' 1 "$(mgbench show "$first" --db r.db | grep -c '^  /gpu:0  *Fake GPU, 0000:10:00.0, GPU-')"
same 'told apart' 1 "$(mgbench compare "$first" "$((first + 1))" --db r.db | grep -c '^/gpu:0 .*0000:10:00.0.*0000:11:00.0')"

expect 2 '' "mgbench: gpus: wanted /gpu:1 /gpu:1, present /cpu:0 /gpu:0 /gpu:1; /gpu:1 is listed twice; give logical = true to run several towers on one GPU" \
    "$MGBENCH" run mlp --backend cuda --gpus 1,1 --steps 1

command_line='several devices on one card'
export FAKE_CUDA_DEVICES=1
for gpus in 0,0,0 3; do
    start run mlp --quiet --backend cuda --gpus $gpus --logical --batch 4 --steps 3 --strategy allreduce --db r.db
    finished
    same "exit code of $gpus" 0 "$code"
    same "towers of $gpus" '["/gpu:0","/gpu:1","/gpu:2"]' "$(ask 'select gpu_list from segment order by id desc' | sed 's/""/"/g; s/^"//; s/"$//')"
done
export FAKE_CUDA_DEVICES=2

# ---- ways between GPUs ----
command_line='devices --links'
same 'good ones' '/gpu:0 /gpu:1 direct good,/gpu:1 /gpu:0 direct good,' \
    "$(mgbench devices --links --csv | sed 1d | awk -F, '{ printf "%s %s %s %s,", $1, $2, $3, $4 }')"
same 'both ways have figures' 2 "$(mgbench devices --links --csv | sed 1d | tr -d '\r' |
    awk -F, '$5 > 0 && $6 > 0 && $7 > 0 && $8 > 0' | wc -l | tr -d ' ')"
same 'none' '/gpu:0 /gpu:1 staged none' \
    "$(FAKE_CUDA_PEER=none mgbench devices --links --csv | sed -n 2p | awk -F, '{ print $1, $2, $3, $4 }')"
expect 4 '' 'mgbench: --links tries the ways between GPUs: backend cuda has fewer than two' \
    env FAKE_CUDA_DEVICES=1 "$MGBENCH" devices --links

spread='--gpus 2 --batch 4 --steps 3 --strategy gradients --weights-at spread --sum-at spread'
between() { # more options of a run over both GPUs
    start run mlp --quiet $spread --db r.db "$@"
    finished
    same 'exit code' 0 "$code"
}
told() { # words: how often the newest run was remarked on with them
    ask "select count(*) from note where run_id = (select max(id) from run) and text like '%$1% [peer]'"
}
command_line='every way between eight'
FAKE_CUDA_DEVICES=8 start run mlp --quiet --gpus 8 --batch 1 --steps 2 --strategy gradients --weights-at spread --sum-at spread \
    --option layers=9 --option hidden=16 --db eight.db
finished
same 'stored' 56 "$(ask "select count(*) from link where peer_verdict = 'good'" eight.db)"
digest() {
    ask 'select digest from segment order by id desc'
}
command_line='a run over good ways'
between
same 'stored' 'good 1,good 1' "$(ask "select group_concat(peer_verdict || ' ' || peer_access, ',') from link where from_device like
    '/gpu%' and to_device like '/gpu%'" | tr -d '"')"
same 'both figures' 2 "$(ask 'select count(*) from link where peer_gbps > 0 and staged_gbps > 0 and peer_latency_ns > 0')"
good=$(digest)
command_line='a run over ways that damage bytes'
export FAKE_CUDA_PEER_BAD=0-1
between
same 'told' 2 "$(told 'arrive damaged: they go by way of the host')"
same 'stored' 'bad 0,bad 0' "$(ask "select group_concat(peer_verdict || ' ' || peer_access, ',') from link where from_device like
    '/gpu%' and to_device like '/gpu%'" | tr -d '"')"
same 'avoided' "$good" "$(digest)"
between --peer-access=true
same 'avoided when asked for' "$good" "$(digest)"
start run mlp --quiet --gpus 2 --batch 4 --steps 3 --strategy allreduce --db r.db
finished
bad=$(digest)
unset FAKE_CUDA_PEER_BAD
start run mlp --quiet --gpus 2 --batch 4 --steps 3 --strategy allreduce --db r.db
finished
same 'all-reduce avoids it too' "$(digest)" "$bad"
command_line='a run over slow ways'
export FAKE_CUDA_PEER_SLOW=0-1:20000
between
same 'told' 2 "$(told ': copies go that way')"
between --peer-access=true
same 'used when asked for' 2 "$(told 'used all the same, as asked')"
unset FAKE_CUDA_PEER_SLOW

# ---- CUDA is loaded by those alone who may use it ----
loads() { # words: how many libraries of CUDA they load
    LD_DEBUG=files "$MGBENCH" "$@" 2>&1 >/dev/null </dev/null | grep -c 'file=.*\(libmgb_cuda\|libcu[a-z]*\.so\|libnccl\).*generating link map'
}
command_line='what is loaded'
same 'by --version' 0 "$(loads --version)"
same 'by plan on the host' 0 "$(loads plan mlp --backend host --gpus 2)"
same 'by models' 0 "$(loads models)"
same 'by devices' 1 "$(loads devices)"

finish
