//! Vector kernels for x86-64. Same names and same shapes in each file; only the width differs.

pub mod avx2;
pub mod avx512;
