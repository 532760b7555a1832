//! What versions 11 and later hide behind: numbers made of eight bytes of the header.

/// Whose characters, masked, are subtracted from the records, in turn.
const STREAM_MASK: &[u8; 32] = b"[(C) Copyright Mr. Dong Shiwei.]";

/// The keys of a file; all zero in a plain one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Keys {
    /// Records are plain: flags in two halves, and the length of a comment in each.
    pub(super) plain: bool,
    /// Pieces stand in another order in the list.
    pub(super) shuffled: bool,
    /// Added to each square of the board.
    pub(super) board: u8,
    /// Added to each origin.
    pub(super) from: u8,
    /// Added to each destination.
    pub(super) to: u8,
    /// Added to the length of each comment, in bytes.
    pub(super) comment: u32,
    /// Added to the bytes of the records: byte `i` of the file with entry `i mod 32`.
    pub(super) stream: [u8; 32],
}

/// The factor that each key is multiplied with, modulo 256.
const fn factor(byte: u8) -> u8 {
    byte.wrapping_mul(byte).wrapping_mul(54).wrapping_add(221)
}

impl Keys {
    /// The keys in the first 16 bytes of a header.
    pub(super) fn read(head: &[u8; 16]) -> Keys {
        let version = head[2];
        if version <= super::header::LAST_PLAIN_VERSION {
            return Keys { plain: true, ..Keys::default() };
        }
        let (mask, masks, sums) = (head[3], 8, 12);
        let board = factor(head[13]).wrapping_mul(head[13]);
        let from = factor(head[14]).wrapping_mul(board);
        let to = factor(head[15]).wrapping_mul(from);
        let sum = u32::from(head[12]) * 256 + u32::from(head[13]);
        let mut stream = *STREAM_MASK;
        for (i, byte) in stream.iter_mut().enumerate() {
            *byte &= head[masks + i % 4] | (head[sums + i % 4] & mask);
        }
        let shuffled = version >= super::header::FIRST_SHUFFLED_VERSION;
        Keys { plain: false, shuffled, board, from, to, comment: sum % 32_000 + 767, stream }
    }
}

#[cfg(test)]
mod tests {
    use super::Keys;

    /// Worked by hand for the header bytes `bb a4 54 4d` with mask `eb` and `3f 8a ae 89`.
    #[test]
    fn keys_follow_from_the_header() {
        let head = *b"XQ\x12\xeb\0\0\0\0\x3f\x8a\xae\x89\xbb\xa4\x54\x4d";
        let keys = Keys::read(&head);
        // 0xa4² = 0x6910: 0x10 · 54 + 221 = 0x43d; 0x3d · 0xa4 = 0x2714.
        assert_eq!(keys.board, 0x14);
        assert_eq!(keys.comment, (0xbba4 % 32_000) + 767);
        // '[' & (0x3f | (0xbb & 0xeb)), '(' & (0x8a | (0xa4 & 0xeb)).
        assert_eq!(&keys.stream[..2], &[0x5b & 0xbf, 0x28 & 0xaa]);
        assert!(keys.shuffled && !keys.plain);
    }

    #[test]
    fn plain_versions_have_none() {
        let keys = Keys::read(b"XQ\x0a\xeb\0\0\0\0\x3f\x8a\xae\x89\xbb\xa4\x54\x4d");
        assert_eq!(keys, Keys { plain: true, ..Keys::default() });
    }
}
