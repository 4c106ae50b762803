//! Types in debug information, and the values in them.

use gimli::{AttributeValue, UnitOffset};

use super::{DEEPEST, Entry, Kind, MOST_RUNS, OfUnit, Run, Shape};

impl OfUnit<'_> {
    /// The size and layout of the memory that a pointer of this type points to: `None` if it is not
    /// a pointer; unknown contents if the type does not say (`void`).
    pub(super) fn pointed(&mut self, of_type: UnitOffset) -> gimli::Result<Option<(u64, u64)>> {
        let Some(pointee) = self.pointee(of_type, DEEPEST)? else { return Ok(None) };
        let known = match pointee {
            Some(pointee) => self.layout(pointee)?,
            None => None,
        };
        let is_known = |&(size, layout): &(u64, u64)| {
            let (_, runs) = self.table.layouts[layout as usize];
            size > 0 && runs > 0
        };
        Ok(Some(known.filter(is_known).unwrap_or_else(|| self.anything())))
    }

    /// The type that a pointer of this type points to; the inner `None` is `void`. The outer `None`
    /// means that it is not a pointer.
    fn pointee(&self, offset: UnitOffset, depth: u32) -> gimli::Result<Option<Option<UnitOffset>>> {
        let entry = self.unit.entry(offset)?;
        let inner = match entry.attr_value(gimli::DW_AT_type) {
            Some(AttributeValue::UnitRef(inner)) => Some(inner),
            _ => None,
        };
        match (entry.tag(), inner) {
            (gimli::DW_TAG_pointer_type, _) => Ok(Some(inner)),
            (
                gimli::DW_TAG_typedef
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
                | gimli::DW_TAG_restrict_type
                | gimli::DW_TAG_atomic_type,
                Some(inner),
            ) if depth > 0 => self.pointee(inner, depth - 1),
            _ => Ok(None),
        }
    }

    /// The layout of a byte that may be a part of any value.
    pub(super) fn anything(&mut self) -> (u64, u64) {
        let runs = [Run { offset: 0, kind: Kind::Unknown, size: 1, count: 1 }];
        *self.anything.get_or_insert_with(|| (1, self.table.add_layout(&runs)))
    }

    /// The size of a type, and the index of its layout.
    pub(super) fn layout(&mut self, offset: UnitOffset) -> gimli::Result<Option<(u64, u64)>> {
        if let Some(known) = self.known.get(&offset) {
            return Ok(*known);
        }
        let shape = self.shape(offset, DEEPEST)?;
        let found = shape.map(|(size, runs)| (size, self.table.add_layout(&runs)));
        self.known.insert(offset, found);
        Ok(found)
    }

    /// The size of a type and its values; `None` if its size is unknown.
    pub(super) fn shape(&self, offset: UnitOffset, depth: u32) -> gimli::Result<Option<Shape>> {
        let entry = self.unit.entry(offset)?;
        let size = entry.attr_value(gimli::DW_AT_byte_size).and_then(|size| size.udata_value());
        let inner = || match (entry.attr_value(gimli::DW_AT_type), depth) {
            (_, 0) => Ok(None),
            (Some(AttributeValue::UnitRef(inner)), _) => self.shape(inner, depth - 1),
            _ => Ok(None),
        };
        let one = |kind, size| vec![Run { offset: 0, kind, size, count: 1 }];
        Ok(match entry.tag() {
            gimli::DW_TAG_base_type => size.map(|size| (size, one(kind(&entry), size))),
            gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type => {
                let size = size.unwrap_or(u64::from(self.unit.encoding().address_size));
                Some((size, one(Kind::Pointer, size)))
            }
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type => inner()?,
            gimli::DW_TAG_array_type if entry.attr(gimli::DW_AT_data_location).is_some() => None,
            gimli::DW_TAG_string_type if entry.attr(gimli::DW_AT_string_length).is_some() => None,
            gimli::DW_TAG_string_type => size.map(|count| {
                (count, vec![Run { offset: 0, kind: Kind::Character, size: 1, count }])
            }),
            gimli::DW_TAG_array_type => match inner()? {
                Some(element) => self.array(offset, element)?,
                None => None,
            },
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => match size {
                Some(size) => Some((size, self.members(offset, depth)?)),
                None => None,
            },
            _ => size.map(|size| (size, one(Kind::Unknown, size))),
        })
    }

    /// The shape of an array, if its length is known.
    fn array(&self, offset: UnitOffset, element: Shape) -> gimli::Result<Option<Shape>> {
        let mut tree = self.unit.entries_tree(Some(offset))?;
        let mut children = tree.root()?.children();
        let mut count: u64 = 1;
        while let Some(child) = children.next()? {
            let entry = child.entry();
            let number = |name| match entry.attr_value(name)? {
                AttributeValue::Sdata(number) => Some(number),
                value => value.udata_value().and_then(|number| i64::try_from(number).ok()),
            };
            let lower = match entry.attr_value(gimli::DW_AT_lower_bound) {
                Some(_) => number(gimli::DW_AT_lower_bound),
                None => Some(self.lowest),
            };
            let length = || number(gimli::DW_AT_upper_bound)?.checked_sub(lower?)?.checked_add(1);
            match number(gimli::DW_AT_count).or_else(length) {
                Some(length) => count = count.saturating_mul(length.max(0).unsigned_abs()),
                None => return Ok(None),
            }
        }
        Ok(Some(repeated(element, count)))
    }

    /// The type of the values of an array.
    pub(super) fn element(&self, of_type: UnitOffset) -> gimli::Result<Option<UnitOffset>> {
        let entry = self.unit.entry(of_type)?;
        Ok(match (entry.tag(), entry.attr_value(gimli::DW_AT_type)) {
            (gimli::DW_TAG_array_type, Some(AttributeValue::UnitRef(element))) => Some(element),
            _ => None,
        })
    }

    /// The type of the values of an array that is known by a descriptor.
    pub(super) fn described(&self, of_type: UnitOffset) -> gimli::Result<Option<UnitOffset>> {
        let has_descriptor = self.unit.entry(of_type)?.attr(gimli::DW_AT_data_location).is_some();
        if has_descriptor { self.element(of_type) } else { Ok(None) }
    }

    /// The values of the members; one unknown value if there are too many, or if there are bit
    /// fields.
    fn members(&self, offset: UnitOffset, depth: u32) -> gimli::Result<Vec<Run>> {
        let mut tree = self.unit.entries_tree(Some(offset))?;
        let mut children = tree.root()?.children();
        let mut runs = Vec::new();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            if !matches!(entry.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance) {
                continue;
            }
            let at = entry.attr_value(gimli::DW_AT_data_member_location);
            let at = at.and_then(|at| at.udata_value());
            let is_bits = entry.attr(gimli::DW_AT_bit_size).is_some();
            let of_type = match entry.attr_value(gimli::DW_AT_type) {
                Some(AttributeValue::UnitRef(of_type)) if depth > 0 => {
                    self.shape(of_type, depth - 1)?
                }
                _ => None,
            };
            let (Some(at), Some((_, inner)), false) = (at, of_type, is_bits) else {
                return Ok(Vec::new());
            };
            runs.extend(
                inner.into_iter().map(|run| Run { offset: run.offset.saturating_add(at), ..run }),
            );
            if runs.len() > MOST_RUNS {
                return Ok(Vec::new());
            }
        }
        Ok(runs)
    }
}

/// The shape of `count` such values, one after the other.
fn repeated((size, runs): Shape, count: u64) -> Shape {
    let whole = size.saturating_mul(count);
    match runs[..] {
        [run] if run.size.saturating_mul(run.count) == size => {
            (whole, vec![Run { count: run.count.saturating_mul(count), ..run }])
        }
        _ if (runs.len() as u64).saturating_mul(count) > MOST_RUNS as u64 => (whole, Vec::new()),
        _ => {
            let at = |nth: u64| {
                runs.iter().map(move |run| Run { offset: run.offset + nth * size, ..*run })
            };
            (whole, (0..count).flat_map(at).collect())
        }
    }
}

fn kind(entry: &Entry) -> Kind {
    match entry.attr_value(gimli::DW_AT_encoding) {
        Some(AttributeValue::Encoding(encoding)) => match encoding {
            gimli::DW_ATE_signed => Kind::Signed,
            gimli::DW_ATE_unsigned => Kind::Unsigned,
            gimli::DW_ATE_float => Kind::Float,
            gimli::DW_ATE_complex_float => Kind::Complex,
            gimli::DW_ATE_boolean => Kind::Bool,
            gimli::DW_ATE_signed_char | gimli::DW_ATE_unsigned_char => Kind::Character,
            _ => Kind::Unknown,
        },
        _ => Kind::Unknown,
    }
}
