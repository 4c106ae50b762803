//! Sweeps: a constant that takes one value after another, and the resulting programs.
//!
//! ```text
//! N=3..7    N=2,4,8    N=2..5,8    SAFE=true,false
//! ```
//!
//! A range excludes its end, as everywhere in the language: `3..7` is 3, 4, 5, 6. Several sweeps
//! make the product of their values, the last one changing fastest. The values of k in a study are
//! written in the same way.

use std::str::FromStr;

use crate::explore::K;

/// The maximum number of values of a sweep: a typing error must not start a million searches.
const MOST: i64 = 1000;

/// A constant with the values that it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// The constant.
    pub(crate) name: String,
    /// Its values, without duplicates.
    pub(crate) values: Vec<String>,
}

impl FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Sweep, String> {
        let (name, values) = text
            .split_once('=')
            .filter(|(name, _)| !name.trim().is_empty())
            .ok_or("write NAME=VALUES, for example N=3..7 or N=2,4,8")?;
        Ok(Sweep { name: name.trim().into(), values: expand(values)? })
    }
}

/// The values of k in a study: `1..4,optimal`.
pub fn ks(text: &str) -> Result<Vec<K>, String> {
    expand(text)?.iter().map(|value| value.parse()).collect()
}

/// Expands values and ranges, separated by commas.
fn expand(text: &str) -> Result<Vec<String>, String> {
    let mut values: Vec<String> = Vec::new();
    for item in text.split(',').map(str::trim) {
        let found = match item.split_once("..") {
            Some((low, high)) => range(item, low, high)?,
            None if item.is_empty() => return Err("a value is missing".into()),
            None => vec![item.to_owned()],
        };
        for value in found {
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    Ok(values)
}

fn range(item: &str, low: &str, high: &str) -> Result<Vec<String>, String> {
    let number = |text: &str| text.trim().parse::<i64>().ok();
    let (Some(low), Some(high)) = (number(low), number(high)) else {
        return Err(format!("`{item}` is not a range: write two numbers, as in 3..7"));
    };
    if low >= high {
        return Err(format!("`{item}` is empty: a range leaves out its end"));
    }
    if high.saturating_sub(low) > MOST {
        return Err(format!("`{item}` has more than {MOST} values"));
    }
    Ok((low..high).map(|value| value.to_string()).collect())
}

/// All assignments that give each constant one of its values.
pub fn product(sweeps: &[Sweep]) -> Vec<Vec<(String, String)>> {
    let mut all = vec![Vec::new()];
    for Sweep { name, values } in sweeps {
        let with = |settings: &Vec<(String, String)>| {
            let one = |value: &String| [&settings[..], &[(name.clone(), value.clone())]].concat();
            values.iter().map(one).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        text.parse::<Sweep>().unwrap_or_else(|why| panic!("{text}: {why}")).values
    }

    #[test]
    fn values_and_ranges_make_a_sweep() {
        assert_eq!(values("N=3..7"), ["3", "4", "5", "6"]);
        assert_eq!(values(" N = 2, 4 ,8"), ["2", "4", "8"]);
        assert_eq!(values("N=-1..2,1,9"), ["-1", "0", "1", "9"]);
        assert_eq!(values("N=5"), ["5"]);
        assert_eq!(values("SAFE=true,false"), ["true", "false"]);
        assert_eq!("N=5".parse::<Sweep>().unwrap().name, "N");
    }

    #[test]
    fn mistakes_are_reported() {
        for (text, fragment) in [
            ("N", "write NAME=VALUES"),
            ("=3", "write NAME=VALUES"),
            ("N=", "a value is missing"),
            ("N=1,,2", "a value is missing"),
            ("N=7..3", "`7..3` is empty"),
            ("N=3..3", "`3..3` is empty"),
            ("N=3..", "`3..` is not a range"),
            ("N=a..b", "`a..b` is not a range"),
            ("N=0..1000000", "has more than 1000 values"),
            ("N=-9223372036854775808..9223372036854775807", "has more than 1000 values"),
        ] {
            let refusal = text.parse::<Sweep>().unwrap_err();
            assert!(refusal.contains(fragment), "{text}: {refusal}");
        }
    }

    #[test]
    fn ks_are_numbers_and_optimal() {
        let [one, two] = [1, 2].map(K::Partial);
        assert_eq!(ks("1..3,optimal"), Ok(vec![one, two, K::Optimal]));
        assert_eq!(ks("2,1"), Ok(vec![two, one]));
        for (text, fragment) in [("0..3", "from 1 on"), ("best", "from 1 on"), ("3..1", "empty")] {
            assert!(ks(text).unwrap_err().contains(fragment), "{text}");
        }
    }

    #[test]
    fn several_sweeps_make_their_product() {
        let sweeps = ["N=1,2", "M=7..9"].map(|text| text.parse::<Sweep>().unwrap());
        let shown = product(&sweeps).into_iter().map(|settings| {
            settings.iter().map(|(name, value)| format!("{name}{value}")).collect::<String>()
        });
        assert_eq!(shown.collect::<Vec<_>>(), ["N1M7", "N1M8", "N2M7", "N2M8"]);
        assert_eq!(product(&[]), [vec![]]);
    }
}
