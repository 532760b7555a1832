//! Who made a net from what: a blob that readers may skip.

use crate::error::NetFileError;

use super::header::MAX_DESCRIPTION;

/// Where a net comes from. Stored by bincode 2 (little-endian, fixed-size integers): six strings in
/// this order, each a u64 length and UTF-8 bytes. It has no influence on any evaluation.
#[derive(Clone, Debug, Default, PartialEq, Eq, bincode::Encode, bincode::Decode)]
pub struct Description {
    /// Who made it, as they like to be named.
    pub author: String,
    /// The program that wrote it, with version and commit.
    pub program: String,
    /// SHA-256 of the manifest of the training data, in hex.
    pub data_digest: String,
    /// The training configuration (TOML), or how else the weights came about.
    pub config: String,
    /// Id of the net that training started from, or that made the data; empty if none.
    pub parent: String,
    /// Anything else.
    pub comment: String,
}

const LIMIT: usize = MAX_DESCRIPTION as usize;

type Config = bincode::config::Configuration<
    bincode::config::LittleEndian,
    bincode::config::Fixint,
    bincode::config::Limit<LIMIT>,
>;

const fn config() -> Config {
    bincode::config::standard().with_little_endian().with_fixed_int_encoding().with_limit::<LIMIT>()
}

impl Description {
    pub(super) fn encode(&self) -> Result<Vec<u8>, NetFileError> {
        let texts =
            [&self.author, &self.program, &self.data_digest, &self.config, &self.parent, &self.comment];
        let length = texts.iter().map(|text| 8 + text.len() as u64).sum();
        if length > MAX_DESCRIPTION.into() {
            let expected = format!("at most {MAX_DESCRIPTION}");
            return Err(NetFileError::Length { field: "description length", found: length, expected });
        }
        bincode::encode_to_vec(self, config())
            .map_err(|error| NetFileError::Description { length, why: error.to_string() })
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Description, NetFileError> {
        let length = bytes.len() as u64;
        let (description, used) = bincode::decode_from_slice(bytes, config())
            .map_err(|error| NetFileError::Description { length, why: error.to_string() })?;
        if used != bytes.len() {
            let why = format!("it ends after {used} bytes");
            return Err(NetFileError::Description { length, why });
        }
        Ok(description)
    }
}
