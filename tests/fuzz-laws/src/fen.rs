use xiangqi::{Position, Setup};

use crate::check_message;

/// A text is a FEN or a told error; what is read is printed and read again as the same.
pub fn fen(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Setup::from_fen(&text) {
        Ok(setup) => assert_eq!(Setup::from_fen(&setup.fen()), Ok(setup), "{text:?}"),
        Err(error) => check_message(&error),
    }
    match Position::from_fen(&text) {
        Ok(position) => {
            let printed = position.fen();
            let again = Position::from_fen(&printed);
            assert_eq!(again.as_ref(), Ok(&position), "{text:?}");
            assert_eq!(again.map(|again| again.fen()), Ok(printed));
        }
        Err(error) => check_message(&error),
    }
}
