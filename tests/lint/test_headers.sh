# Every header compiles alone, as C11. Those of engine/cuda are taken with the headers of the fakes where NVIDIA's are missing.
. "$(dirname "$0")/common.sh"
found=$(mktemp)
cuda=tests/fake_cuda/include
dnn="-isystem $cuda/dnn"
for folder in /usr/local/cuda/include "${CUDA_HOME:-/nonexistent}/include" /usr/include; do
    [ -f "$folder/cuda_runtime_api.h" ] && cuda=$folder && dnn="-idirafter tests/fake_cuda/include/dnn" && break
done
sources h engine db app tests | while read -r header; do
    case $header in
        engine/hosts/*) command -v mpicc >/dev/null || continue ;;
    esac
    # shellcheck disable=SC2046,SC2086
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -fsyntax-only -x c -I engine/include -I . -isystem "$cuda" \
        $dnn $(pkg-config --cflags lua5.4 2>/dev/null) -include "$header" /dev/null >>"$found.all" 2>&1 ||
        echo "$header:1: does not compile alone" >>"$found"
done
[ -s "$found" ] && cat "$found.all"
rm -f "$found.all"
finish "$found"
