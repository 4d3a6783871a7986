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
    scratch: Vec<u8>,
}

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
        Some(Table { columns, wanted, scratch: Vec::new() })
    }

    /// Read lines, the last of which has its end; how many there are, none where anything is odd, as are bytes that are no UTF-8.
    pub fn read(&mut self, lines: &[u8]) -> Option<usize> {
        if lines.contains(&0) || std::str::from_utf8(lines).is_err() {
            return None;
        }
        self.columns.iter_mut().for_each(Column::clear);
        let (mut at, mut rows) = (0, 0);
        while at < lines.len() {
            at = self.row(lines, at).ok()?;
            rows += 1;
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

    /// One row; where the next begins.
    #[inline(always)]
    fn row(&mut self, lines: &[u8], mut at: usize) -> Result<usize, Odd> {
        let last = self.wanted.len() - 1;
        for (place, wanted) in self.wanted.iter().enumerate() {
            let start = at;
            let raw = if lines.get(at) == Some(&b'"') {
                at = quoted(lines, at + 1, &mut self.scratch)?;
                &self.scratch[..]
            } else {
                at += end_of_cell(&lines[at..])?;
                &lines[start..at]
            };
            if let Some(column) = wanted {
                self.columns[*column].push(raw)?;
            }
            at += match lines.get(at) {
                Some(b',') if place < last => 1,
                Some(b'\n') if place == last => 1,
                Some(b'\r') if place == last && lines.get(at + 1) == Some(&b'\n') => 2,
                _ => return Err(Odd),
            };
        }
        Ok(at)
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// How long a cell without quotes is: up to a comma or a line end; one with a quote inside is odd.
#[inline(always)]
fn end_of_cell(rest: &[u8]) -> Result<usize, Odd> {
    let mut at = 0;
    while let Some(eight) = rest.get(at..at + 8).and_then(|eight| eight.try_into().ok()) {
        let word = u64::from_le_bytes(eight);
        let found = [b',', b'\n', b'\r', b'"'].iter().fold(0, |found, &byte| {
            let same = word ^ (ONES * byte as u64);
            found | (same.wrapping_sub(ONES) & !same)
        }) & HIGHS;
        if found != 0 {
            at += (found.trailing_zeros() / 8) as usize; // the lowest is exact
            return if rest[at] == b'"' { Err(Odd) } else { Ok(at) };
        }
        at += 8;
    }
    let left = rest[at..].iter().position(|byte| matches!(byte, b',' | b'\n' | b'\r' | b'"')).ok_or(Odd)?;
    if rest[at + left] == b'"' { Err(Odd) } else { Ok(at + left) }
}

/// A cell whose first quote is read, into `text`; where it ends. A line end inside is odd.
fn quoted(lines: &[u8], mut at: usize, text: &mut Vec<u8>) -> Result<usize, Odd> {
    text.clear();
    loop {
        let length = lines[at..].iter().position(|byte| matches!(byte, b'"' | b'\n' | b'\r')).ok_or(Odd)?;
        text.extend_from_slice(&lines[at..at + length]);
        at += length + 1;
        if lines[at - 1] != b'"' {
            return Err(Odd);
        }
        if lines.get(at) != Some(&b'"') {
            return Ok(at);
        }
        text.push(b'"');
        at += 1;
    }
}

impl Column {
    fn clear(&mut self) {
        match &mut self.values {
            Values::Words(numbers) => numbers.clear(),
            Values::Whole(numbers) => numbers.clear(),
            Values::Number(numbers) => numbers.clear(),
        }
    }

    #[inline(always)]
    fn push(&mut self, raw: &[u8]) -> Result<(), Odd> {
        let may_be_null = raw.first().is_none_or(|&byte| self.begins[byte as usize]);
        let is_null = may_be_null && self.nulls.iter().any(|word| word == raw);
        match &mut self.values {
            Values::Words(numbers) => {
                let fits = self.dictionary.words.bytes.len() + raw.len() <= i32::MAX as usize;
                numbers.push(if is_null {
                    None
                } else if fits {
                    Some(self.dictionary.number(raw))
                } else {
                    return Err(Odd);
                });
            }
            Values::Whole(numbers) if is_null => numbers.push(None),
            Values::Number(numbers) if is_null => numbers.push(None),
            Values::Whole(numbers) => numbers.push(Some(match self.kind {
                Kind::Time => nanoseconds(trimmed(raw), self.factor, self.limit)?,
                _ => integer(trimmed(raw))?,
            })),
            Values::Number(numbers) => numbers.push(Some(number(trimmed(raw))?)),
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
