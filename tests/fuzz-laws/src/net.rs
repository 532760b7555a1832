//! Net files. Their checksum is set right first, or nothing behind it would be reached.

use nnue_format::net::NetFile;
use sha2::{Digest, Sha256};

use crate::check_message;

const SHA_LEN: usize = 32;

/// Any bytes as a net file: refused, or written again as another file of the same net.
pub fn net(data: &[u8]) {
    if let Err(error) = NetFile::from_bytes(data) {
        check_message(&error);
    }
    let mut bytes = data.to_vec();
    let Some(end) = bytes.len().checked_sub(SHA_LEN) else { return };
    let digest = Sha256::digest(&bytes[..end]);
    bytes[end..].copy_from_slice(&digest);
    match NetFile::from_bytes(&bytes) {
        Err(error) => check_message(&error),
        Ok((file, _)) => {
            let (written, id) = file.to_bytes().expect("what was read can be written");
            assert_eq!(NetFile::from_bytes(&written).expect("our own file"), (file, id));
        }
    }
}
