//! Nothing: the tests are in `tests/suite`, the macro's mistakes in `ui`.
