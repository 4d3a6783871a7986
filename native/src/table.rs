//! Takes slices of a CSV file apart, each wanted column into values of its own kind: strictly, so that what is odd is left to others.

use crate::columns::{Dictionary, Numbers};

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Words,
    Integer,
    /// A length of time or a point in time, in ns.
    Time,
    Number,
}

/// The values of one column of the slice that was read last.
pub enum Values {
    Words(Numbers<i32>),
    Whole(Numbers<i64>),
    Number(Numbers<f64>),
}

pub struct Column {
    kind: Kind,
    /// Nanoseconds in one unit of the file, and how many no time reaches.
    factor: u64,
    limit: u128,
    /// What stands for no value, and the bytes that it begins with.
    nulls: Vec<Vec<u8>>,
    begins: [bool; 256],
    pub values: Values,
    /// Of all slices, for words.
    pub dictionary: Dictionary,
}

pub struct Table {
    pub columns: Vec<Column>,
    /// By the place of a cell in its row the column that it is of; none for those that nobody wants.
    wanted: Vec<Option<usize>>,
    /// Where the wanted cells of some rows begin and end, row by row in the order of their places.
    cells: Vec<(u32, u32)>,
    scratch: Vec<u8>,
}

/// Rows whose cells are found before values are made of them, column by column: nine tenths of the time of cell by cell.
const ROWS_AT_ONCE: usize = 256;

/// So many digits always fit into 64 bits.
const MOST_DIGITS: usize = 19;
/// Below it, whole numbers are floats without loss; the powers of ten that divide them are, too.
const EXACT_IN_FLOAT: u64 = 1 << 53;
const POWERS: [f64; 19] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

struct Odd;

impl Table {
    /// Of rows of so many cells; `asked` has a line for each column: `place kind factor limit`, then a tab and a word for each that is none.
    pub fn new(cells: usize, asked: &[u8]) -> Option<Self> {
        let mut wanted = vec![None; cells];
        let mut columns = Vec::new();
        for line in asked.split(|&byte| byte == b'\n') {
            let mut parts = line.split(|&byte| byte == b'\t');
            let mut numbers = std::str::from_utf8(parts.next()?).ok()?.split(' ');
            let mut number = || numbers.next()?.parse::<u64>().ok();
            let place = number()? as usize;
            let (kind, values) = match number()? {
                0 => (Kind::Words, Values::Words(Numbers::default())),
                1 => (Kind::Integer, Values::Whole(Numbers::default())),
                2 => (Kind::Time, Values::Whole(Numbers::default())),
                3 => (Kind::Number, Values::Number(Numbers::default())),
                _ => return None,
            };
            *wanted.get_mut(place)? = Some(columns.len());
            let (factor, limit) = (number()?, number()? as u128);
            let nulls: Vec<_> = parts.map(<[u8]>::to_vec).collect();
            let mut begins = [false; 256];
            nulls.iter().filter_map(|word| word.first()).for_each(|&byte| begins[byte as usize] = true);
            columns.push(Column { kind, factor, limit, nulls, begins, values, dictionary: Dictionary::new() });
        }
        Some(Table { columns, wanted, cells: Vec::new(), scratch: Vec::new() })
    }

    /// Read lines, the last of which has its end; how many there are, none where anything is odd, as are bytes that are no UTF-8.
    pub fn read(&mut self, lines: &[u8]) -> Option<usize> {
        if u32::try_from(lines.len()).is_err() || lines.contains(&0) || std::str::from_utf8(lines).is_err() {
            return None;
        }
        self.columns.iter_mut().for_each(Column::clear);
        let (mut at, mut rows, mut marks) = (0, 0, Marks::new(lines));
        while at < lines.len() {
            self.cells.clear();
            let first = rows;
            while at < lines.len() && rows < first + ROWS_AT_ONCE {
                at = self.row(lines, at, &mut marks)?;
                rows += 1;
            }
            for (place, &column) in self.wanted.iter().flatten().enumerate() {
                let cells = self.cells[place..].iter().step_by(self.columns.len());
                let cells = cells.map(|&(start, end)| &lines[start as usize..end as usize]);
                self.columns[column].take(cells, &mut self.scratch).ok()?;
            }
        }
        Some(rows)
    }

    /// Let go of all but words.
    pub fn end(&mut self) {
        for column in &mut self.columns {
            column.values = Values::Words(Numbers::default());
            column.dictionary.close();
        }
    }

    /// Where the cells of one row are; where the next row begins.
    #[inline(always)]
    fn row(&mut self, lines: &[u8], mut at: usize, marks: &mut Marks) -> Option<usize> {
        let last = self.wanted.len() - 1;
        for (place, wanted) in self.wanted.iter().enumerate() {
            let mut end = marks.next()?;
            if lines[end] == b'"' {
                end = if end == at { end_of_quoted(lines, marks)? } else { return None };
            }
            if wanted.is_some() {
                self.cells.push((at as u32, end as u32));
            }
            at = end + 1;
            match lines[end] {
                b',' if place < last => {}
                b'\n' if place == last => {}
                b'\r' if place == last && lines.get(at) == Some(&b'\n') => at = marks.next()? + 1,
                _ => return None,
            }
        }
        Some(at)
    }
}

/// Where a cell ends whose first quote was the last mark. A line end inside is odd.
#[inline(always)]
fn end_of_quoted(lines: &[u8], marks: &mut Marks) -> Option<usize> {
    loop {
        let quote = marks.find(|&at| lines[at] != b',')?;
        let next = marks.next()?;
        if lines[quote] != b'"' || next != quote + 1 {
            return None;
        }
        if lines[next] != b'"' {
            return Some(next);
        }
    }
}

/// Where commas, quotes and line ends stand, one after another: found 64 bytes at a time, which takes half of the time of looking cell by cell.
struct Marks<'a> {
    lines: &'a [u8],
    /// Where the bytes begin that `left` tells of, a bit each, the first in the lowest.
    block: usize,
    left: u64,
}

impl<'a> Marks<'a> {
    fn new(lines: &'a [u8]) -> Self {
        Marks { lines, block: 0, left: marks_in(lines) }
    }
}

impl Iterator for Marks<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.left == 0 {
            self.block += 64;
            self.left = marks_in(self.lines.get(self.block..)?);
        }
        let at = self.block + self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        Some(at)
    }
}

/// Which of the first 64 bytes are marks.
#[inline(always)]
fn marks_in(lines: &[u8]) -> u64 {
    let mut end = [0; 64];
    let block = lines.first_chunk::<64>().unwrap_or_else(|| {
        end[..lines.len()].copy_from_slice(lines);
        &end
    });
    let is_mark = block.map(|byte| ((byte == b',') | (byte == b'"') | (byte == b'\n') | (byte == b'\r')) as u8);
    is_mark.chunks_exact(8).enumerate().fold(0, |found, (number, eight)| {
        let eight = eight.try_into().map_or(0, u64::from_le_bytes);
        found | (eight.wrapping_mul(GATHER) >> 56) << (8 * number)
    })
}

/// Brings the lowest bits of eight bytes together in the highest byte.
const GATHER: u64 = 0x0102_0408_1020_4080;

/// What a cell says: without its quotes, and one of two that stand for one.
#[inline(always)]
fn unquoted<'a>(cell: &'a [u8], text: &'a mut Vec<u8>) -> &'a [u8] {
    let [b'"', inner @ .., b'"'] = cell else { return cell };
    text.clear();
    let mut rest = inner;
    while let Some(at) = rest.iter().position(|&byte| byte == b'"') {
        text.extend_from_slice(&rest[..=at]);
        rest = &rest[at + 2..];
    }
    text.extend_from_slice(rest);
    text
}

impl Column {
    fn clear(&mut self) {
        match &mut self.values {
            Values::Words(numbers) => numbers.clear(),
            Values::Whole(numbers) => numbers.clear(),
            Values::Number(numbers) => numbers.clear(),
        }
    }

    /// Take in the cells of some rows.
    fn take<'a>(&mut self, cells: impl Iterator<Item = &'a [u8]>, scratch: &mut Vec<u8>) -> Result<(), Odd> {
        let Column { kind, factor, limit, nulls, begins, values, dictionary } = self;
        let is_null =
            |raw: &[u8]| raw.first().is_none_or(|&byte| begins[byte as usize]) && nulls.iter().any(|word| word == raw);
        match values {
            Values::Words(numbers) => {
                for cell in cells {
                    let raw = unquoted(cell, scratch);
                    let fits = dictionary.words.bytes.len() + raw.len() <= i32::MAX as usize;
                    numbers.push(if is_null(raw) {
                        None
                    } else if fits {
                        Some(dictionary.number(raw))
                    } else {
                        return Err(Odd);
                    });
                }
            }
            Values::Whole(numbers) => {
                for cell in cells {
                    let raw = unquoted(cell, scratch);
                    numbers.push(match kind {
                        _ if is_null(raw) => None,
                        Kind::Time => Some(nanoseconds(trimmed(raw), *factor, *limit)?),
                        _ => Some(integer(trimmed(raw))?),
                    });
                }
            }
            Values::Number(numbers) => {
                for cell in cells {
                    let raw = unquoted(cell, scratch);
                    numbers.push(if is_null(raw) { None } else { Some(number(trimmed(raw))?) });
                }
            }
        }
        Ok(())
    }
}

/// Without the blanks around it: exporters put a tab behind a point in time, so that a spreadsheet leaves it alone.
#[inline(always)]
fn trimmed(mut raw: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = raw {
        raw = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = raw {
        raw = rest;
    }
    raw
}

/// `-12` as (whether it is below 0, its digits).
#[inline(always)]
fn signed(raw: &[u8]) -> (bool, &[u8]) {
    match raw {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, raw),
    }
}

/// Digits, with a point among them or without: (all of them as one number, how many stand behind the point).
#[inline(always)]
fn decimal(raw: &[u8]) -> Result<(u64, usize), Odd> {
    let (mut digits, mut point) = (0u64, None);
    if raw.len() > MOST_DIGITS + 1 || (raw.len() > 1 && raw[0] == b'0' && raw[1] != b'.') {
        return Err(Odd);
    }
    for (place, &byte) in raw.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            digits = digits.wrapping_mul(10).wrapping_add(digit as u64);
        } else if byte == b'.' && point.is_none() && place > 0 {
            point = Some(place);
        } else {
            return Err(Odd);
        }
    }
    match point {
        None if raw.is_empty() || raw.len() > MOST_DIGITS => Err(Odd),
        None => Ok((digits, 0)),
        Some(place) if place + 1 == raw.len() => Err(Odd),
        Some(place) => Ok((digits, raw.len() - place - 1)),
    }
}

#[inline(always)]
fn integer(raw: &[u8]) -> Result<i64, Odd> {
    let (is_negative, raw) = signed(raw);
    let (digits, decimals) = decimal(raw)?;
    if decimals > 0 || (is_negative && digits == 0) {
        return Err(Odd);
    }
    let value = i64::try_from(digits).map_err(|_| Odd)?;
    Ok(if is_negative { -value } else { value })
}

/// A time in units of `factor` ns as whole ns, the even one of two that are as near.
#[inline(always)]
fn nanoseconds(raw: &[u8], factor: u64, limit: u128) -> Result<i64, Odd> {
    let (digits, decimals) = decimal(raw)?;
    if decimals == 3 && factor == 1000 && (digits as u128) < limit {
        return Ok(digits as i64); // what every exporter writes
    }
    let (exact, below) = (digits as u128 * factor as u128, 10u128.pow(decimals as u32));
    let (mut whole, rest) = (exact / below, exact % below * 2);
    if rest > below || (rest == below && whole % 2 == 1) {
        whole += 1;
    }
    if whole < limit { Ok(whole as i64) } else { Err(Odd) }
}

/// The float that is next to what is written.
#[inline(always)]
fn number(raw: &[u8]) -> Result<f64, Odd> {
    let (is_negative, raw) = signed(raw);
    if raw.contains(&b'e') {
        return small(raw).map(|value| if is_negative { -value } else { value });
    }
    let (digits, decimals) = decimal(raw)?;
    if digits > EXACT_IN_FLOAT {
        return Err(Odd);
    }
    let value = digits as f64 / POWERS[decimals]; // both are exact, so that their quotient is next to the number
    Ok(if is_negative { -value } else { value })
}

/// `1.5e-05`, as Python writes small numbers; what 1e+20 means `convert` has to say.
#[cold]
fn small(raw: &[u8]) -> Result<f64, Odd> {
    let end = raw.iter().position(|&byte| byte == b'e').ok_or(Odd)?;
    decimal(&raw[..end])?;
    match &raw[end + 1..] {
        [b'-', exponent @ ..] if matches!(exponent.len(), 1..=3) && exponent.iter().all(u8::is_ascii_digit) => {
            std::str::from_utf8(raw).ok().and_then(|text| text.parse().ok()).ok_or(Odd)
        }
        _ => Err(Odd),
    }
}
