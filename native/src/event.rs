//! One event of a timeline: its values as they stand in the bytes, and what they mean.

use crate::json::{Keys, Read, Reader, Stop, Text, Value};

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
}

impl Event<'_> {
    pub fn new() -> Self {
        Event {
            ph: 0,
            name: Value::Null,
            cat: Value::Null,
            id: Value::Null,
            ts: Value::Null,
            dur: Value::Null,
            pid: Value::Null,
            tid: Value::Null,
            label: Value::Null,
            args: [Value::Null; MAX_ARGS],
        }
    }
}

/// Read one event into `found`, which is new.
#[inline(always)]
pub fn event<'a>(reader: &mut Reader<'a>, asked: &[Asked], keys: &mut [Keys; 2], found: &mut Event<'a>) -> Read<()> {
    let [keys, args_keys] = keys;
    keys.clear();
    let mut seen = 0u32;
    let mut phase = Value::Null;
    reader.members(|reader, key| {
        let (place, slot) = match key.raw {
            b"name" => (0, &mut found.name),
            b"ph" => (1, &mut phase),
            b"ts" => (2, &mut found.ts),
            b"dur" => (3, &mut found.dur),
            b"pid" => (4, &mut found.pid),
            b"tid" => (5, &mut found.tid),
            b"cat" => (6, &mut found.cat),
            b"id" => (7, &mut found.id),
            b"args" => {
                if seen & 1 << 8 != 0 {
                    return Err(Stop::Odd);
                }
                seen |= 1 << 8;
                return arguments(reader, asked, args_keys, found);
            }
            _ => {
                keys.add(reader.bytes(), &key)?;
                return reader.value().map(|_| ());
            }
        };
        if seen & 1 << place != 0 {
            return Err(Stop::Odd);
        }
        seen |= 1 << place;
        *slot = reader.value()?;
        Ok(())
    })?;
    match phase {
        Value::Text(Text { raw: &[letter], .. }) if letter.is_ascii_alphabetic() => found.ph = letter,
        _ => return Err(Stop::Odd),
    }
    Ok(())
}

#[inline(always)]
fn arguments<'a>(reader: &mut Reader<'a>, asked: &[Asked], keys: &mut Keys, found: &mut Event<'a>) -> Read<()> {
    reader.skip_blanks();
    if reader.peek()? == b'n' {
        return reader.value().map(|_| ());
    }
    keys.clear();
    let mut ranks = [u8::MAX; MAX_ARGS];
    reader.members(|reader, key| {
        keys.add(reader.bytes(), &key)?;
        let value = reader.value()?;
        if value == Value::Null {
            return Ok(());
        }
        if key.raw == b"name" {
            found.label = value;
        }
        for one in asked {
            if one.key == key.raw && one.rank < ranks[one.column] {
                ranks[one.column] = one.rank;
                found.args[one.column] = value;
            }
        }
        Ok(())
    })
}

/// A value as text, none for null: texts as they are, whole numbers as they are written.
#[inline(always)]
pub fn as_text<'s>(value: Value<'s>, scratch: &'s mut Vec<u8>) -> Read<Option<&'s [u8]>> {
    match value {
        Value::Null => Ok(None),
        Value::Text(text) => Ok(Some(text.plain(scratch))),
        Value::Number(number) => {
            let digits = number.strip_prefix(b"-").unwrap_or(number);
            if number == b"-0" || !digits.iter().all(u8::is_ascii_digit) {
                return Err(Stop::Odd);
            }
            Ok(Some(number))
        }
        Value::Other => Err(Stop::Odd),
    }
}

/// (digits without their point, how many of them are behind it) of a time that is written so.
#[inline(always)]
fn decimal(value: Value<'_>) -> Read<Option<(u64, usize, &[u8])>> {
    let text = match value {
        Value::Null => return Ok(None),
        Value::Text(text) => text.raw, // a backslash is no digit
        Value::Number(number) => number,
        Value::Other => return Err(Stop::Odd),
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
    let digits = match value {
        Value::Null => return Ok(None),
        Value::Text(text) => stripped(text.raw), // a backslash is no digit
        Value::Number(b"-0") | Value::Other => return Err(Stop::Odd),
        Value::Number(number) => number,
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
