//! The variables of a program, according to its debug information: addresses, sizes and contents.
//!
//! The library needs them when it gets a buffer, to find a mistake that no message shows: more is
//! used than a variable has room for, or values of another type than those in it. It receives
//! everything at once, as a table of 64-bit words (`c/variables.c` reads it):
//!
//! ```text
//! numbers of runs, layouts, globals, pointers, functions, locals, bytes of names
//! run       offset, kind, size of a value, number of values one after the other
//! layout    first run, number of runs
//! global    address, size, layout, name
//! pointer   a global one: its address; size, layout, name of what it points to
//! function  first address, address behind the last, first local, number of locals
//! local     form, place, size, layout, name, first address of its scope, address behind the last
//! names     bytes, each name with a 0 at its end
//! ```
//!
//! A local is a variable at an offset from its frame, or a pointer there or in a register; then
//! size and layout describe what it points to. A pointer that moves, or a scope in several pieces,
//! has one entry for each place or piece. Left out are values in pieces, computed values, variables
//! that move or have no known length, and layouts with too many parts.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use gimli::{
    AttributeValue, DebuggingInformationEntry, Dwarf, EndianRcSlice, EvaluationResult, Reader as _,
    RunTimeEndian, Unit, UnitOffset,
};
use object::{Object, ObjectSection};

type Slice = EndianRcSlice<RunTimeEndian>;
type Entry = DebuggingInformationEntry<Slice>;

/// Layouts with more runs are left out.
const MOST_RUNS: usize = 512;
/// Types that are nested deeper are left out.
const DEEPEST: u32 = 24;

/// Values of one basic type, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    offset: u64,
    kind: Kind,
    size: u64,
    count: u64,
}

/// The kind of a value; the numbers are those of `enum value` in `c/variables.c`.
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
    form: Form,
    /// The offset, or the number of the register.
    place: i64,
    size: u64,
    layout: u64,
    name: u64,
    scope: (u64, u64),
}

/// The form of a local; the numbers are those of `enum form` in `c/variables.c`.
#[derive(Clone, Copy)]
enum Form {
    Variable = 0,
    Pointer = 1,
    PointerInRegister = 2,
}

struct Function {
    code: (u64, u64),
    first: u64,
    count: u64,
}

/// The location of a variable.
enum Location {
    Frame(i64),
    Register(u16),
    Address(u64),
}

impl Location {
    /// The location of a pointer, for the table of locals.
    fn of_pointer(&self) -> Option<(Form, i64)> {
        match *self {
            Location::Frame(offset) => Some((Form::Pointer, offset)),
            Location::Register(number) => Some((Form::PointerInRegister, number.into())),
            Location::Address(_) => None,
        }
    }
}

/// Ranges of code, each by its first address and the address behind its last.
type Code = Rc<[(u64, u64)]>;

#[derive(Default)]
struct Table {
    runs: Vec<Run>,
    layouts: Vec<(u64, u64)>,
    globals: Vec<Global>,
    pointers: Vec<Global>,
    functions: Vec<Function>,
    locals: Vec<Local>,
    names: Vec<u8>,
}

/// The table of the variables of this program; empty without debug information.
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
            let known = HashMap::new();
            let mut reading =
                OfUnit { dwarf: &dwarf, unit: &unit, known, anything: None, table: &mut table };
            // What cannot be read is left out.
            let _ = reading.all();
        }
    }
    // Functions and variables that the linker has left out still have addresses.
    let is_there = |global: &Global| {
        let holds = |section: object::Section| {
            let start = section.address();
            start > 0 && (start..start + section.size()).contains(&global.at)
        };
        file.sections().any(holds)
    };
    table.globals.retain(is_there);
    table.pointers.retain(is_there);
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
            self.pointers.len(),
            self.functions.len(),
            self.locals.len(),
            self.names.len(),
        ];
        let mut words: Vec<u64> = counts.iter().map(|&count| count as u64).collect();
        for run in &self.runs {
            words.extend([run.offset, run.kind as u64, run.size, run.count]);
        }
        words.extend(self.layouts.iter().flat_map(|&(first, count)| [first, count]));
        for global in self.globals.iter().chain(&self.pointers) {
            words.extend([global.at, global.size, global.layout, global.name]);
        }
        for function in &self.functions {
            let (first, behind) = function.code;
            words.extend([first, behind, function.first, function.count]);
        }
        for local in &self.locals {
            let (first, behind) = local.scope;
            words.extend([
                local.form as u64,
                local.place as u64,
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

/// Reads the variables of a compilation unit into the table.
struct OfUnit<'t> {
    dwarf: &'t Dwarf<Slice>,
    unit: &'t Unit<Slice>,
    /// The types visited so far; `None` if nothing is known of a type.
    known: HashMap<UnitOffset, Option<(u64, u64)>>,
    /// The size and layout of memory with unknown contents.
    anything: Option<(u64, u64)>,
    table: &'t mut Table,
}

/// A position in the tree of entries: the code ranges of the function, the origin of its frame, and
/// the scope.
#[derive(Clone)]
struct Place {
    function: Option<Range<usize>>,
    /// The distance from the frame pointer to the frame base of the function, for `DW_OP_fbreg`.
    frame: i64,
    scope: Code,
}

impl OfUnit<'_> {
    fn all(&mut self) -> gimli::Result<()> {
        let nowhere = Place { function: None, frame: 0, scope: Rc::new([]) };
        let unit = self.unit;
        let mut tree = unit.entries_tree(None)?;
        let root = tree.root()?;
        self.children(root, &nowhere)
    }

    fn children(
        &mut self,
        node: gimli::EntriesTreeNode<'_, '_, Slice>,
        place: &Place,
    ) -> gimli::Result<()> {
        let mut children = node.children();
        while let Some(child) = children.next()? {
            let entry = child.entry().clone();
            let inner = match entry.tag() {
                gimli::DW_TAG_subprogram => match self.function(&entry)? {
                    Some(inner) => inner,
                    None => continue,
                },
                gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine => {
                    Place { scope: self.code(&entry)?, ..place.clone() }
                }
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    // A variable that cannot be read is left out.
                    let _ = self.variable(&entry, place);
                    continue;
                }
                gimli::DW_TAG_namespace => place.clone(),
                _ => continue,
            };
            self.children(child, &inner)?;
            self.close(&inner, place);
        }
        Ok(())
    }

    /// Ends a function: its locals are those that were added since it began.
    fn close(&mut self, inner: &Place, outer: &Place) {
        if let (Some(pieces), None) = (&inner.function, &outer.function) {
            for function in &mut self.table.functions[pieces.clone()] {
                function.count = self.table.locals.len() as u64 - function.first;
            }
        }
    }

    fn function(&mut self, entry: &Entry) -> gimli::Result<Option<Place>> {
        let scope = self.code(entry)?;
        let Some(frame) = self.frame(entry)?.filter(|_| !scope.is_empty()) else {
            return Ok(None);
        };
        let first = self.table.locals.len() as u64;
        let before = self.table.functions.len();
        let pieces = scope.iter().map(|&code| Function { code, first, count: 0 });
        self.table.functions.extend(pieces);
        let function = Some(before..self.table.functions.len());
        Ok(Some(Place { function, frame, scope }))
    }

    /// The origin of the offsets of locals, as a distance from the canonical frame address.
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

    /// The code ranges of an entry.
    fn code(&self, entry: &Entry) -> gimli::Result<Code> {
        let mut ranges = self.dwarf.die_ranges(self.unit, entry)?;
        let mut found = Vec::new();
        while let Some(range) = ranges.next()? {
            found.extend(
                (0 < range.begin && range.begin < range.end).then_some((range.begin, range.end)),
            );
        }
        Ok(found.into())
    }

    fn variable(&mut self, entry: &Entry, place: &Place) -> gimli::Result<()> {
        // The attributes of an entry may be in its declaration, or in the function that is inlined.
        let mut origin = entry.clone();
        for name in [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification] {
            if let Some(AttributeValue::UnitRef(offset)) = origin.attr_value(name) {
                origin = self.unit.entry(offset)?;
            }
        }
        let Some(AttributeValue::UnitRef(of_type)) = origin.attr_value(gimli::DW_AT_type) else {
            return Ok(());
        };
        let name = match origin.attr_value(gimli::DW_AT_name) {
            Some(name) => self.dwarf.attr_string(self.unit, name)?.to_string_lossy()?.into_owned(),
            None => String::new(),
        };
        let name = self.table.add_name(&name);
        let pointed = self.pointed(of_type)?;
        let Some(location) = entry.attr_value(gimli::DW_AT_location) else { return Ok(()) };
        if let AttributeValue::Exprloc(expression) = location {
            let own = self.layout(of_type)?;
            let Some(location) = self.location(expression, place)? else { return Ok(()) };
            if let Location::Address(at) = location {
                let global = |(size, layout)| Global { at, size, layout, name };
                self.table.globals.extend(own.map(global));
                self.table.pointers.extend(pointed.map(global));
            }
            for &scope in place.scope.iter() {
                if let Location::Frame(offset) = location {
                    self.local(Some((Form::Variable, offset)), own, name, scope);
                }
                self.local(location.of_pointer(), pointed, name, scope);
            }
        } else if let Some(mut list) = self.dwarf.attr_locations(self.unit, location)? {
            // These are the places of the value in parts of its scope. They may belong to other
            // variables as well, but only the value of a pointer matters.
            while let Some(one) = list.next()? {
                let location = self.location(one.data, place)?;
                let at = location.and_then(|location| location.of_pointer());
                self.local(at, pointed, name, (one.range.begin, one.range.end));
            }
        }
        Ok(())
    }

    fn local(
        &mut self,
        at: Option<(Form, i64)>,
        shape: Option<(u64, u64)>,
        name: u64,
        scope: (u64, u64),
    ) {
        if let (Some((form, place)), Some((size, layout))) = (at, shape) {
            self.table.locals.push(Local { form, place, size, layout, name, scope });
        }
    }

    /// The location of a variable, given by an expression of one operation.
    fn location(
        &self,
        expression: gimli::Expression<Slice>,
        place: &Place,
    ) -> gimli::Result<Option<Location>> {
        let mut operations = expression.clone().operations(self.unit.encoding());
        let first = operations.next()?;
        let is_plain = operations.next()?.is_none();
        Ok(match first.filter(|_| is_plain) {
            Some(gimli::Operation::FrameOffset { offset }) => {
                Some(Location::Frame(offset + place.frame))
            }
            Some(gimli::Operation::Register { register }) => Some(Location::Register(register.0)),
            Some(gimli::Operation::Address { .. } | gimli::Operation::AddressIndex { .. }) => {
                self.address(expression)?.map(Location::Address)
            }
            _ => None,
        })
    }

    /// The size and layout of the memory that a pointer of this type points to: `None` if it is not
    /// a pointer; unknown contents if the type does not say (`void`).
    fn pointed(&mut self, of_type: UnitOffset) -> gimli::Result<Option<(u64, u64)>> {
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
    fn anything(&mut self) -> (u64, u64) {
        let runs = [Run { offset: 0, kind: Kind::Unknown, size: 1, count: 1 }];
        *self.anything.get_or_insert_with(|| (1, self.table.add_layout(&runs)))
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

    /// The size of a type, and the index of its layout.
    fn layout(&mut self, offset: UnitOffset) -> gimli::Result<Option<(u64, u64)>> {
        if let Some(known) = self.known.get(&offset) {
            return Ok(*known);
        }
        let shape = self.shape(offset, DEEPEST)?;
        let found = shape.map(|(size, runs)| (size, self.table.add_layout(&runs)));
        self.known.insert(offset, found);
        Ok(found)
    }

    /// The size of a type and its values; `None` if its size is unknown.
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
