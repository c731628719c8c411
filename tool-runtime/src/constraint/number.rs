//! `range = 1..=50`.

use super::Constraint;
use schemars::Schema;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

/// A type whose values lie in a range: integers, floats, and options of them.
#[diagnostic::on_unimplemented(
    message = "`range` needs a number, and `{Self}` is none",
    label = "no range here",
    note = "use `length` for text and lists, or put the bounds on the type's own schema"
)]
pub trait Ranged {
    /// The number compared: `i64` for `Option<i64>`.
    type Number: PartialOrd + Copy + Into<serde_json::Value>;

    /// The number, if there is one.
    fn number(&self) -> Option<Self::Number>;
}

macro_rules! ranged {
    ($($number:ty),*) => {$(
        impl Ranged for $number {
            type Number = Self;

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

/// Bounds of a number.
pub struct Range<T: Ranged> {
    lower: Bound<T::Number>,
    upper: Bound<T::Number>,
    of: PhantomData<fn(T)>,
}

impl<T: Ranged> Range<T> {
    /// Between two ends, each inclusive, exclusive or open.
    pub fn new(lower: Bound<T::Number>, upper: Bound<T::Number>) -> Self {
        Self { lower, upper, of: PhantomData }
    }
}

impl<T: Ranged> Constraint<T> for Range<T> {
    fn describe(&self, schema: &mut Schema) {
        match self.lower {
            Bound::Included(end) => drop(schema.insert("minimum".into(), end.into())),
            Bound::Excluded(end) => drop(schema.insert("exclusiveMinimum".into(), end.into())),
            Bound::Unbounded => {}
        }
        match self.upper {
            Bound::Included(end) => drop(schema.insert("maximum".into(), end.into())),
            Bound::Excluded(end) => drop(schema.insert("exclusiveMaximum".into(), end.into())),
            Bound::Unbounded => {}
        }
    }

    fn admits(&self, value: &T) -> bool {
        value.number().is_none_or(|number| (self.lower, self.upper).contains(&number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_count_as_written() {
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
}
