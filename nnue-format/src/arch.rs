//! Architectures as data. Everything else about a net follows from an [`Architecture`]: the float
//! model, the quantiser, the file, the reference evaluator, the kernels.
//!
//! ```text
//! features (side to move) ─► L1 ─┐ activation                       ┌─ one stack, chosen by
//!                                ├───────────► L2 ─► L3 ─► 1 ─► + ◄─┘  rooks and minor pieces
//! features (other side)  ──► L1 ─┘   u8            u8           ▲
//!          └── PSQT (one column per stack): own sum − other sum ┘
//! ```

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use xiangqi::{Color, PieceKind, Position};

use crate::error::ArchError;
use crate::features::FeatureSet;
use crate::quant;

/// What happens between the feature transformer and the first dense layer, per side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activation {
    /// Clipped ReLU: L1 sums become L1 activations.
    CRelu,
    /// Clip, then multiply sum `i` with sum `i + L1/2`: L1 sums become L1/2 activations.
    Pairwise,
}

/// How many output stacks there are, and with it how one is chosen ([`Stacks::choose`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stacks {
    /// One stack for all positions.
    One,
    /// Eight, by rooks and minor pieces.
    Eight,
    /// Sixteen, by rooks and minor pieces.
    Sixteen,
}

/// A net's shape. Always valid: built by [`Architecture::new`] or from text.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Architecture {
    features: FeatureSet,
    l1: usize,
    activation: Activation,
    l2: usize,
    l3: usize,
    stacks: Stacks,
    psqt: bool,
}

/// SHA-256 of an architecture's canonical text with every constant that gives it its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ArchId(pub [u8; 32]);

/// Smallest, greatest width of L1, and what it must be a multiple of.
pub const L1_RANGE: (usize, usize, usize) = (128, 2048, 64);
/// The same for L2 and L3.
pub const DENSE_RANGE: (usize, usize, usize) = (8, 128, 8);
/// No architecture text is longer than this, in bytes.
pub const MAX_TEXT: usize = 64;

/// Names for architectures: the user's HalfKP net, and what Chuhe trains by default.
pub const PRESETS: [(&str, &str); 2] = [
    ("classic", "half-kp 2x256-32-32-1 crelu"),
    ("default", "half-ka-hm-ab 2x512-16-32-1 pairwise 16-stacks psqt"),
];

impl Stacks {
    /// 1, 8 or 16.
    pub const fn count(self) -> usize {
        match self {
            Stacks::One => 1,
            Stacks::Eight => 8,
            Stacks::Sixteen => 16,
        }
    }

    /// The stack for a position with these numbers of own rooks, enemy rooks, and minor pieces
    /// (knights and cannons of both sides), own meaning the side to move.
    ///
    /// ```text
    ///                            8 stacks                16 stacks
    /// equal rooks r = 0, 1, 2    2r + (minors ≥ 5)       4r + [0-2 | 3-4 | 5-6 | 7-8 minors]
    /// more own rooks             6                       12 + (minors ≥ 4)
    /// more enemy rooks           7                       14 + (minors ≥ 4)
    /// ```
    #[inline]
    pub const fn choose_by(self, own_rooks: u32, enemy_rooks: u32, minors: u32) -> usize {
        let equal = own_rooks == enemy_rooks;
        let rooks = if own_rooks > 2 { 2 } else { own_rooks as usize };
        let unequal = (own_rooks < enemy_rooks) as usize;
        match self {
            Stacks::One => 0,
            Stacks::Eight if equal => 2 * rooks + (minors >= 5) as usize,
            Stacks::Eight => 6 + unequal,
            Stacks::Sixteen if equal => {
                4 * rooks + (minors >= 3) as usize + (minors >= 5) as usize + (minors >= 7) as usize
            }
            Stacks::Sixteen => 12 + 2 * unequal + (minors >= 4) as usize,
        }
    }

    /// The stack that evaluates this position.
    #[inline]
    pub fn choose(self, position: &Position) -> usize {
        if self == Stacks::One {
            return 0;
        }
        let own = position.side_to_move();
        let count = |color, kind| position.pieces(color, kind).count();
        let minors: u32 =
            Color::ALL.into_iter().map(|c| count(c, PieceKind::Knight) + count(c, PieceKind::Cannon)).sum();
        self.choose_by(count(own, PieceKind::Rook), count(own.flip(), PieceKind::Rook), minors)
    }
}

impl Architecture {
    /// An architecture of these parts.
    ///
    /// # Errors
    /// [`ArchError::Width`] where a width is out of [`L1_RANGE`] or [`DENSE_RANGE`].
    pub fn new(
        features: FeatureSet,
        l1: usize,
        activation: Activation,
        (l2, l3): (usize, usize),
        stacks: Stacks,
        psqt: bool,
    ) -> Result<Architecture, ArchError> {
        let ranges = [("L1", l1, L1_RANGE), ("L2", l2, DENSE_RANGE), ("L3", l3, DENSE_RANGE)];
        for (name, found, (min, max, multiple)) in ranges {
            if found < min || found > max || found % multiple != 0 {
                return Err(ArchError::Width { name, found, multiple, min, max });
            }
        }
        Ok(Architecture { features, l1, activation, l2, l3, stacks, psqt })
    }

    /// The preset `classic`.
    pub fn classic() -> Architecture {
        Architecture {
            features: FeatureSet::HALF_KP,
            l1: 256,
            activation: Activation::CRelu,
            l2: 32,
            l3: 32,
            stacks: Stacks::One,
            psqt: false,
        }
    }

    /// The feature set.
    pub fn features(&self) -> FeatureSet {
        self.features
    }

    /// Sums of the feature transformer per side.
    pub fn l1(&self) -> usize {
        self.l1
    }

    /// What follows the feature transformer.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// Outputs of the first dense layer.
    pub fn l2(&self) -> usize {
        self.l2
    }

    /// Outputs of the second dense layer.
    pub fn l3(&self) -> usize {
        self.l3
    }

    /// The stacks and how one is chosen.
    pub fn stacks(&self) -> Stacks {
        self.stacks
    }

    /// Number of stacks.
    pub fn stack_count(&self) -> usize {
        self.stacks.count()
    }

    /// Has the net piece-square values of its own, one column per stack?
    pub fn psqt(&self) -> bool {
        self.psqt
    }

    /// Columns of the PSQT matrix: the number of stacks, or 0 without PSQT.
    pub fn psqt_columns(&self) -> usize {
        if self.psqt { self.stack_count() } else { 0 }
    }

    /// Inputs of the feature transformer for one side.
    pub fn inputs(&self) -> usize {
        self.features.inputs()
    }

    /// Activations one side contributes to the first dense layer: L1, or L1/2 with pairwise.
    pub fn side_activations(&self) -> usize {
        match self.activation {
            Activation::CRelu => self.l1,
            Activation::Pairwise => self.l1 / 2,
        }
    }

    /// Inputs of the first dense layer: side to move, then the other side.
    pub fn dense_inputs(&self) -> usize {
        2 * self.side_activations()
    }

    /// Hash of the canonical text, the feature set's constants, the quantisation table and the
    /// choice of stacks. Two programs with the same id evaluate the same file alike.
    pub fn id(&self) -> ArchId {
        let mut hash = Sha256::new();
        hash.update(b"chuhe architecture\0");
        hash.update(self.to_string().as_bytes());
        hash.update(self.features.id());
        for scale in quant::SCALES {
            hash.update(scale.to_le_bytes());
        }
        for own in 0..=2 {
            for enemy in 0..=2 {
                for minors in 0..=8 {
                    hash.update([self.stacks.choose_by(own, enemy, minors) as u8]);
                }
            }
        }
        ArchId(hash.finalize().into())
    }
}

impl fmt::Display for ArchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ArchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Activation::CRelu => "crelu",
            Activation::Pairwise => "pairwise",
        })
    }
}

impl fmt::Display for Architecture {
    /// The canonical text: `half-kp 2x256-32-32-1 crelu`,
    /// `half-ka-hm-ab 2x512-16-32-1 pairwise 16-stacks psqt`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} 2x{}-{}-{}-1 {}", self.features, self.l1, self.l2, self.l3, self.activation)?;
        if self.stacks != Stacks::One {
            write!(f, " {}-stacks", self.stack_count())?;
        }
        if self.psqt { f.write_str(" psqt") } else { Ok(()) }
    }
}

impl fmt::Debug for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl FromStr for Architecture {
    type Err = ArchError;

    /// A preset's name, or `FEATURES 2xL1-L2-L3-1 [crelu|pairwise] [N-stacks] [psqt]`: words
    /// divided by blanks or commas, in any order after the second. `×` is taken for `x`.
    fn from_str(text: &str) -> Result<Architecture, ArchError> {
        if let Some((_, preset)) = PRESETS.iter().find(|(name, _)| *name == text.trim()) {
            return preset.parse();
        }
        let syntax =
            |why: &str| ArchError::Syntax { found: text.chars().take(80).collect(), why: why.to_string() };
        let mut words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty());
        let features: FeatureSet = words.next().ok_or_else(|| syntax("it is empty"))?.parse()?;
        let widths = words.next().ok_or_else(|| syntax("no widths"))?;
        let (l1, dense) = parse_widths(widths).ok_or_else(|| syntax("widths"))?;
        let (mut activation, mut stacks, mut psqt) = (None, None, None);
        for word in words {
            let twice = match word {
                "crelu" => activation.replace(Activation::CRelu).is_some(),
                "pairwise" => activation.replace(Activation::Pairwise).is_some(),
                "1-stack" => stacks.replace(Stacks::One).is_some(),
                "8-stacks" => stacks.replace(Stacks::Eight).is_some(),
                "16-stacks" => stacks.replace(Stacks::Sixteen).is_some(),
                "psqt" => psqt.replace(true).is_some(),
                _ => return Err(syntax("a word it does not know")),
            };
            if twice {
                return Err(syntax("the same choice is made twice"));
            }
        }
        Architecture::new(
            features,
            l1,
            activation.unwrap_or(Activation::CRelu),
            dense,
            stacks.unwrap_or(Stacks::One),
            psqt.unwrap_or(false),
        )
    }
}

/// `2x512-16-32-1` → `(512, (16, 32))`.
fn parse_widths(word: &str) -> Option<(usize, (usize, usize))> {
    let word = word.replace('×', "x");
    let mut widths = word.strip_prefix("2x")?.split('-').map(|w| w.parse::<usize>().ok());
    let (l1, l2, l3) = (widths.next()??, widths.next()??, widths.next()??);
    (widths.next()?? == 1 && widths.next().is_none()).then_some((l1, (l2, l3)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for text in [
            "half-kp 2x256-32-32-1 crelu",
            "half-ka-hm-ab 2x512-16-32-1 pairwise 16-stacks psqt",
            "half-ka-hm 2x2048-128-8-1 pairwise 8-stacks",
            "half-kp-hm 2x128-8-128-1 crelu psqt",
        ] {
            let arch: Architecture = text.parse().unwrap();
            assert_eq!(arch.to_string(), text);
            assert!(text.len() <= MAX_TEXT);
        }
        let loose: Architecture = " half-kp,2×256-32-32-1  1-stack ".parse().unwrap();
        assert_eq!(loose, Architecture::classic());
        assert_eq!("classic".parse::<Architecture>().unwrap(), Architecture::classic());
    }

    #[test]
    fn refused() {
        for text in [
            "",
            "half-kp",
            "half-kx 2x256-32-32-1",
            "half-kp 256-32-32-1",
            "half-kp 2x256-32-32-2",
            "half-kp 2x256-32-32-1-1",
            "half-kp 2x256-32-32-1 relu",
            "half-kp 2x256-32-32-1 crelu pairwise",
            "half-kp 2x100-32-32-1",
            "half-kp 2x4096-32-32-1",
            "half-kp 2x256-33-32-1",
            "half-kp 2x256-32-0-1",
            "half-kp 2x99999999999999999999-32-32-1",
        ] {
            assert!(text.parse::<Architecture>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn ids_differ() {
        let classic = Architecture::classic();
        let pairwise: Architecture = "half-kp 2x256-32-32-1 pairwise".parse().unwrap();
        assert_ne!(classic.id(), pairwise.id());
        assert_eq!(classic.id(), "classic".parse::<Architecture>().unwrap().id());
    }

    #[test]
    fn every_stack_is_used() {
        for stacks in [Stacks::One, Stacks::Eight, Stacks::Sixteen] {
            let mut used = vec![false; stacks.count()];
            for own in 0..=2 {
                for enemy in 0..=2 {
                    for minors in 0..=8 {
                        used[stacks.choose_by(own, enemy, minors)] = true;
                    }
                }
            }
            assert!(used.into_iter().all(|u| u), "{stacks:?}");
        }
    }
}
