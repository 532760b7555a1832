//! x86-64 instruction sets, one file each.

pub(super) mod avx2;
