//! Record files: blocks, footers, plans, and going on behind a cut. Checksums are set right first, or nothing behind
//! them would be reached.

use std::io::Cursor;

use datagen::derived::DerivedPlan;
use datagen::plan::Plan;
use nnue_format::record::{
    BLOCK_HEAD_LEN, BLOCK_MARKER, FOOTER_MARKER, GameRecord, HEADER_LEN, Header, Reader, Writer, recover,
};

use crate::check_message;

const CRC_LEN: usize = 4;
/// Fields of a footer before its index, an entry of the index, and what follows the header's copy.
const FOOTER_FIELDS: usize = 36;
const FOOTER_ENTRY: usize = 24;
const FOOTER_TAIL: usize = 16;

/// Any bytes as a record file: whole blocks and told damage, always to an end; its games written again are the same
/// games; and what is whole can be gone on with.
pub fn record(data: &[u8]) {
    read_record(data);
    go_on(data);
    let mut bytes = data.to_vec();
    repair(&mut bytes);
    go_on(&bytes);
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
    plan(reader.plan());
    footer(&mut reader);
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
                        let columns = block.column_bytes().expect("decoded before");
                        let lengths = block.head.columns.map(|(raw, _)| raw as usize);
                        assert!(columns.iter().map(Vec::len).eq(lengths), "columns of other lengths");
                        games.extend(whole);
                    }
                    Err(error) => check_message(&error),
                }
            }
        }
    }
    (reader.header().cloned(), games)
}

/// A plan of self-play or of a derived file is refused, or has these bytes and can be shown.
fn plan(bytes: &[u8]) {
    match DerivedPlan::from_bytes(bytes) {
        Err(error) => check_message(&error),
        Ok(plan) => {
            assert_eq!(plan.to_bytes().as_deref(), Ok(bytes), "another plan");
            assert!(plan.json().is_object() && !plan.lines().is_empty());
        }
    }
    match Plan::from_bytes(bytes) {
        Err(error) => check_message(&error),
        Ok(plan) => {
            assert_eq!(plan.to_bytes().as_deref(), Ok(bytes), "another plan");
            assert!(!plan.settings().is_empty());
            if let Err(error) = plan.check() {
                check_message(&error);
            }
        }
    }
}

/// The footer found from the end: blocks where its index says are blocks, or refused.
fn footer(reader: &mut Reader<Cursor<&[u8]>>) {
    match reader.footer_at_end() {
        Err(error) => check_message(&error),
        Ok(footer) => {
            for entry in footer.index.iter().take(100) {
                match reader.block_at(entry.offset) {
                    Err(error) => check_message(&error),
                    Ok(block) => assert_eq!(block.offset, entry.offset),
                }
            }
        }
    }
}

/// What is whole stays whole when the file is cut there and ended.
fn go_on(bytes: &[u8]) {
    let whole = match recover(Cursor::new(bytes)) {
        Err(error) => return check_message(&error),
        Ok(whole) => whole,
    };
    let end = usize::try_from(whole.end).expect("within the bytes");
    let mut cut = bytes[..end].to_vec();
    let writer = Writer::resume(&mut cut, &whole);
    let (_, totals) = writer.finish().expect("written to memory");
    assert_eq!(totals, whole.totals);
    let again = recover(Cursor::new(&cut)).expect("our own file");
    assert!(again.finished && again.damage.is_none(), "{:?}", again.damage);
    assert_eq!((again.end, again.totals, again.index), (whole.end, whole.totals, whole.index));
}

fn set_crc(bytes: &mut [u8]) {
    if let Some(end) = bytes.len().checked_sub(CRC_LEN) {
        let crc = crc32c::crc32c(&bytes[..end]);
        bytes[end..].copy_from_slice(&crc.to_le_bytes());
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}

/// Sets the checksums of plan and header, and of every block and footer where its marker stands.
fn repair(bytes: &mut [u8]) {
    let plan = u32_at(bytes, 12).and_then(|len| bytes.get(HEADER_LEN..HEADER_LEN.checked_add(len)?));
    if let Some(crc) = plan.map(crc32c::crc32c) {
        bytes[80..84].copy_from_slice(&crc.to_le_bytes());
    }
    if let Some(header) = bytes.get_mut(..HEADER_LEN) {
        set_crc(header);
    }
    for at in 0..bytes.len() {
        if bytes[at..].starts_with(&FOOTER_MARKER) {
            repair_footer(&mut bytes[at..]);
        }
        if !bytes[at..].starts_with(&BLOCK_MARKER) {
            continue;
        }
        let payload = at + BLOCK_HEAD_LEN;
        let Some(head) = bytes.get_mut(at..payload) else { return };
        set_crc(head);
        let len = u32_at(head, BLOCK_MARKER.len()).unwrap_or(0);
        if let Some(payload) = bytes.get_mut(payload..).and_then(|rest| rest.get_mut(..len + CRC_LEN)) {
            set_crc(payload);
        }
    }
}

fn repair_footer(bytes: &mut [u8]) {
    let index = u32_at(bytes, 32).and_then(|blocks| blocks.checked_mul(FOOTER_ENTRY));
    let Some(header) = index.and_then(|index| index.checked_add(FOOTER_FIELDS)) else { return };
    let Some(end) = header.checked_add(HEADER_LEN) else { return };
    let Some(footer) = bytes.get_mut(..end.saturating_add(FOOTER_TAIL)) else { return };
    set_crc(&mut footer[header..end]);
    set_crc(&mut footer[..end + CRC_LEN]);
    let length = (end + FOOTER_TAIL) as u32;
    footer[end + CRC_LEN..][..4].copy_from_slice(&length.to_le_bytes());
}
