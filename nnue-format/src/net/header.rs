//! The fixed head of a net file, laid out by hand. `docs/net-format.md` has the table.

use crate::arch::{Architecture, MAX_TEXT};
use crate::error::NetFileError;
use crate::quant;

/// First bytes of every net file.
pub const MAGIC: [u8; 8] = *b"ChuheNet";
/// The version written and read.
pub const VERSION: u32 = 1;
/// Length of the header in bytes.
pub const HEADER_LEN: usize = 152;
/// Length of the checksum that ends the file.
pub(super) const DIGEST_LEN: usize = 32;
/// No description is longer, in bytes.
pub(super) const MAX_DESCRIPTION: u32 = 1 << 20;

/// What a valid header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) arch: Architecture,
    pub(super) description_len: u32,
    /// Length of the decompressed payload.
    pub(super) raw_len: u64,
    /// Length of the zstd payload.
    pub(super) payload_len: u64,
}

/// Bytes of an architecture's weights in a file before compression.
pub(super) fn raw_len(arch: &Architecture) -> u64 {
    let (inputs, l1, l2, l3) = (arch.inputs(), arch.l1(), arch.l2(), arch.l3());
    let stack = 4 * l2 + l2 * arch.dense_inputs() + 4 * l3 + l3 * l2 + 4 + l3;
    (2 * l1 + 2 * inputs * l1 + 4 * inputs * arch.psqt_columns() + arch.stack_count() * stack) as u64
}

/// The most bytes a zstd frame of `raw` bytes needs (zstd's own bound, rounded up).
fn payload_bound(raw: u64) -> u64 {
    raw + raw / 128 + 1024
}

impl Header {
    pub(super) fn write(&self) -> [u8; HEADER_LEN] {
        let mut out = [0; HEADER_LEN];
        let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &MAGIC);
        put(8, &VERSION.to_le_bytes());
        put(12, &self.arch.id().0);
        put(44, &self.arch.features().id());
        let text = self.arch.to_string();
        put(52, &text.as_bytes()[..text.len().min(MAX_TEXT)]);
        for (i, scale) in quant::SCALES.iter().enumerate() {
            put(116 + 2 * i, &(*scale as u16).to_le_bytes());
        }
        put(132, &self.description_len.to_le_bytes());
        put(136, &self.raw_len.to_le_bytes());
        put(144, &self.payload_len.to_le_bytes());
        out
    }

    /// Reads a header and compares every field with what this program computes.
    pub(super) fn read(bytes: &[u8; HEADER_LEN]) -> Result<Header, NetFileError> {
        let magic = field::<8>(bytes, 0);
        if magic != MAGIC {
            return Err(NetFileError::Magic { found: magic, expected: MAGIC });
        }
        let version = u32::from_le_bytes(field(bytes, 8));
        if version != VERSION {
            return Err(NetFileError::Version { found: version, expected: VERSION });
        }
        let arch = read_arch(&field::<MAX_TEXT>(bytes, 52))?;
        same("feature-set id", hex(&field::<8>(bytes, 44)), hex(&arch.features().id()))?;
        for (i, expected) in quant::SCALES.iter().enumerate() {
            let found = u16::from_le_bytes(field(bytes, 116 + 2 * i));
            same(SCALE_NAMES[i], found.to_string(), expected.to_string())?;
        }
        same("ArchId", hex(&field::<32>(bytes, 12)), arch.id().to_string())?;

        let description_len = u32::from_le_bytes(field(bytes, 132));
        if description_len > MAX_DESCRIPTION {
            let expected = format!("at most {MAX_DESCRIPTION}");
            let found = description_len.into();
            return Err(NetFileError::Length { field: "description length", found, expected });
        }
        let (raw, expected) = (u64::from_le_bytes(field(bytes, 136)), raw_len(&arch));
        if raw != expected {
            let expected = format!("{expected} for {arch}");
            return Err(NetFileError::Length { field: "raw payload length", found: raw, expected });
        }
        let payload_len = u64::from_le_bytes(field(bytes, 144));
        if payload_len > payload_bound(raw) {
            let expected = format!("at most {}", payload_bound(raw));
            return Err(NetFileError::Length { field: "payload length", found: payload_len, expected });
        }
        Ok(Header { arch, description_len, raw_len: raw, payload_len })
    }
}

const SCALE_NAMES: [&str; 8] =
    ["ft_one", "ft_max", "hidden_one", "hidden_max", "dense1_one", "dense2_one", "out_one", "output_cp"];

// The scales are written as u16.
const _: () = {
    let mut i = 0;
    while i < quant::SCALES.len() {
        assert!(quant::SCALES[i] > 0 && quant::SCALES[i] <= u16::MAX as i32);
        i += 1;
    }
};

/// The zero-padded text of an architecture; it must be canonical, so that one net has one file.
fn read_arch(padded: &[u8; MAX_TEXT]) -> Result<Architecture, NetFileError> {
    let end = padded.iter().position(|&b| b == 0).unwrap_or(MAX_TEXT);
    let text = String::from_utf8_lossy(&padded[..end]);
    let arch: Architecture = text.parse()?;
    let canonical = arch.to_string();
    if text != canonical || padded[end..].iter().any(|&b| b != 0) {
        let found = String::from_utf8_lossy(padded).into_owned();
        return Err(NetFileError::ArchText { found, expected: canonical });
    }
    Ok(arch)
}

fn field<const N: usize>(bytes: &[u8; HEADER_LEN], at: usize) -> [u8; N] {
    std::array::from_fn(|i| bytes[at + i])
}

fn same(field: &'static str, found: String, expected: String) -> Result<(), NetFileError> {
    if found == expected { Ok(()) } else { Err(NetFileError::Mismatch { field, found, expected }) }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
