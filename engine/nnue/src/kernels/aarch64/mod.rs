//! AArch64 instruction sets, one file each.

pub(super) mod neon;
pub(super) mod neondot;
