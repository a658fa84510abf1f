#!/usr/bin/env bash
# Sums and transforms on an NVIDIA device beside sppark's, in turns in one process:
#   scripts/gpu-bench.sh pack FOLDER   builds both here, with nvcc, into a folder
#                                      that can be carried (ARCH=sm_90)
#   FOLDER/gpu-bench.sh [WHAT=LOG,LOG…]…   runs there, without cargo: a table,
#                                      and JSON on the last line
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ ${1:-} != pack ]]; then
    [[ -e $here/gpu_bench ]] || { echo "usage: scripts/gpu-bench.sh pack FOLDER" >&2; exit 2; }
    export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    nvidia-smi --query-gpu=name,driver_version,clocks.sm --format=csv,noheader
    exec "$here/gpu_bench" "$here/libsppark.so" "$@"
fi

folder=${2:?usage: scripts/gpu-bench.sh pack FOLDER}
arch=${ARCH:-sm_90}
cd "$here/.."
nvcc=${NVCC:-${CUDA_HOME:+$CUDA_HOME/bin/nvcc}}
nvcc=${nvcc:-nvcc}
cargo xtask kernels --arch "$arch"
mkdir -p "$folder/lib"

# The rival, with blst as it wants it, from the registry's sources.
rival=benches/rivals/sppark
cargo fetch --locked --manifest-path $rival/Cargo.toml
source_of() {
    cargo metadata --locked --all-features --format-version 1 --manifest-path $rival/Cargo.toml |
        grep -o "\"manifest_path\":\"[^\"]*/$1-[0-9.]*/Cargo.toml\"" | head -n 1 | cut -d '"' -f 4 | xargs dirname
}
sppark=$(source_of sppark)/sppark blst=$(source_of blst)/blst
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
cc -O3 -fPIC -D__ADX__ -mavx -c "$blst/src/server.c" -o "$objects/blst.o"
cc -fPIC -D__ADX__ -c "$blst/build/assembly.S" -o "$objects/assembly.o"
flags=(-O3 -std=c++17 "-arch=$arch" -DFEATURE_BLS12_381 -D__ADX__ -DTAKE_RESPONSIBILITY_FOR_ERROR_MESSAGE
    -Xcompiler -fPIC,-O3,-mavx,-Wno-unused-function,-Wno-subobject-linkage
    -I "$sppark" -I "$blst/src" -I crates/gpu-backend/kernels)
# Where wheels put what a toolkit has by itself.
[[ ! -d ${CUDA_HOME:-}/include/cccl ]] || flags+=(-I "$CUDA_HOME/include/cccl")
"$nvcc" "${flags[@]}" -c -o "$objects/harness.o" $rival/harness.cu
"$nvcc" "${flags[@]}" -x cu -c -o "$objects/gpus.o" "$sppark/util/all_gpus.cpp"
"$nvcc" -shared -o "$folder/libsppark.so" "$objects"/*.o
strip "$folder/libsppark.so"

cargo build --locked --release --manifest-path $rival/Cargo.toml
built=${CARGO_TARGET_DIR:-$rival/target}/release/gpu_bench
strip -o "$folder/gpu_bench" "$built"
ldd "$built" | awk '/hwloc|udev/ {print $3}' | xargs -r cp -L -t "$folder/lib"
cp scripts/gpu-bench.sh "$folder"
echo "carry $folder, then run gpu-bench.sh there"
