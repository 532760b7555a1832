//! Net files: round trip, golden bytes, and nothing damaged gets in.

use std::path::{Path, PathBuf};

use nnue_format::net::{self, HEADER_LEN};
use nnue_format::{Architecture, Description, NetFile, NetFileError, Overwrite, QuantisedNet, reference};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sha2::{Digest, Sha256};
use xiangqi::Position;

fn full() -> bool {
    std::env::var("CHUHE_FULL").is_ok_and(|v| v == "1")
}

fn description() -> Description {
    Description {
        author: "楚河 tests".into(),
        program: "nnue-format golden test".into(),
        data_digest: "00ff".into(),
        config: "pattern = true".into(),
        parent: String::new(),
        comment: "weights in a pattern, to be small when compressed".into(),
    }
}

/// A net whose weights follow a pattern, so that its file is some kilobytes.
fn pattern_net(arch: &str) -> QuantisedNet {
    let mut net = QuantisedNet::zeros(&arch.parse().unwrap());
    let layers = &mut net.layers;
    let pattern = |i: usize, size: i32| (i as i32 * 37 + 11) % (2 * size + 1) - size;
    for ((feature, neuron), w) in layers.ft_weights.indexed_iter_mut() {
        *w = pattern(feature % 5 + neuron, 60) as i16;
    }
    layers.ft_biases.indexed_iter_mut().for_each(|(i, w)| *w = pattern(i, 90) as i16);
    layers.psqt.indexed_iter_mut().for_each(|((f, s), w)| *w = pattern(f % 7 + s, 400));
    layers.dense1_weights.indexed_iter_mut().for_each(|((s, o, i), w)| *w = pattern(s + o + i, 9) as i8);
    layers.dense1_biases.indexed_iter_mut().for_each(|((s, o), w)| *w = pattern(s + o, 3000));
    layers.dense2_weights.indexed_iter_mut().for_each(|((s, o, i), w)| *w = pattern(s * o + i, 50) as i8);
    layers.dense2_biases.indexed_iter_mut().for_each(|((s, o), w)| *w = pattern(s + o, 3000));
    layers.out_weights.indexed_iter_mut().for_each(|((s, i), w)| *w = pattern(s + i, 120) as i8);
    layers.out_biases.indexed_iter_mut().for_each(|(s, w)| *w = pattern(s, 900));
    net
}

const SMALL: &str = "half-kp-hm 2x128-8-16-1 pairwise 8-stacks psqt";

fn small() -> NetFile {
    NetFile { net: pattern_net(SMALL), description: description() }
}

#[test]
fn round_trip() {
    for (seed, arch) in ["classic", "default", SMALL].iter().enumerate() {
        let net = QuantisedNet::random(&arch.parse().unwrap(), seed as u64);
        let file = NetFile { net, description: description() };
        let (bytes, id) = file.to_bytes().unwrap();
        let (read, read_id) = NetFile::from_bytes(&bytes).unwrap();
        assert!(read == file, "{arch}");
        assert_eq!(read_id, id);
        assert_eq!(id.0[..], Sha256::digest(&bytes)[..]);
        assert_eq!(read.to_bytes().unwrap().0, bytes);
    }
}

#[test]
fn written_by_rename_and_not_over_another() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("ein 目录");
    std::fs::create_dir(&folder).unwrap();
    let file = small();
    let (path, id) = file.write_in(&folder).unwrap();
    assert_eq!(path.file_name().unwrap().to_str().unwrap(), id.file_name());
    assert!(id.file_name().starts_with("chuhe-") && id.file_name().len() == 6 + 12 + 5);
    assert!(net::read(&path).unwrap().0 == file);
    // The same bytes again are no harm; other bytes are.
    file.write_in(&folder).unwrap();
    let other = NetFile { net: pattern_net("half-kp 2x128-8-8-1 crelu"), description: description() };
    assert!(matches!(other.write(&path, Overwrite::No), Err(NetFileError::Exists { .. })));
    assert!(net::read(&path).unwrap().0 == file);
    other.write(&path, Overwrite::Yes).unwrap();
    assert!(net::read(&path).unwrap().0 == other);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing partial is left");
    assert!(matches!(net::read(&folder.join("none")), Err(NetFileError::Io { .. })));
}

fn golden_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/small.nnue")
}

/// The committed file reads as the pattern net, and all bytes but zstd's are written the same.
#[test]
fn golden_bytes() {
    let file = small();
    let (bytes, _) = file.to_bytes().unwrap();
    if std::env::var("CHUHE_BLESS").is_ok_and(|v| v == "1") {
        std::fs::write(golden_path(), &bytes).unwrap();
    }
    let golden = std::fs::read(golden_path()).unwrap();
    let (read, _) = NetFile::from_bytes(&golden).unwrap();
    assert!(read == file);
    // The payload's length (the header's last field) and bytes belong to zstd's version.
    let description_len = u32::from_le_bytes(golden[132..136].try_into().unwrap()) as usize;
    assert_eq!(bytes[..144], golden[..144]);
    let end = HEADER_LEN + description_len;
    assert_eq!(bytes[HEADER_LEN..end], golden[HEADER_LEN..end]);
    // What it means.
    let evaluate = |fen: &str| reference::evaluate(&read.net, &Position::from_fen(fen).unwrap()).raw;
    let found = GOLDEN_EVALS.map(|(fen, _)| evaluate(fen));
    assert_eq!(found, GOLDEN_EVALS.map(|(_, raw)| raw));
}

const GOLDEN_EVALS: [(&str, i32); 3] = [
    ("rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1", -704),
    ("r1ba1a3/4kn3/2n1b4/pNp1p1p1p/4c4/6P2/P1P2R2P/1CcC5/9/2BAKAB2 w - - 0 1", -1259),
    ("4ka3/4a4/9/9/4N4/p8/9/4C3c/7n1/2BK5 b - - 0 1", -852),
];

/// Every cut of the small file, and every byte of it flipped, is an error.
#[test]
fn cut_and_flipped_bytes_are_errors() {
    let (bytes, _) = small().to_bytes().unwrap();
    assert!(bytes.len() < 20_000, "{}", bytes.len());
    for len in 0..bytes.len() {
        let error = NetFile::from_bytes(&bytes[..len]).unwrap_err();
        assert!(matches!(error, NetFileError::Truncated { .. }), "{len}: {error}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(matches!(NetFile::from_bytes(&longer), Err(NetFileError::Trailing { offset, .. })
        if offset == bytes.len() as u64));
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            let error = NetFile::from_bytes(&damaged).unwrap_err();
            assert!(!error.to_string().is_empty());
        }
    }
}

/// Puts the right checksum at the end, so that the checks behind it are reached.
fn seal(bytes: &mut [u8]) {
    let end = bytes.len() - 32;
    let digest = Sha256::digest(&bytes[..end]);
    bytes[end..].copy_from_slice(&digest);
}

/// Headers that are wrong on purpose, each with its error.
#[test]
fn every_header_field_is_compared() {
    let (bytes, _) = small().to_bytes().unwrap();
    let with = |at: usize, new: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + new.len()].copy_from_slice(new);
        seal(&mut bytes);
        NetFile::from_bytes(&bytes).unwrap_err()
    };
    assert!(matches!(with(0, b"Stockfis"), NetFileError::Magic { .. }));
    assert!(matches!(with(8, &[2]), NetFileError::Version { found: 2, expected: 1 }));
    assert!(matches!(with(12, &[0; 32]), NetFileError::Mismatch { field: "ArchId", .. }));
    assert!(matches!(with(44, &[0; 8]), NetFileError::Mismatch { field: "feature-set id", .. }));
    assert!(matches!(with(52, b"half-xx"), NetFileError::Arch(_)));
    assert!(matches!(with(52, b"half-kp-hm 2x128-8-16-1  airwise"), NetFileError::Arch(_)));
    assert!(matches!(with(115, b"x"), NetFileError::ArchText { .. }));
    for scale in 0..8 {
        assert!(matches!(with(116 + 2 * scale, &[1, 0]), NetFileError::Mismatch { .. }), "{scale}");
    }
    assert!(matches!(with(132, &[255; 4]), NetFileError::Length { field: "description length", .. }));
    assert!(matches!(with(136, &[1]), NetFileError::Length { field: "raw payload length", .. }));
    assert!(matches!(with(144, &[255; 8]), NetFileError::Length { field: "payload length", .. }));
    // A description with rubbish after its end, a payload that is no zstd frame.
    let description_len = u32::from_le_bytes(bytes[132..136].try_into().unwrap()) as usize;
    assert!(matches!(with(HEADER_LEN, &[255; 8]), NetFileError::Description { .. }));
    assert!(matches!(with(HEADER_LEN + description_len, &[0; 4]), NetFileError::Payload { .. }));
}

/// Weights out of range are refused although the file is whole.
#[test]
fn weights_out_of_range_are_refused() {
    let mut file = small();
    file.net.layers.out_weights[[3, 2]] = -128;
    assert!(matches!(file.to_bytes(), Err(NetFileError::Weights(_))));
    let mut file = small();
    file.net.layers.ft_weights.fill(2000);
    let error = file.to_bytes().unwrap_err().to_string();
    assert!(error.contains("neuron"), "{error}");
}

#[test]
fn random_bytes_never_panic() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let (small, _) = small().to_bytes().unwrap();
    let count = if full() { 200_000 } else { 20_000 };
    for case in 0..count {
        let mut bytes = if case % 2 == 0 {
            // Rubbish of any length, now and then behind a good header.
            let mut bytes = vec![0; (rng.next_u64() % 600) as usize];
            rng.fill_bytes(&mut bytes);
            if case % 4 == 0 {
                bytes.splice(0..0, small[..HEADER_LEN].iter().copied());
            }
            bytes
        } else {
            small.clone()
        };
        if case % 2 == 1 {
            // A good file with some bytes changed anywhere or in the middle, and cut or not.
            for _ in 0..1 + rng.next_u64() % 4 {
                let at = (rng.next_u64() % bytes.len() as u64) as usize;
                bytes[at] = rng.next_u64() as u8;
            }
            if rng.next_u64() % 4 == 0 {
                bytes.truncate((rng.next_u64() % bytes.len() as u64) as usize);
            }
        }
        // A sealed good file is decompressed and checked whole, which takes milliseconds.
        if bytes.len() >= 32 && (case % 2 == 0 || case % 16 == 1) {
            seal(&mut bytes);
        }
        if let Ok((file, _)) = NetFile::from_bytes(&bytes) {
            // Sealed and still valid: then it can be used.
            file.net.check().unwrap();
            reference::evaluate(&file.net, &Position::start());
        }
    }
}

/// Reading needs no more memory than the architecture says: a header that promises a large net
/// with nothing behind it is refused at once.
#[test]
fn lengths_are_not_believed() {
    let arch: Architecture = "half-ka-hm-ab 2x2048-128-128-1 crelu 16-stacks psqt".parse().unwrap();
    let (small, _) = small().to_bytes().unwrap();
    let mut header = small[..HEADER_LEN].to_vec();
    header[12..44].copy_from_slice(&arch.id().0);
    header[44..52].copy_from_slice(&arch.features().id());
    header[52..116].fill(0);
    let text = arch.to_string();
    header[52..52 + text.len()].copy_from_slice(text.as_bytes());
    // The raw length of that architecture: see docs/net-format.md.
    let stack = 4 * 128 + 128 * 4096 + 4 * 128 + 128 * 128 + 4 + 128;
    let raw = 2 * 2048 + 2 * 16536 * 2048 + 4 * 16536 * 16 + 16 * stack;
    header[136..144].copy_from_slice(&(raw as u64).to_le_bytes());
    header[144..152].copy_from_slice(&(raw as u64).to_le_bytes());
    assert!(matches!(NetFile::from_bytes(&header), Err(NetFileError::Truncated { .. })));
}
