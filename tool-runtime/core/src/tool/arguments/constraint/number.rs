//! `range = 1..=50`.

use super::Constraint;
use schemars::Schema;
use serde_json::Value;
use std::ops::{Bound, RangeBounds};

/// A type whose values lie in a range: integers, floats, and options of them.
#[diagnostic::on_unimplemented(
    message = "`range` needs a float or an integer of at most 64 bits, and `{Self}` is not one",
    label = "not a number with a range",
    note = "write `length = 1..=200` for text, lists and maps; check other values, such as an `i128`, in the function"
)]
pub trait Ranged {
    /// The number compared: `i64` for `Option<i64>`.
    type Number: Into<Number>;

    /// The number, if there is one.
    fn number(&self) -> Option<Self::Number>;
}

macro_rules! ranged {
    ($($number:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl Ranged for $number {
            type Number = Self;

            #[inline]
            fn number(&self) -> Option<Self> {
                Some(*self)
            }
        }
    )*};
}

ranged!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize, f32, f64);

#[diagnostic::do_not_recommend]
impl<T: Ranged> Ranged for Option<T> {
    type Number = T::Number;

    fn number(&self) -> Option<T::Number> {
        self.as_ref()?.number()
    }
}

/// A number of any type, compared exactly with others of that type.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub enum Number {
    /// Wide enough for every integer type with a range.
    Integer(i128),
    /// A float.
    Float(f64),
}

macro_rules! number {
    ($variant:ident: $($number:ty),*) => {$(
        impl From<$number> for Number {
            #[inline]
            fn from(number: $number) -> Self {
                Self::$variant(number as _)
            }
        }
    )*};
}

number!(Integer: i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);
number!(Float: f64);

/// Converts through text, so that the schema contains `0.1` instead of the exact value of the `f32`.
impl From<f32> for Number {
    fn from(number: f32) -> Self {
        Self::Float(number.to_string().parse().unwrap_or(f64::from(number)))
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        match number {
            Number::Integer(number) => u64::try_from(number)
                .map_or_else(|_| i64::try_from(number).unwrap_or(i64::MIN).into(), Self::from),
            Number::Float(number) => number.into(),
        }
    }
}

/// Bounds of a number.
pub struct Range<T> {
    lower: Bound<Number>,
    upper: Bound<Number>,
    number: fn(&T) -> Option<Number>,
}

impl<T: Ranged> Range<T> {
    /// Between two ends, each inclusive, exclusive or open.
    pub fn new(lower: Bound<T::Number>, upper: Bound<T::Number>) -> Self {
        Self {
            lower: lower.map(Into::into),
            upper: upper.map(Into::into),
            number: |value| value.number().map(Into::into),
        }
    }
}

/// Makes a range of `T` from its two ends.
type Make<T, N> = fn(Bound<N>, Bound<N>) -> Range<T>;

/// Returns the constructor of a range of `T`. Generated code calls it before it mentions the bounds, so that a
/// wrong type is the only compile error.
pub fn range<T: Ranged>() -> Make<T, T::Number> {
    Range::new
}

/// An inclusive end at infinity excludes nothing, and JSON cannot represent it.
fn open_if(end: Bound<Number>, infinity: f64) -> Bound<Number> {
    if end == Bound::Included(Number::Float(infinity)) { Bound::Unbounded } else { end }
}

impl<T> Constraint<T> for Range<T> {
    fn describe(&self, schema: &mut Schema) {
        match open_if(self.lower, f64::NEG_INFINITY) {
            Bound::Included(end) => drop(schema.insert("minimum".into(), end.into())),
            Bound::Excluded(end) => drop(schema.insert("exclusiveMinimum".into(), end.into())),
            Bound::Unbounded => {}
        }
        match open_if(self.upper, f64::INFINITY) {
            Bound::Included(end) => drop(schema.insert("maximum".into(), end.into())),
            Bound::Excluded(end) => drop(schema.insert("exclusiveMaximum".into(), end.into())),
            Bound::Unbounded => {}
        }
    }

    fn admits(&self, value: &T) -> bool {
        (self.number)(value).is_none_or(|number| (self.lower, self.upper).contains(&number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inclusive_and_exclusive_bounds_are_enforced() {
        let range = Range::<i64>::new(Bound::Included(1), Bound::Excluded(5));
        assert!(range.admits(&1) && range.admits(&4));
        assert!(!range.admits(&0) && !range.admits(&5));
        let mut schema = Schema::default();
        range.describe(&mut schema);
        assert_eq!(schema.to_value(), serde_json::json!({"minimum": 1, "exclusiveMaximum": 5}));
    }

    #[test]
    fn an_absent_number_is_in_every_range() {
        let range = Range::<Option<f64>>::new(Bound::Included(0.5), Bound::Unbounded);
        assert!(range.admits(&None) && range.admits(&Some(0.5)));
        assert!(!range.admits(&Some(0.4)) && !range.admits(&Some(f64::NAN)));
    }

    #[test]
    fn the_ends_of_a_small_float_are_advertised_as_written() {
        let range = Range::<f32>::new(Bound::Included(0.1), Bound::Excluded(0.3));
        let mut schema = Schema::default();
        range.describe(&mut schema);
        let expected = serde_json::json!({"minimum": 0.1, "exclusiveMaximum": 0.3});
        assert_eq!(schema.to_value(), expected);
        assert!(range.admits(&0.1) && !range.admits(&0.3));
    }
}
