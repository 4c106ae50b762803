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
//! pointer   a global one: its address; size, layout, name of what it points to; whether it is sure
//! function  first address, address behind the last, first local, number of locals
//! local     form, place, size, layout, name, first address of its scope, address behind the last;
//!           whether it is sure
//! names     bytes, each name with a 0 at its end
//! ```
//!
//! A local is a variable at an offset from its frame, or a pointer there or in a register; then
//! size and layout describe what it points to. A pointer that moves, or a scope in several pieces,
//! has one entry for each place or piece. Left out are values in pieces, computed values, variables
//! that move or have no known length, and layouts with too many parts.
//!
//! In Fortran, an array may be known by a descriptor, whose first word is the address of its
//! values: that is a pointer to them. Such a pointer is sure, unless it is a `POINTER` of the
//! program: it never points to memory that was freed. (An optimiser leaves out that it becomes
//! null, so nothing is sure then.) A common block is one variable, and so are others that share
//! memory; where procedures declare it differently, its contents are unknown.

mod shared;
mod types;

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use gimli::{
    AttributeValue, DebuggingInformationEntry, Dwarf, EndianRcSlice, EvaluationResult, Reader as _,
    RunTimeEndian, Unit, UnitOffset,
};
use object::{Object, ObjectSection, ObjectSymbol};

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

/// A global pointer: what it points to, and whether that is never memory that was freed.
type Pointer = (Global, bool);

struct Local {
    form: Form,
    /// The offset, or the number of the register.
    place: i64,
    size: u64,
    layout: u64,
    name: u64,
    scope: (u64, u64),
    /// Whether a pointer never points to memory that was freed.
    is_sure: bool,
}

/// The form of a local; the numbers are those of `enum form` in `c/variables.c`.
#[derive(Clone, Copy)]
enum Form {
    Variable = 0,
    Pointer = 1,
    PointerInRegister = 2,
    /// A pointer to a descriptor.
    Descriptor = 3,
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
    /// The location of a pointer of this form in memory, for the table of locals.
    fn of_pointer(&self, form: Form) -> Option<(Form, i64)> {
        match (self, form) {
            (Location::Frame(offset), _) => Some((form, *offset)),
            (Location::Register(number), Form::Pointer) => {
                Some((Form::PointerInRegister, (*number).into()))
            }
            _ => None,
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
    pointers: Vec<Pointer>,
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
    let symbols = file.symbols().filter(|symbol| symbol.size() > 0);
    let symbols: HashMap<&str, (u64, u64)> = symbols
        .filter_map(|symbol| Some((symbol.name().ok()?, (symbol.address(), symbol.size()))))
        .collect();
    let mut table = Table::default();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        if let Ok(unit) = dwarf.unit(header) {
            let known = HashMap::new();
            let lowest = lowest_index(&unit);
            let is_optimized = is_optimized(&dwarf, &unit);
            let mut reading = OfUnit {
                dwarf: &dwarf,
                unit: &unit,
                symbols: &symbols,
                lowest,
                is_optimized,
                known,
                anything: None,
                table: &mut table,
            };
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
    table.pointers.retain(|(pointer, _)| is_there(pointer));
    table.merge_globals();
    table.functions.sort_by_key(|function| function.code.0);
    Some(table)
}

/// The index of the first value of an array, if its type does not say another one.
fn lowest_index(unit: &Unit<Slice>) -> i64 {
    let is_fortran = |language: gimli::DwLang| {
        let name = language.static_string().unwrap_or_default();
        name.starts_with("DW_LANG_Fortran")
    };
    let root = unit.entry(unit.header.root_offset());
    match root.ok().and_then(|root| root.attr_value(gimli::DW_AT_language)) {
        Some(AttributeValue::Language(language)) if is_fortran(language) => 1,
        _ => 0,
    }
}

/// Whether an optimiser was at work, as far as the compiler says so.
fn is_optimized(dwarf: &Dwarf<Slice>, unit: &Unit<Slice>) -> bool {
    let root = unit.entry(unit.header.root_offset()).ok();
    let producer = root.and_then(|root| root.attr_value(gimli::DW_AT_producer));
    let producer = producer.and_then(|producer| dwarf.attr_string(unit, producer).ok());
    let text = producer.and_then(|text| text.to_string_lossy().ok().map(|text| text.into_owned()));
    let is_option = |word: &str| word.starts_with("-O") && word != "-O0";
    text.is_none_or(|text| text.split_whitespace().any(is_option))
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
        for global in &self.globals {
            words.extend([global.at, global.size, global.layout, global.name]);
        }
        for (pointer, is_sure) in &self.pointers {
            let Global { at, size, layout, name } = *pointer;
            words.extend([at, size, layout, name, u64::from(*is_sure)]);
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
                u64::from(local.is_sure),
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
    /// The addresses and sizes of symbols, by their names.
    symbols: &'t HashMap<&'t str, (u64, u64)>,
    /// The index of the first value of an array, if its type does not say another one.
    lowest: i64,
    is_optimized: bool,
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
                gimli::DW_TAG_common_block => {
                    let _ = self.common(child);
                    continue;
                }
                gimli::DW_TAG_namespace | gimli::DW_TAG_module => place.clone(),
                _ => continue,
            };
            self.children(child, &inner)?;
            if entry.tag() == gimli::DW_TAG_subprogram {
                self.close(&inner);
            }
        }
        Ok(())
    }

    /// Ends a function: its locals are those that were added since it began. Those of functions in
    /// it are among them, but their scopes are not in its code.
    fn close(&mut self, function: &Place) {
        for function in &mut self.table.functions[function.function.clone().unwrap_or_default()] {
            function.count = self.table.locals.len() as u64 - function.first;
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
            // A variable of the compiler, for Fortran.
            None if origin.attr(gimli::DW_AT_artificial).is_some() => return Ok(()),
            None => String::new(),
        };
        let name = self.table.add_name(&name);
        let described = self.described(of_type)?;
        let is_sure = self.unit.entry(of_type)?.attr(gimli::DW_AT_allocated).is_some();
        let is_sure = is_sure && !self.is_optimized;
        let pointed = match described {
            Some(element) => self.layout(element)?,
            None => self.pointed(of_type)?,
        };
        let Some(location) = entry.attr_value(gimli::DW_AT_location) else { return Ok(()) };
        if let AttributeValue::Exprloc(expression) = location {
            let Some((location, is_behind)) = self.location(expression, place)? else {
                return Ok(());
            };
            if is_behind {
                let is_argument = self.lowest == 1 && !self.is_optimized;
                let (form, shape) = self.behind(of_type, described.is_some())?;
                for &scope in place.scope.iter() {
                    self.local(location.of_pointer(form), shape, name, scope, is_argument);
                }
                return Ok(());
            }
            let own = self.layout(of_type)?;
            if let Location::Address(at) = location {
                let global = |(size, layout)| Global { at, size, layout, name };
                self.table.globals.extend(own.map(global));
                self.table.pointers.extend(pointed.map(global).map(|pointer| (pointer, is_sure)));
            }
            for &scope in place.scope.iter() {
                if let Location::Frame(offset) = location {
                    self.local(Some((Form::Variable, offset)), own, name, scope, false);
                }
                self.local(location.of_pointer(Form::Pointer), pointed, name, scope, is_sure);
            }
        } else if let Some(mut list) = self.dwarf.attr_locations(self.unit, location)? {
            // These are the places of the value in parts of its scope. They may belong to other
            // variables as well, but only the value of a pointer matters.
            while let Some(one) = list.next()? {
                let Some((location, is_behind)) = self.location(one.data, place)? else { continue };
                let (form, shape) = match is_behind {
                    true => self.behind(of_type, described.is_some())?,
                    false => (Form::Pointer, pointed),
                };
                let scope = (one.range.begin, one.range.end);
                self.local(location.of_pointer(form), shape, name, scope, is_sure);
            }
        }
        Ok(())
    }

    /// How a variable of this type is found whose address is in memory: an argument of Fortran. If
    /// its length is unknown, the layout is that of its first value.
    fn behind(
        &mut self,
        of_type: UnitOffset,
        is_described: bool,
    ) -> gimli::Result<(Form, Option<(u64, u64)>)> {
        let element = self.element(of_type)?;
        let shape = match (is_described, self.layout(of_type)?, element) {
            (false, Some(own), _) => Some(own),
            (_, _, Some(element)) => self.layout(element)?,
            _ => None,
        };
        // An argument of any type is said to be a pointer.
        let is_pointer = |&(_, layout): &(u64, u64)| {
            self.table.runs_of(layout).iter().any(|run| run.kind == Kind::Pointer)
        };
        let shape =
            if shape.as_ref().is_some_and(is_pointer) { Some(self.anything()) } else { shape };
        Ok((if is_described { Form::Descriptor } else { Form::Pointer }, shape))
    }

    fn local(
        &mut self,
        at: Option<(Form, i64)>,
        shape: Option<(u64, u64)>,
        name: u64,
        scope: (u64, u64),
        is_sure: bool,
    ) {
        if let (Some((form, place)), Some((size, layout))) = (at, shape) {
            self.table.locals.push(Local { form, place, size, layout, name, scope, is_sure });
        }
    }

    /// The location of a variable, and whether its address is there instead of its value.
    fn location(
        &self,
        expression: gimli::Expression<Slice>,
        place: &Place,
    ) -> gimli::Result<Option<(Location, bool)>> {
        use gimli::Operation;
        let mut operations = expression.clone().operations(self.unit.encoding());
        let first = operations.next()?;
        let second = operations.next()?;
        let is_short = second.is_none() || operations.next()?.is_none();
        Ok(match (first, second) {
            (Some(Operation::Address { .. } | Operation::AddressIndex { .. }), second) => {
                let is_value =
                    matches!(second, None | Some(Operation::PlusConstant { .. })) && is_short;
                let address = if is_value { self.address(expression)? } else { None };
                address.map(|address| (Location::Address(address), false))
            }
            (Some(Operation::FrameOffset { offset }), None) => {
                Some((Location::Frame(offset + place.frame), false))
            }
            (Some(Operation::FrameOffset { offset }), Some(Operation::Deref { .. }))
                if is_short =>
            {
                Some((Location::Frame(offset + place.frame), true))
            }
            (Some(Operation::Register { register }), None) => {
                Some((Location::Register(register.0), false))
            }
            (Some(Operation::RegisterOffset { register, offset: 0, .. }), None) => {
                Some((Location::Register(register.0), true))
            }
            _ => None,
        })
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
}
