//! Reading and writing net files.
//!
//! ```text
//! header 152 │ description (bincode) │ payload (zstd) │ SHA-256 of all before it
//! ```
//!
//! The payload is the weights, little-endian, in the order of [`weights_to_bytes`]. A file is
//! read to its end, its checksum is compared before anything is decompressed, and every
//! allocation is bounded by the architecture in the header.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::description::Description;
use super::header::{DIGEST_LEN, HEADER_LEN, Header, hex, raw_len};
use super::layers::QuantisedLayers;
use super::quantised::QuantisedNet;
use crate::arch::Architecture;
use crate::error::NetFileError;

/// SHA-256 of a whole net file: its identity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NetId(pub [u8; 32]);

impl NetId {
    /// The file name: `chuhe-<12 hex>.nnue`.
    pub fn file_name(&self) -> String {
        format!("chuhe-{}.nnue", hex(&self.0[..6]))
    }
}

impl fmt::Display for NetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for NetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// May an existing file be replaced?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// No: an existing file is an error, unless it has the very same bytes.
    No,
    /// Yes.
    Yes,
}

/// A net with its description, as a file holds them.
#[derive(Clone, Debug, PartialEq)]
pub struct NetFile {
    /// The net.
    pub net: QuantisedNet,
    /// Where it comes from.
    pub description: Description,
}

/// Level of zstd. On i16 weights with a Laplace distribution (width 12, 4 MB) level 9 gives 1.91 MB in 0.5 s, 3 gives 2.05 MB
/// in 0.15 s, 19 gives 1.92 MB in 9 s.
const ZSTD_LEVEL: i32 = 9;

impl NetFile {
    /// The bytes of the file, and its id. The same net and description always give the same bytes
    /// with one version of zstd.
    ///
    /// # Errors
    /// A net that breaks a rule of [`crate::quant`], or a description over one MiB.
    pub fn to_bytes(&self) -> Result<(Vec<u8>, NetId), NetFileError> {
        self.net.check()?;
        let description = self.description.encode()?;
        let raw = weights_to_bytes(&self.net);
        let payload = zstd::bulk::compress(&raw, ZSTD_LEVEL)
            .map_err(|error| NetFileError::Payload { why: format!("zstd: {error}") })?;
        let header = Header {
            arch: self.net.arch,
            description_len: description.len() as u32,
            raw_len: raw.len() as u64,
            payload_len: payload.len() as u64,
        };
        let mut bytes = Vec::with_capacity(HEADER_LEN + description.len() + payload.len() + DIGEST_LEN);
        bytes.extend(header.write());
        bytes.extend(description);
        bytes.extend(payload);
        let digest = Sha256::digest(&bytes);
        bytes.extend(digest);
        let id = NetId(Sha256::digest(&bytes).into());
        Ok((bytes, id))
    }

    /// Writes the file at `path`: under another name first, synced, then renamed.
    ///
    /// # Errors
    /// See [`NetFile::to_bytes`]; the system's errors; [`NetFileError::Exists`].
    pub fn write(&self, path: &Path, overwrite: Overwrite) -> Result<NetId, NetFileError> {
        let (bytes, id) = self.to_bytes()?;
        put_in_place(path, &bytes, overwrite)?;
        Ok(id)
    }

    /// Writes the file in a folder under its own name, [`NetId::file_name`].
    ///
    /// # Errors
    /// See [`NetFile::write`].
    pub fn write_in(&self, folder: &Path) -> Result<(PathBuf, NetId), NetFileError> {
        let (bytes, id) = self.to_bytes()?;
        let path = folder.join(id.file_name());
        put_in_place(&path, &bytes, Overwrite::No)?;
        Ok((path, id))
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    /// Anything that is off; see [`NetFileError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<(NetFile, NetId), NetFileError> {
        read_from(bytes, Path::new("net"))
    }
}

/// Reads a net file.
///
/// # Errors
/// The system's errors, and anything that is off in the file; see [`NetFileError`].
pub fn read(path: &Path) -> Result<(NetFile, NetId), NetFileError> {
    let file = File::open(path).map_err(|source| NetFileError::Io { path: path.into(), source })?;
    read_from(file, path)
}

/// Reads a net file from any reader, to its end; `name` is for error messages.
///
/// # Errors
/// See [`read`].
pub fn read_from(reader: impl Read, name: &Path) -> Result<(NetFile, NetId), NetFileError> {
    let mut parts = Parts { reader, name, hash: Sha256::new(), offset: 0 };
    let mut head = [0; HEADER_LEN];
    head.copy_from_slice(&parts.take(HEADER_LEN as u64, "the header")?);
    let header = Header::read(&head)?;
    let description = parts.take(header.description_len.into(), "the description")?;
    let payload = parts.take(header.payload_len, "the payload")?;
    let computed = parts.hash.clone().finalize();
    let stored = parts.take(DIGEST_LEN as u64, "the checksum")?;
    parts.expect_end()?;
    if computed[..] != stored[..] {
        return Err(NetFileError::Checksum { found: hex(&computed), expected: hex(&stored) });
    }
    let id = NetId(parts.hash.finalize().into());
    let description = Description::decode(&description)?;
    let net = weights_from_bytes(&header.arch, &decompress(&payload, header.raw_len)?)?;
    net.check()?;
    Ok((NetFile { net, description }, id))
}

/// A reader that hashes and counts what it hands out.
struct Parts<'a, R> {
    reader: R,
    name: &'a Path,
    hash: Sha256,
    offset: u64,
}

impl<R: Read> Parts<'_, R> {
    /// The next `len` bytes. Memory grows with what is really there.
    fn take(&mut self, len: u64, part: &'static str) -> Result<Vec<u8>, NetFileError> {
        let mut bytes = Vec::new();
        let read = (&mut self.reader).take(len).read_to_end(&mut bytes).map_err(|e| self.io(e))?;
        self.hash.update(&bytes);
        let start = self.offset;
        self.offset += read as u64;
        if (read as u64) < len {
            return Err(NetFileError::Truncated { found: self.offset, expected: start + len, part });
        }
        Ok(bytes)
    }

    fn expect_end(&mut self) -> Result<(), NetFileError> {
        let mut rest = Vec::new();
        let found = (&mut self.reader).take(4096).read_to_end(&mut rest).map_err(|e| self.io(e))? as u64;
        if found == 0 { Ok(()) } else { Err(NetFileError::Trailing { found, offset: self.offset }) }
    }

    fn io(&self, source: io::Error) -> NetFileError {
        NetFileError::Io { path: self.name.into(), source }
    }
}

/// Decompresses exactly one zstd frame into exactly `len` bytes.
fn decompress(payload: &[u8], len: u64) -> Result<Vec<u8>, NetFileError> {
    let wrong = |why: String| NetFileError::Payload { why };
    let frame = zstd::zstd_safe::find_frame_compressed_size(payload)
        .map_err(|code| wrong(format!("no zstd frame: {}", zstd::zstd_safe::get_error_name(code))))?;
    if frame != payload.len() {
        return Err(wrong(format!("the zstd frame has {frame} bytes of {}", payload.len())));
    }
    let raw =
        zstd::bulk::decompress(payload, len as usize).map_err(|error| wrong(format!("zstd: {error}")))?;
    if raw.len() as u64 != len {
        return Err(wrong(format!("it decompresses to {} bytes, expected {len}", raw.len())));
    }
    Ok(raw)
}

/// The weights in file order: FT biases, FT weights by feature, PSQT by feature, then for each
/// stack dense 1 biases and weights by output, dense 2 likewise, output bias and weights.
fn weights_to_bytes(net: &QuantisedNet) -> Vec<u8> {
    let layers = &net.layers;
    let mut out = Vec::with_capacity(raw_len(&net.arch) as usize);
    out.extend(layers.ft_biases.iter().flat_map(|w| w.to_le_bytes()));
    out.extend(layers.ft_weights.iter().flat_map(|w| w.to_le_bytes()));
    out.extend(layers.psqt.iter().flat_map(|w| w.to_le_bytes()));
    for stack in 0..net.arch.stack_count() {
        let axis = ndarray::Axis(0);
        out.extend(layers.dense1_biases.row(stack).iter().flat_map(|w| w.to_le_bytes()));
        out.extend(layers.dense1_weights.index_axis(axis, stack).iter().map(|&w| w as u8));
        out.extend(layers.dense2_biases.row(stack).iter().flat_map(|w| w.to_le_bytes()));
        out.extend(layers.dense2_weights.index_axis(axis, stack).iter().map(|&w| w as u8));
        out.extend(layers.out_biases[stack].to_le_bytes());
        out.extend(layers.out_weights.row(stack).iter().map(|&w| w as u8));
    }
    out
}

/// The reverse of [`weights_to_bytes`].
fn weights_from_bytes(arch: &Architecture, raw: &[u8]) -> Result<QuantisedNet, NetFileError> {
    if raw.len() as u64 != raw_len(arch) {
        let why = format!("it has {} bytes, expected {}", raw.len(), raw_len(arch));
        return Err(NetFileError::Payload { why });
    }
    let mut layers = QuantisedLayers::zeros(arch);
    let mut cursor = Cursor(raw);
    cursor.fill(layers.ft_biases.iter_mut(), i16::from_le_bytes);
    cursor.fill(layers.ft_weights.iter_mut(), i16::from_le_bytes);
    cursor.fill(layers.psqt.iter_mut(), i32::from_le_bytes);
    for stack in 0..arch.stack_count() {
        let axis = ndarray::Axis(0);
        cursor.fill(layers.dense1_biases.row_mut(stack), i32::from_le_bytes);
        cursor.fill(layers.dense1_weights.index_axis_mut(axis, stack), i8::from_le_bytes);
        cursor.fill(layers.dense2_biases.row_mut(stack), i32::from_le_bytes);
        cursor.fill(layers.dense2_weights.index_axis_mut(axis, stack), i8::from_le_bytes);
        cursor.fill(std::iter::once(&mut layers.out_biases[stack]), i32::from_le_bytes);
        cursor.fill(layers.out_weights.row_mut(stack), i8::from_le_bytes);
    }
    Ok(QuantisedNet { arch: *arch, layers })
}

/// The bytes not yet taken. Their number was compared with the architecture before.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn fill<'w, T: 'w, const N: usize>(
        &mut self,
        weights: impl IntoIterator<Item = &'w mut T>,
        parse: impl Fn([u8; N]) -> T,
    ) {
        for weight in weights {
            if let Some((bytes, rest)) = self.0.split_first_chunk::<N>() {
                *weight = parse(*bytes);
                self.0 = rest;
            }
        }
    }
}

/// Writes the bytes of a net file beside `path` as `*.partial`, syncs, and renames.
///
/// # Errors
/// The system's errors; [`NetFileError::Exists`].
pub fn put_in_place(path: &Path, bytes: &[u8], overwrite: Overwrite) -> Result<(), NetFileError> {
    let io = |path: &Path, source| NetFileError::Io { path: path.into(), source };
    if overwrite == Overwrite::No && path.exists() {
        // Devices have no length, and no end.
        let there = fs::metadata(path).map_err(|e| io(path, e))?;
        let same = there.is_file()
            && there.len() == bytes.len() as u64
            && fs::read(path).map_err(|e| io(path, e))? == bytes;
        return if same { Ok(()) } else { Err(NetFileError::Exists { path: path.into() }) };
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.partial", std::process::id()));
    let partial = path.with_file_name(name);
    let written = File::create(&partial).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let placed = written.and_then(|()| fs::rename(&partial, path));
    if let Err(source) = placed {
        // The first error is the one to tell; a left-over partial file is harmless.
        let _ = fs::remove_file(&partial);
        return Err(io(path, source));
    }
    // The rename is durable once the folder is synced, where the system allows it.
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}
