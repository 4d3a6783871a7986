//! Columns as Arrow has them in memory, built row by row.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Which rows have a value, a bit each, the first row in the lowest.
#[derive(Default)]
pub struct Bits {
    /// At least as many bits as there are rows.
    pub bytes: Vec<u8>,
    rows: usize,
}

impl Bits {
    #[inline(always)]
    pub fn push(&mut self, set: bool) {
        let place = self.rows / 8;
        if place == self.bytes.len() {
            self.bytes.resize(place + 1024, 0);
        }
        self.bytes[place] |= (set as u8) << (self.rows % 8);
        self.rows += 1;
    }

    pub fn is_set(&self, row: usize) -> bool {
        self.bytes[row / 8] >> (row % 8) & 1 == 1
    }

    /// How many rows have none.
    pub fn unset(&self) -> u64 {
        self.rows as u64 - self.bytes.iter().map(|byte| byte.count_ones() as u64).sum::<u64>()
    }
}

#[derive(Default)]
pub struct Numbers<T> {
    pub values: Vec<T>,
    pub there: Bits,
}

impl<T: Default> Numbers<T> {
    #[inline(always)]
    pub fn push(&mut self, value: Option<T>) {
        self.there.push(value.is_some());
        self.values.push(value.unwrap_or_default());
    }
}

pub struct Texts {
    pub ends: Vec<i32>,
    pub bytes: Vec<u8>,
    pub there: Bits,
}

impl Default for Texts {
    fn default() -> Self {
        Texts { ends: vec![0], bytes: Vec::new(), there: Bits::default() }
    }
}

impl Texts {
    #[inline(always)]
    pub fn push(&mut self, text: Option<&[u8]>) {
        self.bytes.extend_from_slice(text.unwrap_or_default());
        self.ends.push(self.bytes.len() as i32); // a batch has fewer bytes than 2^31: `pass` ends it before
        self.there.push(text.is_some());
    }

    pub fn word(&self, place: usize) -> &[u8] {
        &self.bytes[self.ends[place] as usize..self.ends[place + 1] as usize]
    }

    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }
}

/// Ids of flows: numbers for as long as each is the text of one, which need not be taken apart again; else texts.
#[derive(Default)]
pub struct Ids {
    pub numbers: Numbers<i64>,
    pub texts: Texts,
    are_texts: bool,
}

impl Ids {
    #[inline(always)]
    pub fn push(&mut self, text: Option<&[u8]>, number: Option<i64>) {
        if !self.are_texts {
            if text.is_none() || number.is_some() {
                return self.numbers.push(number);
            }
            self.turn();
        }
        self.texts.push(text);
    }

    /// Go on with texts, those of the numbers so far first.
    #[cold]
    fn turn(&mut self) {
        let numbers = std::mem::take(&mut self.numbers);
        for (row, number) in numbers.values.iter().enumerate() {
            let text = numbers.there.is_set(row).then(|| number.to_string());
            self.texts.push(text.as_deref().map(str::as_bytes));
        }
        self.are_texts = true;
    }
}

/// Numbers words in the order in which they come; a table with open addressing, of which at most half is filled.
pub struct Dictionary {
    pub words: Texts,
    /// How many of the words were handed on.
    pub told: usize,
    places: Vec<(u32, i32)>,
    last: i32,
    seed: u64,
}

const NONE: i32 = -1;

impl Dictionary {
    pub fn new() -> Self {
        let seed = RandomState::new().build_hasher().finish();
        Dictionary { words: Texts::default(), told: 0, places: vec![(0, NONE); 256], last: NONE, seed }
    }

    #[inline(always)]
    pub fn number(&mut self, word: &[u8]) -> i32 {
        if self.last != NONE && self.words.word(self.last as usize) == word {
            return self.last;
        }
        self.last = self.find(word);
        self.last
    }

    fn find(&mut self, word: &[u8]) -> i32 {
        let hash = hash(word, self.seed);
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            let (known, number) = self.places[place];
            if number == NONE {
                break;
            }
            if known == hash && self.words.word(number as usize) == word {
                return number;
            }
            place = (place + 1) & mask;
        }
        let number = self.words.len() as i32;
        self.words.push(Some(word));
        self.places[place] = (hash, number);
        if self.words.len() * 2 > self.places.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let mask = self.places.len() * 2 - 1;
        let mut places = vec![(0, NONE); mask + 1];
        for &(hash, number) in self.places.iter().filter(|(_, number)| *number != NONE) {
            let mut place = hash as usize & mask;
            while places[place].1 != NONE {
                place = (place + 1) & mask;
            }
            places[place] = (hash, number);
        }
        self.places = places;
    }
}

#[inline(always)]
fn hash(word: &[u8], seed: u64) -> u32 {
    let mut state = seed ^ word.len() as u64;
    let mut eights = word.chunks_exact(8);
    for eight in &mut eights {
        state = mixed(state ^ eight.try_into().map_or(0, u64::from_le_bytes));
    }
    let mut last = [0; 8];
    let rest = eights.remainder();
    last[..rest.len()].copy_from_slice(rest);
    state = mixed(state ^ u64::from_le_bytes(last));
    (state >> 32) as u32
}

#[inline(always)]
fn mixed(state: u64) -> u64 {
    let wide = (state ^ 0x9e37_79b9_7f4a_7c15) as u128 * 0xd6e8_feb8_6659_fd93;
    (wide >> 64) as u64 ^ wide as u64
}
