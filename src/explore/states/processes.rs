//! Sets of processes: the sets safe, done, backtrack and current of the papers.

use smallvec::SmallVec;

use crate::model::ProcessId;

/// A set of processes, by their numbers. Nothing is allocated for the first 128.
#[derive(Clone, Debug, Default)]
pub(crate) struct Processes(SmallVec<[u64; 2]>);

const WORD: usize = u64::BITS as usize;

impl Processes {
    /// {p}
    pub(crate) fn only(process: ProcessId) -> Processes {
        let mut set = Processes::default();
        set.insert(process);
        set
    }

    /// Is it empty?
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Its size.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// p ∈ self
    pub(crate) fn contains(&self, process: ProcessId) -> bool {
        let word = self.0.get(process.index() / WORD).copied().unwrap_or(0);
        word >> (process.index() % WORD) & 1 == 1
    }

    /// self := self ∪ {p}
    pub(crate) fn insert(&mut self, process: ProcessId) {
        let word = process.index() / WORD;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (process.index() % WORD);
    }

    /// self := self ∪ other
    pub(crate) fn unite(&mut self, other: &Processes) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, &more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    /// self ∖ other
    pub(crate) fn without(&self, other: &Processes) -> Processes {
        let mut rest = self.clone();
        for (word, &less) in rest.0.iter_mut().zip(&other.0) {
            *word &= !less;
        }
        rest
    }

    /// self ∩ other
    pub(crate) fn within(&self, other: &Processes) -> Processes {
        let words = self.0.iter().zip(&other.0).map(|(&own, &also)| own & also);
        Processes(words.collect())
    }

    /// self ⊆ other
    pub(crate) fn is_subset(&self, other: &Processes) -> bool {
        let word = |index: usize| other.0.get(index).copied().unwrap_or(0);
        self.0.iter().enumerate().all(|(index, &own)| own & !word(index) == 0)
    }

    /// Its processes in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ProcessId> + Clone + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let rest =
                move |&word: &u64| Some(word & word.wrapping_sub(1)).filter(|&rest| rest != 0);
            let words = std::iter::successors(Some(word).filter(|&word| word != 0), rest);
            words.map(move |word| ProcessId((index * WORD) as u32 + word.trailing_zeros()))
        })
    }
}

impl FromIterator<ProcessId> for Processes {
    fn from_iter<I: IntoIterator<Item = ProcessId>>(processes: I) -> Self {
        let mut set = Processes::default();
        processes.into_iter().for_each(|process| set.insert(process));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(processes: &[u32]) -> Processes {
        processes.iter().copied().map(ProcessId).collect()
    }

    #[test]
    fn sets_of_any_size_go_together() {
        let (mut small, large) = (set(&[0, 3]), set(&[3, 64, 200]));
        assert_eq!(large.iter().collect::<Vec<_>>(), [3, 64, 200].map(ProcessId));
        assert!(set(&[3]).is_subset(&large) && !large.is_subset(&small));
        assert!(large.without(&large).is_empty() && large.without(&large).is_subset(&small));
        assert_eq!(large.without(&small).iter().collect::<Vec<_>>(), [64, 200].map(ProcessId));
        assert_eq!(large.within(&small).iter().collect::<Vec<_>>(), [ProcessId(3)]);
        small.unite(&large);
        assert_eq!(small.len(), 4);
        assert!(small.contains(ProcessId(200)) && !small.contains(ProcessId(1)));
    }
}
