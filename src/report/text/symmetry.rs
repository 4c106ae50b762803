//! What a search has gained by symmetry, in a sentence.

use super::thousands;
use crate::explore::SymmetryFigures;

/// `W: of the states that are equal up to one of 9! = 362,880 permutations, one was kept`
pub(super) fn symmetry(figures: &SymmetryFigures) -> String {
    let SymmetryFigures { processes, indices, rings, permutations, stands_for } = figures;
    let each = indices.iter().zip(rings).map(|(size, is_ring)| match is_ring {
        true => size.to_string(),
        false => format!("{size}!"),
    });
    let product = each.collect::<Vec<_>>().join(" x ");
    let is_ring = rings.iter().all(|&is_ring| is_ring);
    let what = if is_ring { "rotations" } else { "permutations" };
    let count = match permutations {
        Some(count) if product != count.to_string() => format!("{product} = {}", thousands(*count)),
        _ => product,
    };
    let stand = match stands_for {
        Some(count) => format!("; the states stand for {}", thousands(*count)),
        None => String::new(),
    };
    format!("{processes} ({count} {what}){stand}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_counted() {
        let of = |indices: &[u32], rings: &[bool], permutations, stands_for| {
            let processes = "P".to_owned();
            let (indices, rings) = (indices.to_vec(), rings.to_vec());
            symmetry(&SymmetryFigures { processes, indices, rings, permutations, stands_for })
        };
        let (all, ring) = (of(&[9], &[false], Some(362_880), Some(1_000)), [true]);
        assert_eq!(all, "P (9! = 362,880 permutations); the states stand for 1,000");
        assert_eq!(of(&[5], &ring, Some(5), None), "P (5 rotations)");
        let both = of(&[5, 3], &[true, false], Some(30), None);
        assert_eq!(both, "P (5 x 3! = 30 permutations)");
        assert_eq!(of(&[99], &[false], None, None), "P (99! permutations)");
    }
}
