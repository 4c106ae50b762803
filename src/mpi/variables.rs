//! The variables of a program, as its debug information tells: where they are, how long, and what is in them.
//!
//! The library asks for them when a buffer is handed over: more than a variable has room for, or values of another type than those in it,
//! is a mistake that no message shows. It is told everything at once, as a table of 64-bit words (`c/variables.c` reads it):
//!
//! ```text
//! how many runs, layouts, globals, functions, locals, names
//! run       offset, kind, size of a value, how many values one after the other
//! layout    first run, how many
//! global    address, size, layout, name
//! function  first address, address behind the last, first local, how many
//! local     offset from the frame, size, layout, name, first address of its scope, address behind the last
//! names     bytes, each name with a 0 at its end
//! ```
//!
//! What is not told plainly is left out: variables in registers or at places that change, those of unknown length, and
//! layouts with too many parts. A program that is not optimised leaves out little.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use gimli::{
    AttributeValue, DebuggingInformationEntry, Dwarf, EndianRcSlice, EvaluationResult, Reader as _,
    RunTimeEndian, Unit, UnitOffset,
};
use object::{Object, ObjectSection};

type Slice = EndianRcSlice<RunTimeEndian>;
type Entry = DebuggingInformationEntry<Slice>;

/// A layout with more runs is not told.
const MOST_RUNS: usize = 512;
/// Types that are nested deeper are not told.
const DEEPEST: u32 = 24;

/// Values of one basic type, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    offset: u64,
    kind: Kind,
    size: u64,
    count: u64,
}

/// What a value is; the numbers are those of `enum value` in `c/variables.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Unknown = 0,
    Signed = 1,
    Unsigned = 2,
    Float = 3,
    Character = 4,
    Bool = 5,
    Complex = 6,
    Pointer = 7,
}

/// The size of a type, and its values.
type Shape = (u64, Vec<Run>);

struct Global {
    at: u64,
    size: u64,
    layout: u64,
    name: u64,
}

struct Local {
    offset: i64,
    size: u64,
    layout: u64,
    name: u64,
    scope: (u64, u64),
}

struct Function {
    code: (u64, u64),
    first: u64,
    count: u64,
}

#[derive(Default)]
struct Table {
    runs: Vec<Run>,
    layouts: Vec<(u64, u64)>,
    globals: Vec<Global>,
    functions: Vec<Function>,
    locals: Vec<Local>,
    names: Vec<u8>,
}

/// The table of the variables of this program; without debug information it has none.
pub(super) fn table(program: &Path) -> Vec<u8> {
    read(program).unwrap_or_default().bytes()
}

fn read(program: &Path) -> Option<Table> {
    let data = std::fs::read(program).ok()?;
    let file = object::File::parse(&*data).ok()?;
    let endian = match file.is_little_endian() {
        true => RunTimeEndian::Little,
        false => RunTimeEndian::Big,
    };
    let section = |id: gimli::SectionId| -> Result<Slice, gimli::Error> {
        let found = file.section_by_name(id.name());
        let data = found.and_then(|section| section.uncompressed_data().ok()).unwrap_or_default();
        Ok(EndianRcSlice::new(Rc::from(data), endian))
    };
    let dwarf = Dwarf::load(section).ok()?;
    let mut table = Table::default();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        if let Ok(unit) = dwarf.unit(header) {
            let mut reading =
                OfUnit { dwarf: &dwarf, unit: &unit, known: HashMap::new(), table: &mut table };
            // What cannot be read is left out.
            let _ = reading.all();
        }
    }
    table.globals.sort_by_key(|global| global.at);
    table.functions.sort_by_key(|function| function.code.0);
    Some(table)
}

impl Table {
    fn bytes(&self) -> Vec<u8> {
        let counts = [
            self.runs.len(),
            self.layouts.len(),
            self.globals.len(),
            self.functions.len(),
            self.locals.len(),
            self.names.len(),
        ];
        let mut words: Vec<u64> = counts.iter().map(|&count| count as u64).collect();
        for run in &self.runs {
            words.extend([run.offset, run.kind as u64, run.size, run.count]);
        }
        words.extend(self.layouts.iter().flat_map(|&(first, count)| [first, count]));
        for global in &self.globals {
            words.extend([global.at, global.size, global.layout, global.name]);
        }
        for function in &self.functions {
            let (first, behind) = function.code;
            words.extend([first, behind, function.first, function.count]);
        }
        for local in &self.locals {
            let (first, behind) = local.scope;
            words.extend([
                local.offset as u64,
                local.size,
                local.layout,
                local.name,
                first,
                behind,
            ]);
        }
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u64::to_ne_bytes).collect();
        bytes.extend(&self.names);
        bytes
    }

    fn add_layout(&mut self, runs: &[Run]) -> u64 {
        self.layouts.push((self.runs.len() as u64, runs.len() as u64));
        self.runs.extend(runs);
        self.layouts.len() as u64 - 1
    }

    fn add_name(&mut self, name: &str) -> u64 {
        let at = self.names.len() as u64;
        self.names.extend(name.bytes().chain([0]));
        at
    }
}

/// The variables of a unit are read into the table.
struct OfUnit<'t> {
    dwarf: &'t Dwarf<Slice>,
    unit: &'t Unit<Slice>,
    /// The types met so far; `None` if nothing is known of one.
    known: HashMap<UnitOffset, Option<(u64, u64)>>,
    table: &'t mut Table,
}

/// Where the walk through the tree of entries is: the function, what its frame begins at, and the scope.
#[derive(Clone, Copy)]
struct Place {
    function: Option<usize>,
    /// How far behind its frame pointer the frame of the function begins, for `DW_OP_fbreg`.
    frame: i64,
    scope: (u64, u64),
}

impl OfUnit<'_> {
    fn all(&mut self) -> gimli::Result<()> {
        let nowhere = Place { function: None, frame: 0, scope: (0, 0) };
        let unit = self.unit;
        let mut tree = unit.entries_tree(None)?;
        let root = tree.root()?;
        self.children(root, nowhere)
    }

    fn children(
        &mut self,
        node: gimli::EntriesTreeNode<'_, '_, Slice>,
        place: Place,
    ) -> gimli::Result<()> {
        let mut children = node.children();
        while let Some(child) = children.next()? {
            let entry = child.entry().clone();
            let inner = match entry.tag() {
                gimli::DW_TAG_subprogram => match self.function(&entry)? {
                    Some(inner) => inner,
                    None => continue,
                },
                gimli::DW_TAG_lexical_block => {
                    let scope = self.code(&entry)?.unwrap_or(place.scope);
                    Place { scope, ..place }
                }
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    // One that cannot be read is left out.
                    let _ = self.variable(&entry, place);
                    continue;
                }
                gimli::DW_TAG_namespace => place,
                _ => continue,
            };
            self.children(child, inner)?;
            self.close(inner, place);
        }
        Ok(())
    }

    /// The locals of a function are those that were added since it began.
    fn close(&mut self, inner: Place, outer: Place) {
        if let (Some(index), None) = (inner.function, outer.function) {
            let function = &mut self.table.functions[index];
            function.count = self.table.locals.len() as u64 - function.first;
        }
    }

    fn function(&mut self, entry: &Entry) -> gimli::Result<Option<Place>> {
        let Some(code) = self.code(entry)? else { return Ok(None) };
        let Some(frame) = self.frame(entry)? else { return Ok(None) };
        let first = self.table.locals.len() as u64;
        self.table.functions.push(Function { code, first, count: 0 });
        let function = Some(self.table.functions.len() - 1);
        Ok(Some(Place { function, frame, scope: code }))
    }

    /// What the offsets of locals count from, as a distance from the canonical frame address.
    fn frame(&self, entry: &Entry) -> gimli::Result<Option<i64>> {
        let Some(AttributeValue::Exprloc(base)) = entry.attr_value(gimli::DW_AT_frame_base) else {
            return Ok(None);
        };
        let mut operations = base.operations(self.unit.encoding());
        Ok(match operations.next()? {
            Some(gimli::Operation::CallFrameCFA) => Some(0),
            // The frame pointer of x86-64, two words below.
            Some(gimli::Operation::Register { register: gimli::X86_64::RBP }) => Some(-16),
            _ => None,
        })
    }

    /// The addresses of the code of an entry, if it is in one piece.
    fn code(&self, entry: &Entry) -> gimli::Result<Option<(u64, u64)>> {
        let mut ranges = self.dwarf.die_ranges(self.unit, entry)?;
        let first = ranges.next()?;
        let is_whole = ranges.next()?.is_none();
        Ok(first
            .filter(|range| is_whole && range.begin < range.end && range.begin > 0)
            .map(|r| (r.begin, r.end)))
    }

    fn variable(&mut self, entry: &Entry, place: Place) -> gimli::Result<()> {
        let Some(AttributeValue::Exprloc(location)) = entry.attr_value(gimli::DW_AT_location)
        else {
            return Ok(());
        };
        // What a declaration elsewhere says.
        let origin = match entry.attr_value(gimli::DW_AT_specification) {
            Some(AttributeValue::UnitRef(offset)) => self.unit.entry(offset)?,
            _ => entry.clone(),
        };
        let Some(AttributeValue::UnitRef(of_type)) = origin.attr_value(gimli::DW_AT_type) else {
            return Ok(());
        };
        let Some((size, layout)) = self.layout(of_type)? else { return Ok(()) };
        let name = match origin.attr_value(gimli::DW_AT_name) {
            Some(name) => self.dwarf.attr_string(self.unit, name)?.to_string_lossy()?.into_owned(),
            None => String::new(),
        };
        let mut operations = location.clone().operations(self.unit.encoding());
        let first = operations.next()?;
        let is_plain = operations.next()?.is_none();
        match (first, place.function) {
            (Some(gimli::Operation::FrameOffset { offset }), Some(_)) if is_plain => {
                let name = self.table.add_name(&name);
                let offset = offset + place.frame;
                self.table.locals.push(Local { offset, size, layout, name, scope: place.scope });
            }
            (Some(gimli::Operation::Address { .. } | gimli::Operation::AddressIndex { .. }), _)
                if is_plain =>
            {
                if let Some(at) = self.address(location)? {
                    let name = self.table.add_name(&name);
                    self.table.globals.push(Global { at, size, layout, name });
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn address(&self, location: gimli::Expression<Slice>) -> gimli::Result<Option<u64>> {
        let mut evaluation = location.evaluation(self.unit.encoding());
        let mut step = evaluation.evaluate()?;
        loop {
            step = match step {
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    evaluation.resume_with_relocated_address(address)?
                }
                EvaluationResult::RequiresIndexedAddress { index, .. } => {
                    evaluation.resume_with_indexed_address(self.dwarf.address(self.unit, index)?)?
                }
                EvaluationResult::Complete => break,
                _ => return Ok(None),
            };
        }
        Ok(match evaluation.result().first().map(|piece| &piece.location) {
            Some(gimli::Location::Address { address }) => Some(*address),
            _ => None,
        })
    }

    /// The size of a type and the number of its layout.
    fn layout(&mut self, offset: UnitOffset) -> gimli::Result<Option<(u64, u64)>> {
        if let Some(known) = self.known.get(&offset) {
            return Ok(*known);
        }
        let shape = self.shape(offset, DEEPEST)?;
        let found = shape.map(|(size, runs)| (size, self.table.add_layout(&runs)));
        self.known.insert(offset, found);
        Ok(found)
    }

    /// The size of a type and its values; `None` if its size is not known.
    fn shape(&self, offset: UnitOffset, depth: u32) -> gimli::Result<Option<Shape>> {
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

    fn array(&self, offset: UnitOffset, element: Shape) -> gimli::Result<Option<Shape>> {
        let mut tree = self.unit.entries_tree(Some(offset))?;
        let mut children = tree.root()?.children();
        let mut count: u64 = 1;
        while let Some(child) = children.next()? {
            let entry = child.entry();
            let number = |name| entry.attr_value(name).and_then(|value| value.udata_value());
            let upper = || number(gimli::DW_AT_upper_bound)?.checked_add(1);
            match number(gimli::DW_AT_count).or_else(upper) {
                Some(length) => count = count.saturating_mul(length),
                None => return Ok(None),
            }
        }
        Ok(Some(repeated(element, count)))
    }

    /// The values of the members; one unknown value if there are too many, or bit fields.
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

/// So many of these, one after the other.
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
