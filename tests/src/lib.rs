//! Tests across the crates live in `tests/tests`; this library is empty on purpose.
