//! The header: who wrote the file, by which rules, from which plan.

use xiangqi::judge::RuleSet;

use super::bytes::Cursor;
use super::error::{GameError, Part, ReadError};

/// The first eight bytes of a record file. Not ASCII and with a line feed, so that text conversions show.
pub const MAGIC: [u8; 8] = *b"\x93CHUREC\n";

/// The version of the format that this code writes and reads. In every version the magic, the version, the length of
/// the header and the place of its checksum stay where they are, so that another version is told from damage.
pub const VERSION: u16 = 2;

/// The length of the fixed header, in bytes; the plan follows it.
pub const HEADER_LEN: usize = 88;

/// The greatest length of a plan, in bytes.
pub const MAX_PLAN_LEN: usize = 1 << 20;

/// The fixed part of the header.
///
/// ```text
///  0  8  magic               24  8  engine signature (bench node count)
///  8  2  version             32 16  run id
/// 10  1  rule set            48 32  net id: SHA-256 of the net file, zeros for none
/// 11  1  zero                80  4  CRC32C of the plan
/// 12  4  length of the plan  84  4  CRC32C of bytes 0..84
/// 16  8  run seed            88     the plan
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The rules that all games of the file are judged by.
    pub rules: RuleSet,
    /// The seed of the run; each game's seed follows from it and the game's number.
    pub seed: u64,
    /// `engine::signature()` of the program that played: games can be played again only by an engine
    /// with the same.
    pub engine_signature: u64,
    /// Which run this is: from the plan, so that the same plan gives the same bytes.
    pub run_id: [u8; 16],
    /// SHA-256 of the net file; zeros where the hand-crafted evaluation played.
    pub net_id: [u8; 32],
    /// Length of the plan behind the header, in bytes; set by the writer.
    pub plan_len: u32,
    /// CRC32C of the plan; set by the writer.
    pub plan_crc: u32,
}

impl Header {
    /// Eight bytes that tie each block to its run: the first half of the run id.
    pub const fn run_tag(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.run_id;
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    /// The header's bytes.
    pub fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut out = Vec::with_capacity(HEADER_LEN);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.push(rule_set_code(self.rules));
        out.push(0);
        out.extend_from_slice(&self.plan_len.to_le_bytes());
        out.extend_from_slice(&self.seed.to_le_bytes());
        out.extend_from_slice(&self.engine_signature.to_le_bytes());
        out.extend_from_slice(&self.run_id);
        out.extend_from_slice(&self.net_id);
        out.extend_from_slice(&self.plan_crc.to_le_bytes());
        out.extend_from_slice(&crc32c::crc32c(&out).to_le_bytes());
        let mut bytes = [0; HEADER_LEN];
        bytes.copy_from_slice(&out);
        bytes
    }

    /// Reads a header; `offset` is where in the file it stands (0, or in the footer), for messages.
    pub fn from_bytes(bytes: &[u8; HEADER_LEN], offset: u64) -> Result<Header, ReadError> {
        if bytes[..8] != MAGIC {
            return Err(ReadError::Magic { found: bytes[..8].to_vec(), expected: MAGIC });
        }
        let (body, stored) = bytes.split_at(HEADER_LEN - 4);
        let computed = crc32c::crc32c(body);
        let stored = Cursor::new(stored).u32().unwrap_or_default();
        if computed != stored {
            let (part, length) = (Part::Header, HEADER_LEN as u64);
            return Err(ReadError::Checksum { offset, part, length, computed, stored });
        }
        Header::fields(&mut Cursor::new(&body[8..]), offset).unwrap_or(Err(ReadError::Cut {
            offset,
            part: Part::Header,
            end: offset,
        }))
    }

    /// The fields after the magic; `None` if the bytes end too early, which their fixed length rules out.
    fn fields(cursor: &mut Cursor<'_>, offset: u64) -> Option<Result<Header, ReadError>> {
        let field = |field, found, limit| {
            Some(Err(ReadError::Field { offset, part: Part::Header, field, found, limit }))
        };
        let version = cursor.u16()?;
        if version != VERSION {
            return Some(Err(ReadError::Version { found: version, expected: VERSION }));
        }
        let code = cursor.byte()?;
        let Ok(rules) = rule_set_from_code(code) else {
            return field("rule set", u64::from(code), u64::from(MAX_RULE_SET_CODE));
        };
        let zero = cursor.byte()?;
        if zero != 0 {
            return field("reserved byte", u64::from(zero), 0);
        }
        let plan_len = cursor.u32()?;
        if plan_len as usize > MAX_PLAN_LEN {
            return field("length of the plan", u64::from(plan_len), MAX_PLAN_LEN as u64);
        }
        Some(Ok(Header {
            rules,
            plan_len,
            seed: cursor.u64()?,
            engine_signature: cursor.u64()?,
            run_id: cursor.array()?,
            net_id: cursor.array()?,
            plan_crc: cursor.u32()?,
        }))
    }
}

/// The greatest code of a rule set.
const MAX_RULE_SET_CODE: u8 = 5;

/// The byte that stands for a rule set in a record file.
pub(crate) const fn rule_set_code(rules: RuleSet) -> u8 {
    match rules {
        RuleSet::Competition => 0,
        RuleSet::Asian => 1,
        RuleSet::Chinese => 2,
        RuleSet::AllowChase => 3,
        RuleSet::Sky => 4,
        RuleSet::Yitian => 5,
    }
}

/// The rule set a byte stands for.
pub(crate) fn rule_set_from_code(code: u8) -> Result<RuleSet, GameError> {
    RuleSet::ALL
        .into_iter()
        .find(|&rules| rule_set_code(rules) == code)
        .ok_or(GameError::Code { what: "rule set", found: u64::from(code) })
}
