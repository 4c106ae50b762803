//! The position of a piece of a search among all pieces.
//!
//! ```text
//!   / ──────┬──────────┬─────────► end             `/` gives away /0, then /1, further down;
//!           │ /0       │ /1                        /0 gives away /0/0.
//!           ▼          ▼                           In order: /, /1, /0, /0/0
//!           ──────┬──► end   ─────► end
//!                 │ /0/0
//!                 ▼
//! ```
//!
//! The pieces that a piece gave away come right after it, the latest first. This is the order in
//! which a single search would explore them.

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use crate::model::stored_as_text;

/// The identifier of a piece: the place of the piece that gave it away, and its index among the
/// pieces given away there. `Default` is the place of the piece with which the search begins.
///
/// As text: `/` is the first piece, `/2` the third piece that `/` gave away, and `/2/0` the first
/// piece that `/2` gave away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place(Vec<u32>);

impl Place {
    /// The place of the piece with index `number` among those that this one gives away.
    pub fn given(&self, number: u32) -> Place {
        Place(self.0.iter().copied().chain([number]).collect())
    }

    /// Did the piece at `other` give this piece away?
    pub(crate) fn is_given_by(&self, other: &Place) -> bool {
        self.0.split_last().is_some_and(|(_, from)| from == other.0)
    }

    /// The place of the piece that gave this one away, then the place of the piece that gave that
    /// one away, and so on to `/`.
    pub(crate) fn ancestors(&self) -> impl Iterator<Item = Place> {
        (0..self.0.len()).rev().map(|length| Place(self.0[..length].to_vec()))
    }

    /// Is it the piece with which the search begins?
    pub fn is_first(&self) -> bool {
        self.0.is_empty()
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Place) -> Ordering {
        let steps = self.0.iter().zip(&other.0).map(|(own, other)| other.cmp(own));
        let first = steps.into_iter().find(|order| order.is_ne());
        first.unwrap_or_else(|| self.0.len().cmp(&other.0.len()))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Place) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.is_first() {
            return f.write_str("/");
        }
        self.0.iter().try_for_each(|number| write!(f, "/{number}"))
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        let error = || format!("`{text}` is not the place of a piece");
        let steps = text.strip_prefix('/').ok_or_else(error)?;
        if steps.is_empty() {
            return Ok(Place::default());
        }
        let number = |step: &str| step.parse().map_err(|_| error());
        Ok(Place(steps.split('/').map(number).collect::<Result<_, _>>()?))
    }
}

stored_as_text!(Place);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_the_order_of_the_search() {
        let texts = ["/", "/2", "/1", "/1/10", "/1/9", "/0", "/0/0", "/0/0/0"];
        let places: Vec<Place> = texts.map(|text| text.parse().expect("a place")).into();
        assert!(places.is_sorted());
        assert!(places.iter().zip(texts).all(|(place, text)| place.to_string() == text));
        assert_eq!(places[2].given(9), places[4]);
        for text in ["", "0", "//", "/x", "/-1"] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }
}
