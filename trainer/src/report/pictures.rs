//! The rows of the feature transformer, square by square.

use crate::data::restore::Restorer;
use ndarray::Axis;
use nnue_format::MergedNet;
use nnue_format::quant::OUTPUT_CP;
use xiangqi::{Color, Piece, PieceKind, Square};

/// Neurons shown one by one.
const NEURONS: usize = 6;

/// One piece on every square.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// `own rook 车` and the like.
    pub name: String,
    /// By square, a0 first, as the side that looks sees it; `None` where the piece cannot stand.
    pub values: [Option<f32>; 90],
    /// The own king's square, where the picture is of one king bucket.
    pub king: Option<Square>,
}

/// Pictures that share a scale.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureSet {
    /// What they show.
    pub title: String,
    /// How to read them.
    pub note: String,
    /// One for each piece, own ones first.
    pub pictures: Vec<Picture>,
}

impl PictureSet {
    /// The greatest absolute value.
    pub fn most(&self) -> f32 {
        let values = self.pictures.iter().flat_map(|picture| picture.values.iter().flatten());
        values.fold(0.0, |most, value| most.max(value.abs()))
    }
}

/// The name of a piece as reports have it.
pub fn piece_name(piece: Piece) -> String {
    let (whose, own) = if piece.color() == Color::Red { ("own", true) } else { ("enemy", false) };
    let (name, red, black) = match piece.kind() {
        PieceKind::King => ("king", '帅', '将'),
        PieceKind::Advisor => ("advisor", '仕', '士'),
        PieceKind::Bishop => ("elephant", '相', '象'),
        PieceKind::Knight => ("horse", '马', '马'),
        PieceKind::Rook => ("rook", '车', '车'),
        PieceKind::Cannon => ("cannon", '炮', '炮'),
        PieceKind::Pawn => ("pawn", '兵', '卒'),
    };
    format!("{whose} {name} {}", if own { red } else { black })
}

/// How strongly the whole transformer looks at each piece and square: the mean absolute weight over all neurons. First
/// over all buckets, then for each king bucket.
pub fn strengths(net: &MergedNet) -> Vec<PictureSet> {
    let restorer = Restorer::new(net.arch.features());
    let neurons = net.arch.l1() as f32;
    let mean: Vec<f32> = net
        .layers
        .ft_weights
        .axis_iter(Axis(0))
        .map(|row| row.iter().map(|weight| weight.abs()).sum::<f32>() / neurons)
        .collect();
    let buckets = net.arch.features().king_buckets();
    let note = |of: &str| {
        format!("mean absolute weight over all {} neurons, {of}; the side that looks is below", net.arch.l1())
    };
    let mut sets = vec![PictureSet {
        title: "All king buckets".to_owned(),
        note: note("mean of all buckets"),
        pictures: pictures(&restorer, net, None, |feature| mean[feature]),
    }];
    sets.extend((0..buckets).map(|bucket| {
        let square = restorer.king_square(bucket);
        let name = square.map_or(String::new(), |square| format!(": own king on {}", square_name(square)));
        PictureSet {
            title: format!("King bucket {bucket}{name}"),
            note: note("this bucket alone"),
            pictures: pictures(&restorer, net, Some(bucket), |feature| mean[feature]),
        }
    }));
    sets
}

/// The neurons that the next layer listens to most, with the sign of their weights; means over all buckets.
pub fn chosen_neurons(net: &MergedNet) -> Vec<PictureSet> {
    let restorer = Restorer::new(net.arch.features());
    let side = net.arch.side_activations();
    // How much of a neuron reaches the next layer, from either side: its weights there times its own.
    let mut weight: Vec<(usize, f32)> = (0..net.arch.l1())
        .map(|neuron| {
            let input = neuron % side;
            let inputs = net.layers.dense1_weights.axis_iter(Axis(2)).enumerate();
            let there: f32 = inputs
                .filter(|(i, _)| i % side == input)
                .map(|(_, column)| column.iter().map(|weight| weight * weight).sum::<f32>())
                .sum();
            let own: f32 = net.layers.ft_weights.column(neuron).iter().map(|weight| weight * weight).sum();
            (neuron, (there * own).sqrt())
        })
        .collect();
    weight.sort_by(|a, b| b.1.total_cmp(&a.1));
    let chosen = weight.into_iter().take(NEURONS);
    let set = |(neuron, _): (usize, f32)| PictureSet {
        title: format!("Neuron {neuron}"),
        note: format!(
            "its weights, mean of all buckets, bias {:.3}; blue raises it, red lowers it",
            net.layers.ft_biases[neuron]
        ),
        pictures: pictures(&restorer, net, None, |feature| net.layers.ft_weights[[feature, neuron]]),
    };
    chosen.map(set).collect()
}

/// The piece-square values in centipawns, means over buckets and output stacks; `None` for a net without them.
pub fn psqt(net: &MergedNet) -> Option<PictureSet> {
    let restorer = Restorer::new(net.arch.features());
    let stacks = net.arch.psqt_columns() as f32;
    let value = |feature: usize| net.layers.psqt.row(feature).sum() / stacks * OUTPUT_CP as f32;
    net.arch.psqt().then(|| PictureSet {
        title: "Piece-square values".to_owned(),
        note: "centipawns for the side that looks, means over all buckets and output stacks; blue is good for it"
            .to_owned(),
        pictures: pictures(&restorer, net, None, value),
    })
}

/// A picture for each piece that has features: means over the buckets of one king bucket or of all.
fn pictures(
    restorer: &Restorer,
    net: &MergedNet,
    king_bucket: Option<usize>,
    value: impl Fn(usize) -> f32,
) -> Vec<Picture> {
    let features = net.arch.features();
    let (slots, attacks) = (features.slot_count(), features.attack_buckets());
    let buckets = match king_bucket {
        Some(king) => king * attacks..(king + 1) * attacks,
        None => 0..features.buckets(),
    };
    let king = king_bucket.and_then(|bucket| restorer.king_square(bucket));
    let mut found: Vec<Picture> = Vec::new();
    for piece in (0..Piece::COUNT).filter_map(Piece::from_index) {
        let mut values = [None; 90];
        for slot in 0..slots {
            if let Some((of, square)) = restorer.slot(slot)
                && of == piece
            {
                let sum: f32 = buckets.clone().map(|bucket| value(bucket * slots + slot)).sum();
                values[square.index()] = Some(sum / buckets.len() as f32);
            }
        }
        if values.iter().any(Option::is_some) {
            found.push(Picture { name: piece_name(piece), values, king });
        }
    }
    found.sort_by_key(|picture| picture.name.starts_with("enemy"));
    found
}

/// `e0` and the like.
pub fn square_name(square: Square) -> String {
    format!("{}{}", char::from(b'a' + square.file()), square.rank())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nnue_format::{Architecture, FloatNet};
    use xiangqi::Position;

    #[test]
    fn a_weight_is_shown_where_its_piece_stands() {
        let arch: Architecture = "half-ka-hm-ab 2x128-8-16-1 crelu 8-stacks psqt".parse().unwrap();
        let mut net = FloatNet::zeros(&arch).merge().unwrap();
        let features = arch.features();
        // Red's rook on a1 with its king on e0; Black sees the same board turned, and its own rook on a9 is there on a0.
        let position = Position::from_fen("r2k5/9/9/9/9/9/9/9/R8/4K4 w - - 0 1").unwrap();
        for (side, place) in [(Color::Red, "a1"), (Color::Black, "a0")] {
            let view = features.view(&position, side);
            let square = position.pieces(side, PieceKind::Rook).next().unwrap();
            let feature = features.index(view, side, Piece::new(side, PieceKind::Rook), square).unwrap();
            net.layers.ft_weights[[feature, 5]] = -0.5;
            net.layers.psqt.row_mut(feature).fill(0.5);
            let mirrored = |square: Square| if view.mirror { square.mirror_file() } else { square };
            let expected = mirrored(square.relative_to(side));
            assert!(square_name(mirrored(expected)) == place, "{}", square_name(expected));
            let shown = |set: &PictureSet, factor: f32| {
                let picture = set.pictures.iter().find(|picture| picture.name == "own rook 车").unwrap();
                let value = picture.values[expected.index()].unwrap();
                assert!((value * factor).abs() > 0.0, "{} {}", set.title, square_name(expected));
                value
            };
            let strengths = strengths(&net);
            assert_eq!(strengths.len(), 7);
            shown(&strengths[0], 1.0);
            shown(&strengths[1 + usize::from(view.king)], 1.0);
            let neuron = &chosen_neurons(&net)[0];
            assert_eq!(psqt(&net).unwrap().pictures.len(), 14);
            // 24 buckets, one of which has 0.5, that is 300 cp.
            assert!((shown(&psqt(&net).unwrap(), 1.0) - 300.0 / 24.0).abs() < 1e-3);
            if neuron.title == "Neuron 5" {
                assert!(shown(neuron, 1.0) < 0.0);
            }
            net.layers.ft_weights.fill(0.0);
            net.layers.psqt.fill(0.0);
        }
        let pieces = strengths(&net)[0].pictures.len();
        assert_eq!(pieces, 14);
        let kings = &strengths(&net)[0].pictures;
        let own = kings.iter().find(|picture| picture.name == "own king 帅").unwrap();
        assert_eq!(own.values.iter().flatten().count(), 6, "files d and e");
        let pawn = kings.iter().find(|picture| picture.name == "enemy pawn 卒").unwrap();
        assert!(pawn.values[Square::at(0, 0).unwrap().index()].is_some(), "it walks down to rank 0");
        assert!(pawn.values[Square::at(0, 7).unwrap().index()].is_none());
    }
}
