//! Net files and record files. Their checksums are set right first, or nothing behind them would be reached.

use std::io::Cursor;

use nnue_format::net::NetFile;
use nnue_format::record::{BLOCK_HEAD_LEN, BLOCK_MARKER, GameRecord, HEADER_LEN, Header, Reader, Writer};
use sha2::{Digest, Sha256};

use crate::check_message;

const CRC_LEN: usize = 4;
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

/// Any bytes as a record file: whole blocks and told damage, always to an end, and its games written again
/// are the same games.
pub fn record(data: &[u8]) {
    read_record(data);
    let mut bytes = data.to_vec();
    repair(&mut bytes);
    let (header, games) = read_record(&bytes);
    let Some(header) = header.filter(|_| !games.is_empty()) else { return };
    let mut writer = Writer::create(Vec::new(), header, b"").expect("no plan is too long");
    let kept: Vec<GameRecord> = games.into_iter().filter(|game| writer.push(game).is_ok()).collect();
    let (written, totals) = writer.finish().expect("written to memory");
    assert_eq!(totals.games, kept.len() as u64);
    let (_, again) = read_record(&written);
    assert!(again == kept, "the games of our own file are others");
}

fn read_record(bytes: &[u8]) -> (Option<Header>, Vec<GameRecord>) {
    let mut reader = Reader::new(Cursor::new(bytes)).expect("memory can be read");
    let mut games = Vec::new();
    // Every step goes on by a byte at least, or ends.
    for step in 0.. {
        assert!(step <= bytes.len() + 8, "reading does not end");
        match reader.next_block() {
            None => break,
            Some(Err(error)) => check_message(&error),
            Some(Ok(block)) => {
                let mut positions = 0;
                let walked = block.walk(|_, _, _| positions += 1);
                match block.games() {
                    Ok(whole) => {
                        assert!(walked.is_ok(), "{walked:?}");
                        let plies: usize = whole.iter().map(|game| game.moves().count()).sum();
                        assert_eq!(plies, positions, "games and walk differ");
                        games.extend(whole);
                    }
                    Err(error) => check_message(&error),
                }
            }
        }
    }
    (reader.header().cloned(), games)
}

fn set_crc(bytes: &mut [u8]) {
    if let Some(end) = bytes.len().checked_sub(CRC_LEN) {
        let crc = crc32c::crc32c(&bytes[..end]);
        bytes[end..].copy_from_slice(&crc.to_le_bytes());
    }
}

/// Sets the checksums of the header and of every block where its marker stands.
fn repair(bytes: &mut [u8]) {
    if let Some(header) = bytes.get_mut(..HEADER_LEN) {
        set_crc(header);
    }
    for at in 0..bytes.len() {
        if !bytes[at..].starts_with(&BLOCK_MARKER) {
            continue;
        }
        let payload = at + BLOCK_HEAD_LEN;
        let Some(head) = bytes.get_mut(at..payload) else { return };
        set_crc(head);
        let len = head[BLOCK_MARKER.len()..][..4].iter().rev().fold(0, |n, &b| n << 8 | usize::from(b));
        if let Some(payload) = bytes.get_mut(payload..).and_then(|rest| rest.get_mut(..len + CRC_LEN)) {
            set_crc(payload);
        }
    }
}
