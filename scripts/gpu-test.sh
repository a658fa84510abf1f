#!/usr/bin/env bash
# The tests of NVIDIA's devices, by CUDA and by OpenCL, on a machine that has one but no cargo:
#   scripts/gpu-test.sh pack FOLDER   builds them here, with the kernels if there
#                                     is nvcc, into a folder that can be carried
#   FOLDER/gpu-test.sh [FILTER…]      runs them there
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ ${1:-} != pack ]]; then
    tests=("$here"/tests/*)
    [[ -e ${tests[0]} ]] || { echo "usage: scripts/gpu-test.sh pack FOLDER" >&2; exit 2; }
    export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    # NVIDIA's OpenCL alone: tests accept any device, a driver for CPUs included.
    vendors=$(mktemp -d)
    trap 'rm -rf "$vendors"' EXIT
    echo libnvidia-opencl.so.1 > "$vendors/nvidia.icd"
    export OCL_ICD_VENDORS=$vendors/ OCL_ICD_FILENAMES=libnvidia-opencl.so.1
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    failed=0
    for test in "${tests[@]}"; do
        "$test" --test-threads=1 --skip a_fault_loses_the_device "$@" || failed=1
    done
    # They lose the device for their process, so that they come alone.
    "$here/tests/cuda" --test-threads=1 --exact a_fault_loses_the_device || failed=1
    "$here/tests/groth16" --test-threads=1 --exact cuda::a_fault_loses_the_device || failed=1
    "$here/tests/opencl" --test-threads=1 --ignored --exact a_fault_loses_the_device || failed=1
    exit $failed
fi

folder=${2:?usage: scripts/gpu-test.sh pack FOLDER}
cd "$here/.."
cargo xtask kernels || echo "without the kernels of this workspace" >&2
mkdir -p "$folder/tests" "$folder/lib"
rm -f "$folder"/tests/* "$folder"/lib/*
pack() {
    cargo test --locked --no-run --message-format=json "$@" |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | while read -r test; do
        name=$(basename "$test")
        strip -o "$folder/tests/${name%-*}" "$test"
        # What a bare machine may not have.
        ldd "$test" | awk '/hwloc|udev/ {print $3}' | xargs -r cp -L -t "$folder/lib"
    done
}
pack --package cuzk-gpu-backend --features cuda,opencl,suite --test cuda --test opencl --test opencl_cache --test field
pack --package cuzk-ntt --features cuda,opencl --test gpu
mv "$folder/tests/gpu" "$folder/tests/ntt"
pack --package cuzk-msm --features cuda,opencl --test gpu --test gpu_witness
mv "$folder/tests/gpu" "$folder/tests/msm"
mv "$folder/tests/gpu_witness" "$folder/tests/msm_witness"
pack --package cuzk-srs --features cuda,opencl --test gpu
mv "$folder/tests/gpu" "$folder/tests/srs"
pack --package cuzk-groth16 --features cuda,opencl --test device --test dual
mv "$folder/tests/device" "$folder/tests/groth16"
pack --package cuzk-synth --features cuda,opencl --test gpu
mv "$folder/tests/gpu" "$folder/tests/synth"
cargo build --locked --package cuzk-msm --features cuda,opencl --example gpu_msm
strip -o "$folder/gpu_msm" "${CARGO_TARGET_DIR:-target}/debug/examples/gpu_msm"
cargo build --locked --package cuzk-synth --features cuda,opencl --example gpu_eval
strip -o "$folder/gpu_eval" "${CARGO_TARGET_DIR:-target}/debug/examples/gpu_eval"
cp scripts/gpu-test.sh "$folder"
echo "carry $folder, then run gpu-test.sh there"
