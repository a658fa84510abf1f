//! A product in Montgomery form as one statement of PTX, for NVIDIA's OpenCL compiler.

use std::fmt::Write;

use super::Constants;

/// `NAME_mul` and `NAME_sqr` from here on, where the compiler is NVIDIA's. `kernels/field.cuh` explains the
/// steps: limbs have 32 bits, products of even limbs are added to one accumulator, those of odd limbs to
/// another, a limb higher, and after each step the two change names.
pub(super) fn product<const N: usize>(name: &str, field: &Constants<N>) -> String {
    let mut code = Vec::new();
    let mut emit = |line: String| code.push(line);
    emit(format!(".reg .u32 a<{N}>, b<{N}>, x<{N}>, y<{N}>, m;"));
    for i in 0..N / 2 {
        for (k, operand) in [(N / 2, 'a'), (N, 'b')] {
            emit(format!("mov.b64 {{{operand}{}, {operand}{}}}, %{};", 2 * i, 2 * i + 1, k + i));
        }
    }
    (0..N).for_each(|i| emit(format!("mov.u32 x{i}, 0; mov.u32 y{i}, 0;")));
    for i in 0..N {
        let (even, odd) = if i % 2 == 0 { ('x', 'y') } else { ('y', 'x') };
        // The sum of the step before, divided by 2^32; and the products of odd limbs.
        emit(format!("add.cc.u32 {even}0, {even}0, {odd}1;"));
        for j in (0..N).step_by(2) {
            let last = j + 2 == N;
            let above = |k: usize| if last { "0".to_owned() } else { format!("{odd}{k}") };
            emit(format!("madc.lo.cc.u32 {odd}{j}, a{}, b{i}, {};", j + 1, above(j + 2)));
            let carry = if last { "" } else { ".cc" };
            emit(format!("madc.hi{carry}.u32 {odd}{}, a{}, b{i}, {};", j + 1, j + 1, above(j + 3)));
        }
        // The products of even limbs.
        let chain = |accumulator: char, factor: &dyn Fn(usize) -> String, by: &str| -> Vec<String> {
            let pair = |j: usize| {
                let (first, low, factor) = (if j == 0 { "mad" } else { "madc" }, accumulator, factor(j));
                [
                    format!("{first}.lo.cc.u32 {low}{j}, {factor}, {by}, {low}{j};"),
                    format!("madc.hi.cc.u32 {low}{}, {factor}, {by}, {low}{};", j + 1, j + 1),
                ]
            };
            (0..N).step_by(2).flat_map(pair).collect()
        };
        chain(even, &|j| format!("a{j}"), &format!("b{i}")).into_iter().for_each(&mut emit);
        emit(format!("addc.u32 {odd}{0}, {odd}{0}, 0;", N - 1));
        // m p, with m such that the lowest limb of the sum is zero.
        emit(format!("mul.lo.u32 m, {even}0, {:#010x};", field.inv));
        let limb = |i: usize| format!("{:#010x}", field.modulus[i]);
        chain(odd, &|j| limb(j + 1), "m").into_iter().for_each(&mut emit);
        chain(even, &limb, "m").into_iter().for_each(&mut emit);
        emit(format!("addc.u32 {odd}{0}, {odd}{0}, 0;", N - 1));
    }
    emit("add.cc.u32 x0, x0, y1;".into());
    (1..N - 1).for_each(|j| emit(format!("addc.cc.u32 x{j}, x{j}, y{};", j + 1)));
    emit(format!("addc.u32 x{0}, x{0}, 0;", N - 1));
    (0..N / 2).for_each(|i| emit(format!("mov.b64 %{i}, {{x{}, x{}}};", 2 * i, 2 * i + 1)));

    let operands = |kind: &str, of: char| -> String {
        (0..N / 2).map(|i| format!("\"{kind}\"({of}.val[{i}])")).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!(
        "#ifdef __NV_CL_C_VERSION\n\
         // The product a b / R mod p, below 2p before the subtraction.\n\
         {name} {name}_mul_ptx({name} a, {name} b) {{\n  {name} r;\n  asm(\"{{\\n\\t\"\n"
    );
    for line in &code {
        let _ = writeln!(text, "      \"{line}\\n\\t\"");
    }
    let _ = write!(
        text,
        "      \"}}\"\n      : {}\n      : {}, {});\n  \
         return {name}_gte(r, {name}_P) ? {name}_sub_(r, {name}_P) : r;\n}}\n\
         {name} {name}_sqr_ptx({name} a) {{ return {name}_mul_ptx(a, a); }}\n\
         #define {name}_mul {name}_mul_ptx\n#define {name}_sqr {name}_sqr_ptx\n#endif",
        operands("=l", 'r'),
        operands("l", 'a'),
        operands("l", 'b'),
    );
    text
}
