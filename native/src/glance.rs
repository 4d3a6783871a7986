//! A look for events that name processes and threads, before a file is read as a whole: who reads it knows for certain.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::str::from_utf8;

use crate::columns::Texts;
use crate::event::{self, Event};
use crate::json::{Keys, Reader};
use crate::pass::push_metadata;

const READ_BYTES: usize = 1 << 18;
/// No event that names something is longer.
const EVENT_BYTES: usize = 1 << 14;
const MAX_EVENTS: usize = 20_000;
const TRIES: usize = 8;
const HIT: &[u8] = br#""M""#;

/// What events between two places of a file name: as far as is seen at a glance.
pub fn glance(file: &File, start: u64, end: u64) -> [Texts; 4] {
    let mut found = <[Texts; 4]>::default();
    let (mut bytes, mut next, mut looked) = (Vec::<u8>::new(), start, 0);
    let (mut keys, mut scratch) = (Default::default(), Vec::new());
    while next < end {
        // what is behind a hit has to be there, too: the last bytes are looked at once more
        let kept = bytes.len().min(2 * EVENT_BYTES);
        let seen = if bytes.is_empty() { 0 } else { kept - EVENT_BYTES.min(kept) };
        let length = bytes.len();
        bytes.copy_within(length - kept.., 0);
        let more = READ_BYTES.min((end - next) as usize);
        bytes.resize(kept + more, 0);
        if file.read_exact_at(&mut bytes[kept..], next).is_err() {
            break;
        }
        next += more as u64;
        let stop = if next == end { bytes.len() } else { bytes.len() - EVENT_BYTES.min(bytes.len()) };
        let mut at = seen;
        while let Some(place) = next_hit(&bytes, at, stop) {
            at = place + 1;
            looked += 1;
            if looked > MAX_EVENTS {
                return found;
            }
            learn(&bytes, place, &mut keys, &mut scratch, &mut found);
        }
    }
    found
}

/// Where the next hit begins, before `stop`.
fn next_hit(bytes: &[u8], from: usize, stop: usize) -> Option<usize> {
    const WIDTH: usize = 64;
    let mut at = from;
    while at < stop {
        let until = stop.min(at + WIDTH);
        // without branches and of a known width, so that the compiler looks at many bytes at once
        let (quotes, letters) =
            (bytes.get(at..).and_then(<[u8]>::first_chunk), bytes.get(at + 1..).and_then(<[u8]>::first_chunk));
        let maybe = match (quotes, letters) {
            (Some(quotes), Some(letters)) => is_near::<WIDTH>(quotes, letters),
            _ => true,
        };
        if maybe {
            if let Some(place) = (at..until).find(|&place| bytes[place..].starts_with(HIT)) {
                return Some(place);
            }
        }
        at = until;
    }
    None
}

/// Whether one of some bytes is a quote, with the letter at the same place of the others.
#[inline(always)]
fn is_near<const WIDTH: usize>(quotes: &[u8; WIDTH], letters: &[u8; WIDTH]) -> bool {
    let mut found = [0u8; WIDTH];
    for place in 0..WIDTH {
        found[place] = (quotes[place] ^ b'"') | (letters[place] ^ b'M');
    }
    let mut any = false;
    for one in found {
        any |= one == 0;
    }
    any
}

fn learn(bytes: &[u8], place: usize, keys: &mut [Keys; 2], scratch: &mut Vec<u8>, found: &mut [Texts; 4]) {
    let mut start = place;
    for _ in 0..TRIES {
        let first = start.saturating_sub(EVENT_BYTES);
        let Some(brace) = bytes[first..start].iter().rposition(|&byte| byte == b'{') else { return };
        start = first + brace;
        let mut reader = Reader::new(bytes, start);
        let mut event = Event::new();
        let is_read = event::event(&mut reader, &[], keys, &mut event).is_ok();
        if is_read && event.ph == b'M' && reader.at() > place && from_utf8(&bytes[start..reader.at()]).is_ok() {
            let _ = push_metadata(&event, scratch, found);
            return;
        }
    }
}
