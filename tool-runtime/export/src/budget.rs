//! The tools that may be strict in one request.

/// The resources that a strict tool takes from the limits of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

/// Strict tools in one request, by Anthropic's documents on strict tools.
const MAX_TOOLS: usize = 20;
/// Properties that are not required, in all strict tools of a request.
const MAX_OPTIONAL: usize = 24;
/// Unions, in all strict tools of a request.
const MAX_UNIONS: usize = 16;
/// A single schema with 24 optional properties was rejected as too complex, though within the limit.
const MAX_OPTIONAL_IN_ONE: usize = 16;

/// A single schema with 16 unions was rejected as too complex, though within the limit.
const MAX_UNIONS_IN_ONE: usize = 8;

/// Whether a tool can be strict at all.
pub(crate) fn fits_alone(demand: Demand) -> bool {
    demand.optional <= MAX_OPTIONAL_IN_ONE && demand.unions <= MAX_UNIONS_IN_ONE
}

/// Picks as many tools as fit. Among equally many, those with the least demand, then the first.
pub(crate) fn fitting(demands: &[Demand]) -> Vec<bool> {
    const WIDTH: usize = MAX_UNIONS + 1;
    /// The most tools for each demand up to the limits, and the last tool taken.
    #[derive(Clone, Copy, Default)]
    struct Best {
        tools: usize,
        is_reached: bool,
    }
    let size = (MAX_OPTIONAL + 1) * WIDTH;
    let start = Best { tools: 0, is_reached: true };
    let mut best = vec![Best::default(); size];
    best[0] = start;
    // Whether the tool was taken, for each tool and demand.
    let mut taken = vec![vec![false; size]; demands.len()];
    for (index, demand) in demands.iter().enumerate() {
        if !fits_alone(*demand) {
            continue;
        }
        let step = demand.optional * WIDTH + demand.unions;
        for at in (step..size).rev() {
            let (optional, unions) = (at / WIDTH, at % WIDTH);
            if optional < demand.optional || unions < demand.unions {
                continue;
            }
            let before = best[at - step];
            if before.is_reached && before.tools + 1 > best[at].tools && before.tools < MAX_TOOLS {
                best[at] = Best { tools: before.tools + 1, is_reached: true };
                taken[index][at] = true;
            }
        }
    }
    let most = best.iter().map(|best| best.tools).max().unwrap_or_default();
    let mut cost = best.iter().position(|best| best.tools == most).unwrap_or_default();
    let mut picked = vec![false; demands.len()];
    for index in (0..demands.len()).rev() {
        if taken[index][cost] {
            picked[index] = true;
            cost -= demands[index].optional * WIDTH + demands[index].unions;
        }
    }
    picked
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count(picked: &[bool]) -> usize {
        picked.iter().filter(|picked| **picked).count()
    }

    #[test]
    fn twenty_tools_without_optional_properties_are_strict() {
        let demands = vec![Demand { optional: 0, unions: 0 }; 25];
        assert_eq!(count(&fitting(&demands)), 20);
    }

    #[test]
    fn several_small_tools_are_preferred_to_one_large_tool() {
        let mut demands = vec![Demand { optional: 16, unions: 0 }];
        demands.extend([Demand { optional: 8, unions: 0 }; 3]);
        assert_eq!(fitting(&demands), [false, true, true, true]);
    }

    proptest! {
        #![proptest_config(crate::property::cases(256))]

        #[test]
        fn as_many_as_possible_are_picked_within_the_limits(
            demands in prop::collection::vec((0..20_usize, 0..20_usize), 0..10)
        ) {
            let demands: Vec<Demand> =
                demands.into_iter().map(|(optional, unions)| Demand { optional, unions }).collect();
            let sum = |picked: &dyn Fn(usize) -> bool| {
                let taken = || demands.iter().enumerate().filter(|(i, _)| picked(*i));
                let fits = taken().all(|(_, d)| fits_alone(*d))
                    && taken().map(|(_, d)| d.optional).sum::<usize>() <= MAX_OPTIONAL
                    && taken().map(|(_, d)| d.unions).sum::<usize>() <= MAX_UNIONS;
                fits.then(|| taken().count())
            };
            let picked = fitting(&demands);
            let brute = (0..1_u32 << demands.len()).filter_map(|set| sum(&|i| set >> i & 1 == 1));
            prop_assert_eq!(sum(&|i| picked[i]), brute.max());
        }
    }
}
