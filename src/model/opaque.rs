//! Values of a type that this crate does not know: what programs in Rust or C send and store.

use std::any::Any;
use std::fmt::{self, Debug, Write};
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::Value;

/// A value of any type that can be compared, hashed and shown. Values of different types are never
/// equal.
#[derive(Clone)]
pub struct Opaque(Arc<dyn Payload>, Option<Apply>);

/// What an update makes of a content.
type Apply = fn(&dyn Any, &Value) -> Option<Value>;

/// Says what becomes of the content of a cell ([`Access::Update`](super::Access::Update)).
pub trait Update: Eq + Hash + Debug + Send + Sync + 'static {
    /// The new content, or `None` if it stays. A function of its arguments.
    fn update(&self, content: &Value) -> Option<Value>;
}

impl Opaque {
    /// Wraps this value.
    pub fn new<T: Eq + Hash + Debug + Send + Sync + 'static>(value: T) -> Opaque {
        Opaque(Arc::new(value), None)
    }

    /// Wraps this update.
    pub fn updating<T: Update>(update: T) -> Opaque {
        let apply = |update: &dyn Any, content: &Value| {
            update.downcast_ref::<T>().expect("the type that was wrapped").update(content)
        };
        Opaque(Arc::new(update), Some(apply))
    }

    /// What becomes of this content; `None` if it stays, or if this is no update.
    pub(crate) fn update(&self, content: &Value) -> Option<Value> {
        self.1.and_then(|apply| apply(self.0.as_any(), content))
    }

    /// The value inside, if it is of this type.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.0.as_any().downcast_ref()
    }
}

/// The interface to the value inside.
trait Payload: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;

    fn equals(&self, other: &dyn Any) -> bool;

    fn hash_into(&self, hasher: &mut dyn Hasher);
}

impl<T: Eq + Hash + Debug + Send + Sync + 'static> Payload for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }

    fn hash_into(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

impl PartialEq for Opaque {
    fn eq(&self, other: &Opaque) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.equals(other.0.as_any())
    }
}

impl Eq for Opaque {}

impl Hash for Opaque {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash_into(hasher);
    }
}

/// As its own `Debug` shows it. If that fails, a report goes on without it.
impl Debug for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_pretty = f.alternate();
        let shown = catch_unwind(AssertUnwindSafe(|| {
            let mut text = String::new();
            let shown = match is_pretty {
                true => write!(text, "{:#?}", self.0),
                false => write!(text, "{:?}", self.0),
            };
            shown.map(|()| text)
        }));
        match shown {
            Ok(Ok(text)) => f.write_str(&text),
            Ok(Err(fmt::Error)) => f.write_str("<a value whose Debug fails>"),
            Err(_) => f.write_str("<a value whose Debug panics>"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fmt;

    use super::Opaque;

    #[derive(PartialEq, Eq, Hash)]
    struct Unseen(bool);

    impl fmt::Debug for Unseen {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            if self.0 { panic!("it cannot be shown") } else { Err(fmt::Error) }
        }
    }

    #[test]
    fn a_value_that_cannot_be_shown_does_not_end_a_report() {
        let shown = [true, false].map(|panics| format!("{:?}", Opaque::new(Unseen(panics))));
        assert_eq!(shown, ["<a value whose Debug panics>", "<a value whose Debug fails>"]);
    }

    #[test]
    fn values_are_equal_if_types_and_contents_are() {
        let all = [Opaque::new(1_u8), Opaque::new(1_u16), Opaque::new(2_u8), Opaque::new("1")];
        let distinct: HashSet<_> = all.iter().cloned().chain([Opaque::new(1_u8)]).collect();
        assert_eq!(distinct.len(), all.len());
        assert_eq!((all[0].get::<u8>(), all[0].get::<u16>()), (Some(&1), None));
        assert_eq!(format!("{all:?}"), r#"[1, 1, 2, "1"]"#);
    }
}
