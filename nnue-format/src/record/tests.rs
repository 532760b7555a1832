//! Laws of the record file, over random games and random damage.
