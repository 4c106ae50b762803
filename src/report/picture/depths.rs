//! How deep events are in the causality, for the layout of drawings.

/// The length of the longest chain of causes that ends in each event.
pub(super) fn depths(causes: &[Vec<usize>]) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(causes.len());
    for of_one in causes {
        depths.push(1 + of_one.iter().map(|&cause| depths[cause]).max().unwrap_or(0));
    }
    depths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_chain_counts() {
        assert_eq!(depths(&[vec![], vec![0], vec![1], vec![2], vec![0]]), [1, 2, 3, 4, 2]);
    }
}
