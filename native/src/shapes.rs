//! The keys of objects in the order in which they come: exporters write few orders, and what was read once is only compared.

use crate::json::{Read, Reader, Stop};

/// So many keys may follow one, and so many be known in all, before what was learnt is forgotten.
const MAX_WAYS: usize = 32;
const MAX_PLACES: usize = 4096;
/// No object has more members.
const MAX_MEMBERS: usize = 64;
const WIDTH: usize = 32;
const NONE: usize = 0;

/// A tree of keys: on the way to each no key stands twice.
pub struct Shapes {
    places: Vec<Place>,
    is_full: bool,
}

/// A key behind those before it.
#[derive(Default)]
struct Place {
    /// What stands between the value before and that of the key, its first bytes also as numbers, with the bits that count.
    lead: Vec<u8>,
    front: [u64; WIDTH / 8],
    counts: [u64; WIDTH / 8],
    key: Vec<u8>,
    meaning: u8,
    before: usize,
    /// The keys that may follow are a list: its first, and the next one of the list that this is in.
    first: usize,
    next: usize,
    ways: usize,
}

impl Place {
    fn new(lead: &[u8], key: &[u8], meaning: u8, before: usize, next: usize) -> Self {
        let (mut front, mut counts) = ([0; WIDTH], [0; WIDTH]);
        for (place, &byte) in lead.iter().take(WIDTH).enumerate() {
            (front[place], counts[place]) = (byte, 0xff);
        }
        Place {
            lead: lead.to_vec(),
            front: words(&front),
            counts: words(&counts),
            key: key.to_vec(),
            meaning,
            before,
            next,
            ..Place::default()
        }
    }

    #[inline(always)]
    fn is_at_front_of(&self, bytes: &[u8]) -> bool {
        let Some(chunk) = bytes.first_chunk::<WIDTH>() else { return bytes.starts_with(&self.lead) };
        let mut differs = 0;
        for (place, word) in words(chunk).into_iter().enumerate() {
            differs |= (word ^ self.front[place]) & self.counts[place];
        }
        differs == 0 && (self.lead.len() <= WIDTH || bytes.starts_with(&self.lead))
    }
}

#[inline(always)]
fn words(bytes: &[u8; WIDTH]) -> [u64; WIDTH / 8] {
    let mut found = [0; WIDTH / 8];
    for (place, eight) in bytes.chunks_exact(8).enumerate() {
        found[place] = eight.try_into().map_or(0, u64::from_le_bytes);
    }
    found
}

impl Shapes {
    pub fn new() -> Self {
        Shapes { places: vec![Place::default()], is_full: false }
    }

    /// Go through the members of an object: `member` reads the value of a key that has this meaning.
    #[inline(always)]
    pub fn members<'a>(
        &mut self,
        reader: &mut Reader<'a>,
        meaning: impl Fn(&[u8]) -> u8,
        mut member: impl FnMut(&mut Reader<'a>, u8) -> Read<()>,
    ) -> Read<()> {
        if self.is_full {
            *self = Shapes::new();
        }
        let mut place = 0;
        loop {
            let mut way = self.places[place].first;
            while way != NONE && !self.places[way].is_at_front_of(reader.rest()) {
                way = self.places[way].next;
            }
            if way != NONE {
                reader.skip(self.places[way].lead.len());
                place = way;
            } else {
                match self.learn(place, reader, &meaning)? {
                    Some(new) => place = new,
                    None => return Ok(()),
                }
            }
            member(reader, self.places[place].meaning)?;
            if reader.peek()? == b'}' {
                reader.skip(1);
                return Ok(());
            }
        }
    }

    /// Read a key that is new behind others; none where the object ends.
    #[inline(never)]
    fn learn(&mut self, before: usize, reader: &mut Reader, meaning: &impl Fn(&[u8]) -> u8) -> Read<Option<usize>> {
        let start = reader.at();
        if before == 0 {
            reader.expect(b'{')?;
        }
        if reader.take(b'}')? {
            return Ok(None);
        }
        if before != 0 {
            reader.expect(b',')?;
        }
        reader.expect(b'"')?;
        let key = reader.text()?;
        if key.is_escaped() {
            return Err(Stop::Odd);
        }
        reader.expect(b':')?;
        reader.skip_blanks();
        let (mut other, mut members) = (before, 0);
        while other != 0 {
            members += 1;
            if self.places[other].key == key.raw || members == MAX_MEMBERS {
                return Err(Stop::Odd);
            }
            other = self.places[other].before;
        }
        let place = self.places.len();
        let parent = &mut self.places[before];
        parent.ways += 1;
        self.is_full |= parent.ways > MAX_WAYS || place > MAX_PLACES;
        let next = std::mem::replace(&mut parent.first, place);
        self.places.push(Place::new(reader.since(start), key.raw, meaning(key.raw), before, next));
        Ok(Some(place))
    }
}
