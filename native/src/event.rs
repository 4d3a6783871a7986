//! One event of a timeline: its values as they stand in the bytes, and what they mean.

use crate::json::{Kind, Read, Reader, Stop, Value};
use crate::shapes::Shapes;

/// A key of `args` that is asked for: the column that it goes into, and which of a column's keys it is (the least counts).
pub struct Asked {
    pub key: Vec<u8>,
    pub column: usize,
    pub rank: u8,
}

/// How many columns of `args` there may be.
pub const MAX_ARGS: usize = 12;
const LATEST_NS: u64 = 1 << 61;
const LONGEST_US: f64 = (1u64 << 50) as f64 / 1000.0;

/// The values of an event; null for those that are not there.
pub struct Event<'a> {
    pub ph: u8,
    pub name: Value<'a>,
    pub cat: Value<'a>,
    pub id: Value<'a>,
    pub ts: Value<'a>,
    pub dur: Value<'a>,
    pub pid: Value<'a>,
    pub tid: Value<'a>,
    /// `name` of `args`.
    pub label: Value<'a>,
    pub args: [Value<'a>; MAX_ARGS],
    /// All of `args`, as they are written; none for null.
    pub whole_args: Option<&'a [u8]>,
}

impl Event<'_> {
    pub fn new() -> Self {
        Event {
            ph: 0,
            name: Value::NULL,
            cat: Value::NULL,
            id: Value::NULL,
            ts: Value::NULL,
            dur: Value::NULL,
            pid: Value::NULL,
            tid: Value::NULL,
            label: Value::NULL,
            args: [Value::NULL; MAX_ARGS],
            whole_args: None,
        }
    }
}

/// The orders of keys that were seen: of events, and of their `args`.
pub struct Orders {
    events: Shapes,
    args: Shapes,
}

impl Orders {
    pub fn new() -> Self {
        Orders { events: Shapes::new(), args: Shapes::new() }
    }
}

/// What keys of an event mean: places in this list.
const KEYS: [&[u8]; 9] = [b"name", b"ph", b"ts", b"dur", b"pid", b"tid", b"cat", b"id", b"args"];
/// What a key means that is not asked for, and `name` among `args`.
const NOTHING: u8 = u8::MAX;
const LABEL: u8 = u8::MAX - 1;

/// Read one event into `found`, which is new.
#[inline(always)]
pub fn event<'a>(reader: &mut Reader<'a>, asked: &[Asked], orders: &mut Orders, found: &mut Event<'a>) -> Read<()> {
    let Orders { events, args } = orders;
    let mut phase = Value::NULL;
    let meaning = |key: &[u8]| KEYS.iter().position(|&known| known == key).map_or(NOTHING, |place| place as u8);
    events.members(reader, meaning, |reader, meaning| {
        if meaning == 8 {
            return arguments(reader, asked, args, found);
        }
        let value = reader.value()?;
        match meaning {
            0 => found.name = value,
            1 => phase = value,
            2 => found.ts = value,
            3 => found.dur = value,
            4 => found.pid = value,
            5 => found.tid = value,
            6 => found.cat = value,
            7 => found.id = value,
            _ => {}
        }
        Ok(())
    })?;
    match phase {
        Value { raw: &[letter], kind: Kind::Text } if letter.is_ascii_alphabetic() => found.ph = letter,
        _ => return Err(Stop::Odd),
    }
    Ok(())
}

#[inline(always)]
fn arguments<'a>(reader: &mut Reader<'a>, asked: &[Asked], orders: &mut Shapes, found: &mut Event<'a>) -> Read<()> {
    reader.skip_blanks();
    if reader.peek()? == b'n' {
        return reader.value().map(|_| ());
    }
    let start = reader.at();
    let mut ranks = [u8::MAX; MAX_ARGS];
    let meaning = |key: &[u8]| {
        let place = asked.iter().position(|one| one.key == key);
        place.map_or(if key == b"name" { LABEL } else { NOTHING }, |place| place as u8)
    };
    orders.members(reader, meaning, |reader, meaning| {
        let value = reader.value()?;
        if value.kind == Kind::Null {
            return Ok(());
        }
        if let Some(one) = asked.get(meaning as usize) {
            if one.rank < ranks[one.column] {
                ranks[one.column] = one.rank;
                found.args[one.column] = value;
            }
        } else if meaning == LABEL {
            found.label = value;
        }
        Ok(())
    })?;
    found.whole_args = Some(reader.since(start));
    Ok(())
}

/// A value as text, none for null: texts as they are, whole numbers as they are written.
#[inline(always)]
pub fn as_text<'s>(value: Value<'s>, scratch: &'s mut Vec<u8>) -> Read<Option<&'s [u8]>> {
    match value.kind {
        Kind::Null => Ok(None),
        Kind::Text | Kind::Escaped => Ok(Some(value.plain(scratch))),
        Kind::Number => {
            let number = value.raw;
            let digits = number.strip_prefix(b"-").unwrap_or(number);
            if number == b"-0" || !digits.iter().all(u8::is_ascii_digit) {
                return Err(Stop::Odd);
            }
            Ok(Some(number))
        }
        Kind::Other => Err(Stop::Odd),
    }
}

/// (digits without their point, how many of them are behind it) of a time that is written so.
#[inline(always)]
fn decimal(value: Value<'_>) -> Read<Option<(u64, usize, &[u8])>> {
    let text = match value.kind {
        Kind::Null => return Ok(None),
        Kind::Text | Kind::Escaped | Kind::Number => value.raw, // a backslash is no digit
        Kind::Other => return Err(Stop::Odd),
    };
    let (mut whole, mut point) = (0u64, None);
    if text.len() > 20 {
        return Err(Stop::Odd);
    }
    for (place, &byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            whole = whole.wrapping_mul(10).wrapping_add(digit as u64);
        } else if byte == b'.' && point.is_none() && place > 0 {
            point = Some(place);
        } else {
            return Err(Stop::Odd);
        }
    }
    let behind = point.map_or(0, |place| text.len() - 1 - place);
    let digits = text.len() - point.is_some() as usize;
    if digits == 0 || digits > 19 || (point.is_some() && behind == 0) {
        return Err(Stop::Odd); // 19 digits fit in 64 bits
    }
    Ok(Some((whole, behind, text)))
}

const POWERS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut place = 1;
    while place < 20 {
        powers[place] = powers[place - 1] * 10;
        place += 1;
    }
    powers
};

/// Microseconds in whole nanoseconds, half of one rounded up.
#[inline(always)]
pub fn nanoseconds(value: Value) -> Read<Option<i64>> {
    let Some((whole, behind, _)) = decimal(value)? else { return Ok(None) };
    let ns = if behind <= 3 {
        whole.checked_mul(POWERS[3 - behind]).ok_or(Stop::Odd)?
    } else {
        let unit = POWERS[behind - 3];
        whole / unit + (whole % unit >= unit / 2) as u64
    };
    if ns >= LATEST_NS { Err(Stop::Odd) } else { Ok(Some(ns as i64)) }
}

/// How long something took, in microseconds, in whole nanoseconds: as a float64 tells it.
#[inline(always)]
pub fn duration(value: Value) -> Read<Option<i64>> {
    let Some((whole, behind, text)) = decimal(value)? else { return Ok(None) };
    if behind <= 3 && whole < 1 << 49 {
        let ns = whole * POWERS[3 - behind]; // exact, and no float64 is further off than a quarter
        if ns < 1 << 49 {
            return Ok(Some(ns as i64));
        }
    }
    let us: f64 = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(Stop::Odd)?;
    if !(0.0..LONGEST_US).contains(&us) {
        return Err(Stop::Odd);
    }
    Ok(Some((us * 1000.0).round_ties_even() as i64))
}

/// A whole number from zero to before 2^63 that may be written as text; none for what is none.
#[inline(always)]
pub fn whole_number(value: Value) -> Read<Option<i64>> {
    let digits = match value.kind {
        Kind::Null => return Ok(None),
        Kind::Text => stripped(value.raw),
        Kind::Number if value.raw != b"-0" => value.raw,
        Kind::Number | Kind::Escaped | Kind::Other => return Err(Stop::Odd), // an escape may be one of a digit
    };
    Ok(unsigned(digits, 19).and_then(|number| i64::try_from(number).ok()))
}

/// The connection that the id of a HostToDevice flow tells, where it is sure.
pub fn connection_of_flow(text: &[u8]) -> Option<i64> {
    let number = unsigned(stripped(text), 20)?;
    let (high, context) = (number >> 32, number & u32::MAX as u64);
    if high == 0 {
        return Some(number as i64);
    }
    if number >= 1 << 48 && high & 0xffff == 0 {
        return None;
    }
    Some((high + (context == u32::MAX as u64) as u64) as i64)
}

/// The number whose only text this is, where that is short.
#[inline(always)]
pub fn number_of_text(text: &[u8]) -> Option<i64> {
    match text {
        [b'0', _, ..] => None,
        _ => unsigned(text, 18).map(|number| number as i64),
    }
}

fn stripped(mut text: &[u8]) -> &[u8] {
    while let [b' ', rest @ ..] | [rest @ .., b' '] = text {
        text = rest;
    }
    text
}

#[inline(always)]
fn unsigned(digits: &[u8], most: usize) -> Option<u64> {
    if digits.is_empty() || digits.len() > most {
        return None;
    }
    let mut value = 0u64;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(digit as u64)?;
    }
    Some(value)
}

/// Whether a name is that of the second copy of an hccl task: `Stage-?\d+Step-?\d+`.
pub fn is_stage_row(name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(b"Stage").and_then(number_behind) else { return false };
    matches!(rest.strip_prefix(b"Step").and_then(number_behind), Some([]))
}

fn number_behind(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 { None } else { Some(&text[digits..]) }
}
