#!/usr/bin/env bash
# Whole PoRep proofs on an NVIDIA device beside bellperson's cuda-supraseal prover, on the
# same C1 with the same parameters, whole processes in turns:
#   scripts/gpu-rival.sh pack FOLDER [CUZK]   builds the rival here, with nvcc (ARCH=sm_90), and
#                                             packs it with the program (built if none is named)
#   FOLDER/gpu-rival.sh [SECTOR…]             runs there, without cargo (8MiB if none is named):
#                                             C1 and test parameters into $WORK, then ROUNDS
#                                             turns, then QUEUED proofs, twenty at once, beside
#                                             the card's load; a table, and JSON on the last line
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rounds=${ROUNDS:-3} count=${COUNT:-5} queued=${QUEUED:-300}

# A number of JSON, by its name and that of the object before it.
field() { tr -d ' \n' | sed "s/.*\"$1\"//" | grep -oE "\"$2\":[0-9.e-]+" | head -n 1 | grep -oE '[0-9.e-]+$'; }
median() { sort -g | awk '{v[NR] = $1} END {print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2}'; }

# Both in turns, so that what else the machine does falls on both alike.
turns() {
    local turn ours=() theirs=() walls=()
    for ((turn = 1; turn <= rounds; turn++)); do
        "${bench[@]}" -n 41 -j 1 >"$work/ours"
        ours+=("$(field decode_seconds p50 <"$work/ours") $(field latency_seconds p50 <"$work/ours")")
        ours[-1]=$(awk '{print $1 + $2}' <<<"${ours[-1]}")
        printf '%s, turn %s: cuzk %s s from a C1 in memory to the verified proof; cuda-supraseal:\n' "$sector" "$turn" "${ours[-1]}"
        "$here/c2_supraseal" "$c1" "$count" >"$work/theirs"
        sed '$d' "$work/theirs"
        theirs+=("$(field median prover_s <"$work/theirs")")
        walls+=("$(field median wall_s <"$work/theirs")")
    done
    ours_s=$(printf '%s\n' "${ours[@]}" | median)
    prover_s=$(printf '%s\n' "${theirs[@]}" | median)
    wall_s=$(printf '%s\n' "${walls[@]}" | median)
}

# The card's load as its driver has it, from three seconds after the first proof was asked for
# (the parameters are on the card by then) until one second before the last was there.
load() {
    stdbuf -oL nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits -lms 100 > >(
        while read -r percent; do echo "$EPOCHREALTIME $percent"; done >"$work/load"
    ) &
    local sampler=$!
    "${bench[@]}" -n "$queued" -j 20 >"$work/queued"
    local end=$EPOCHREALTIME
    kill $sampler
    wait $sampler || true
    queued_s=$(field proofs_per_minute seconds <"$work/queued")
    read -r busy samples < <(awk -v from="$end" -v span="$queued_s" '
        $1 > from - span + 3 && $1 < from - 1 {sum += $2; n++} END {print (n ? sum / n : 0), n + 0}' "$work/load")
}

if [[ ${1:-} != pack ]]; then
    [[ -e $here/c2_supraseal ]] || { echo "usage: scripts/gpu-rival.sh pack FOLDER [CUZK]" >&2; exit 2; }
    export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    work=${WORK:-$(mktemp -d)}
    nvidia-smi --query-gpu=name,driver_version,clocks.sm --format=csv,noheader
    rows=() json=()
    for sector in "${@:-8MiB}"; do
        c1=$work/c1-$sector.json params=$work/params-$sector
        export FIL_PROOFS_PARAMETER_CACHE=$params
        "$here/cuzk" --quiet fixture porep --sector-size "$sector" --out "$c1"
        "$here/cuzk" --quiet setup porep --sector-size "$sector" --seed 1 --official-names --out "$params"
        bench=("$here/cuzk" --json --quiet bench --c1 "$c1" --params "$params" --backend cuda)
        turns
        load
        each_s=$(awk "BEGIN {print $queued_s / $queued}") ratio=$(awk "BEGIN {print $prover_s / $ours_s}")
        rows+=("$sector|$ours_s|$prover_s|$wall_s|$ratio|$each_s|$busy ($samples)")
        json+=("\"$sector\":{\"cuzk_s\":$ours_s,\"prover_s\":$prover_s,\"wall_s\":$wall_s,\"ratio\":$ratio,\"queued_s\":$each_s,\"busy_percent\":$busy,\"samples\":$samples}")
    done
    printf '\n%-8s %9s %16s %14s %7s %10s %s\n' sector 'cuzk s' 'supraseal prover' 'supraseal wall' ratio 'queued s' 'busy % (samples)'
    for row in "${rows[@]}"; do
        IFS='|' read -ra cells <<<"$row"
        printf '%-8s %9.4f %16.3f %14.3f %7.1f %10.4f %s\n' "${cells[@]}"
    done
    (IFS=,; printf '{%s}\n' "${json[*]}")
    exit
fi

folder=${2:?usage: scripts/gpu-rival.sh pack FOLDER [CUZK]}
cuzk=${3:-}
arch=${ARCH:-sm_90}
cd "$here/.."
rival=benches/rivals/supraseal
target=${CARGO_TARGET_DIR:-$PWD/$rival/target}
nvcc=${NVCC:-${CUDA_HOME:+$CUDA_HOME/bin/nvcc}}
nvcc=$(command -v "${nvcc:-nvcc}")
toolkit=${CUDA_HOME:-$(dirname "$(dirname "$nvcc")")}
tools=$target/supraseal-tools
mkdir -p "$folder/lib" "$tools/lib64"

# sppark's build script asks for a list of architectures of its own; a card's own is as sppark
# is built in gpu-bench.sh. cccl is where wheels put what a toolkit has by itself.
cat >"$tools/nvcc" <<WRAPPER
#!/usr/bin/env bash
arguments=()
while ((\$#)); do
    if [[ \$1 == -gencode ]]; then shift 2; else arguments+=("\$1"); shift; fi
done
exec "$nvcc" -I "$toolkit/include/cccl" "\${arguments[@]}" "-arch=$arch"
WRAPPER
chmod +x "$tools/nvcc"

# To link against where there is no driver: names alone.
grep -oE '\bcu[A-Z][A-Za-z0-9]*(_v[0-9]+)?(_ptsz|_ptds)?\b' "$toolkit/include/cuda.h" | sort -u |
    sed 's/.*/void &(void) {}/' | cc -shared -Wl,-soname,libcuda.so.1 -o "$tools/lib64/libcuda.so" -x c -

# ec-gpu-gen's kernels come with the feature, and this prover never loads them: their source
# stands in for what nvcc would take minutes to make of it.
NVCC=$tools/nvcc PATH=$tools:$PATH CUDA_LIBRARY_PATH=$tools EC_GPU_CUDA_NVCC_ARGS=--preprocess \
    RUSTFLAGS="${RUSTFLAGS:-} -L native=$toolkit/lib64" \
    cargo build --locked --release --manifest-path $rival/Cargo.toml
strip -o "$folder/c2_supraseal" "$target/release/c2_supraseal"

if [[ -z $cuzk ]]; then
    cargo xtask kernels --arch "$arch"
    cargo build --locked --release --package cuzk-cli
    cuzk=${CARGO_TARGET_DIR:-target}/release/cuzk
fi
strip -o "$folder/cuzk" "$cuzk"
ldd "$cuzk" "$folder/c2_supraseal" | awk '/hwloc|udev|OpenCL/ {print $3}' | sort -u | xargs -r cp -L -t "$folder/lib"
cp scripts/gpu-rival.sh "$folder"
echo "carry $folder, then run gpu-rival.sh there"
