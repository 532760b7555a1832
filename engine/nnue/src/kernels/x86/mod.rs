//! x86-64 instruction sets, one file each.

pub(super) mod avx2;
pub(super) mod avx512;
pub(super) mod avx512vnni;
pub(super) mod avxvnni;
pub(super) mod sse41;
