//! A strict reader of JSON in bytes: what it takes is JSON (RFC 8259), what it does not take may be JSON, too.

use crate::shapes::Shapes;

/// Why a reader stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The bytes end before the value does.
    More,
    /// Something is not in the grammar that is proved here.
    Odd,
}

pub type Read<T> = Result<T, Stop>;

/// What a value is; of lists and objects, `true` and `false` only that they are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Null,
    /// A text, without or with a backslash in it.
    Text,
    Escaped,
    Number,
    Other,
}

/// A value as it stands in the bytes: what is between the quotes of a text, the digits of a number.
#[derive(Debug, Clone, Copy)]
pub struct Value<'a> {
    pub raw: &'a [u8],
    pub kind: Kind,
}

impl<'a> Value<'a> {
    pub const NULL: Self = Value { raw: b"", kind: Kind::Null };
    const OTHER: Self = Value { raw: b"", kind: Kind::Other };

    pub fn is_escaped(&self) -> bool {
        self.kind == Kind::Escaped
    }

    pub fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Escaped)
    }

    /// The text itself; `scratch` holds it where it is written with escapes.
    #[inline(always)]
    pub fn plain<'s>(&self, scratch: &'s mut Vec<u8>) -> &'s [u8]
    where
        'a: 's,
    {
        if self.is_escaped() { self.unescaped(scratch) } else { self.raw }
    }

    #[inline(never)]
    fn unescaped<'s>(&self, scratch: &'s mut Vec<u8>) -> &'s [u8] {
        scratch.clear();
        let mut rest = self.raw;
        while let Some(place) = rest.iter().position(|&byte| byte == b'\\') {
            scratch.extend_from_slice(&rest[..place]);
            let length = match rest[place + 1] {
                b'u' => {
                    let letter = hex(&rest[place + 2..place + 6]).and_then(char::from_u32).unwrap_or('?');
                    scratch.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                    6
                }
                letter => {
                    scratch.push(unescaped(letter).unwrap_or(b'?'));
                    2
                }
            };
            rest = &rest[place + length..];
        }
        scratch.extend_from_slice(rest);
        scratch
    }
}

fn unescaped(letter: u8) -> Option<u8> {
    Some(match letter {
        b'"' | b'\\' | b'/' => letter,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        _ => return None,
    })
}

fn hex(digits: &[u8]) -> Option<u32> {
    let mut value = 0;
    for &digit in digits {
        value = value * 16 + (digit as char).to_digit(16)?;
    }
    Some(value)
}

/// No value is nested deeper.
const MAX_DEPTH: u32 = 16;
/// No number is longer.
const MAX_NUMBER: usize = 64;

/// Reads values from the front of some bytes.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Where the first byte is that ends a plain run of a text (a quote, a backslash, a control character), of eight; the lowest is exact.
#[inline(always)]
fn special(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    ((quote.wrapping_sub(ONES) & !quote)
        | (slash.wrapping_sub(ONES) & !slash)
        | (word.wrapping_sub(ONES * 0x20) & !word))
        & HIGHS
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Reader { bytes, at }
    }

    /// What is not read yet.
    #[inline(always)]
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// What was read since it was there.
    pub fn since(&self, start: usize) -> &'a [u8] {
        &self.bytes[start..self.at]
    }

    /// Go on by so many bytes, which were looked at.
    #[inline(always)]
    pub fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// How many bytes are read.
    pub fn at(&self) -> usize {
        self.at
    }

    #[inline(always)]
    pub fn peek(&self) -> Read<u8> {
        self.bytes.get(self.at).copied().ok_or(Stop::More)
    }

    #[inline(always)]
    pub fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// Go behind this byte, and the blanks before it.
    #[inline(always)]
    pub fn expect(&mut self, byte: u8) -> Read<()> {
        self.skip_blanks();
        if self.peek()? != byte {
            return Err(Stop::Odd);
        }
        self.at += 1;
        Ok(())
    }

    /// Go behind this byte, and the blanks before it, if it is there.
    #[inline(always)]
    pub fn take(&mut self, byte: u8) -> Read<bool> {
        self.skip_blanks();
        let there = self.peek()? == byte;
        self.at += there as usize;
        Ok(there)
    }

    /// A value of any kind.
    #[inline(always)]
    pub fn value(&mut self) -> Read<Value<'a>> {
        self.skip_blanks();
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.text()
            }
            b'-' | b'0'..=b'9' => self.number(),
            b'n' => self.word(b"null", Value::NULL),
            b't' => self.word(b"true", Value::OTHER),
            b'f' => self.word(b"false", Value::OTHER),
            _ => {
                self.nested(0)?;
                Ok(Value::OTHER)
            }
        }
    }

    #[inline(never)]
    fn nested(&mut self, depth: u32) -> Read<()> {
        if depth == MAX_DEPTH {
            return Err(Stop::Odd);
        }
        self.skip_blanks();
        match self.peek()? {
            b'{' => Shapes::new().members(self, |_| 0, |reader, _| reader.nested(depth + 1)),
            b'[' => {
                self.at += 1;
                if self.take(b']')? {
                    return Ok(());
                }
                loop {
                    self.nested(depth + 1)?;
                    if self.take(b']')? {
                        return Ok(());
                    }
                    self.expect(b',')?;
                }
            }
            b'"' | b'-' | b'0'..=b'9' | b'n' | b't' | b'f' => self.value().map(|_| ()),
            _ => Err(Stop::Odd),
        }
    }

    fn word(&mut self, word: &'static [u8], value: Value<'a>) -> Read<Value<'a>> {
        let found = &self.bytes[self.at..self.bytes.len().min(self.at + word.len())];
        if found != word {
            return Err(if word.starts_with(found) { Stop::More } else { Stop::Odd });
        }
        self.at += word.len();
        Ok(value)
    }

    /// A text whose first quote is read.
    #[inline(always)]
    pub fn text(&mut self) -> Read<Value<'a>> {
        let start = self.at;
        let mut kind = Kind::Text;
        loop {
            while let Some(eight) = self.bytes.get(self.at..self.at + 8) {
                let found = special(u64::from_le_bytes(eight.try_into().map_err(|_| Stop::Odd)?));
                if found != 0 {
                    self.at += (found.trailing_zeros() / 8) as usize;
                    break;
                }
                self.at += 8;
            }
            match self.peek()? {
                b'"' => {
                    let raw = &self.bytes[start..self.at];
                    self.at += 1;
                    return Ok(Value { raw, kind });
                }
                b'\\' => {
                    kind = Kind::Escaped;
                    self.escape()?;
                }
                0..=0x1f => return Err(Stop::Odd),
                _ => self.at += 1, // near the end of the bytes
            }
        }
    }

    #[cold]
    fn escape(&mut self) -> Read<()> {
        let letter = *self.bytes.get(self.at + 1).ok_or(Stop::More)?;
        if letter != b'u' {
            self.at += 2;
            return unescaped(letter).map(|_| ()).ok_or(Stop::Odd);
        }
        let digits = self.bytes.get(self.at + 2..self.at + 6).ok_or(Stop::More)?;
        self.at += 6;
        // half of a pair is a letter only with the other half
        hex(digits).and_then(char::from_u32).map(|_| ()).ok_or(Stop::Odd)
    }

    /// A number.
    #[inline(always)]
    fn number(&mut self) -> Read<Value<'a>> {
        let start = self.at;
        self.at += (self.peek()? == b'-') as usize;
        if self.peek()? == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek()? == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if self.peek()? | 0x20 == b'e' {
            self.at += 1;
            self.at += matches!(self.peek()?, b'-' | b'+') as usize;
            self.digits()?;
        }
        let raw = &self.bytes[start..self.at];
        if raw.len() > MAX_NUMBER {
            return Err(Stop::Odd);
        }
        Ok(Value { raw, kind: Kind::Number })
    }

    #[inline(always)]
    fn digits(&mut self) -> Read<()> {
        let rest = &self.bytes[self.at..];
        match rest.iter().position(|byte| !byte.is_ascii_digit()) {
            Some(0) => Err(Stop::Odd),
            Some(length) => {
                self.at += length;
                Ok(())
            }
            None => Err(Stop::More),
        }
    }
}
