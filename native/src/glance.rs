//! A look for events that name processes and threads, before a file is read as a whole: who reads it knows for certain.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::str::from_utf8;

use crate::columns::Texts;
use crate::event::{self, Event, Orders};
use crate::json::Reader;
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
    let (mut orders, mut scratch) = (Orders::new(), Vec::new());
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
            learn(&bytes, place, &mut orders, &mut scratch, &mut found);
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
        if bytes.get(at..).and_then(<[u8]>::first_chunk).is_none_or(may_hit::<WIDTH, { WIDTH + 2 }>) {
            if let Some(place) = (at..until).find(|&place| bytes[place..].starts_with(HIT)) {
                return Some(place);
            }
        }
        at = until;
    }
    None
}

/// Whether a hit begins at one of the first places: without branches and of a known width, so that the compiler looks at many bytes at once.
#[inline(always)]
fn may_hit<const WIDTH: usize, const WHOLE: usize>(bytes: &[u8; WHOLE]) -> bool {
    let mut differs = [0u8; WIDTH];
    for place in 0..WIDTH {
        differs[place] = (bytes[place] ^ HIT[0]) | (bytes[place + 1] ^ HIT[1]) | (bytes[place + 2] ^ HIT[2]);
    }
    let mut any = false;
    for one in differs {
        any |= one == 0;
    }
    any
}

fn learn(bytes: &[u8], place: usize, orders: &mut Orders, scratch: &mut Vec<u8>, found: &mut [Texts; 4]) {
    let mut start = place;
    for _ in 0..TRIES {
        let first = start.saturating_sub(EVENT_BYTES);
        let Some(brace) = bytes[first..start].iter().rposition(|&byte| byte == b'{') else { return };
        start = first + brace;
        let mut reader = Reader::new(bytes, start);
        let mut event = Event::new();
        let is_read = event::event(&mut reader, &[], orders, &mut event).is_ok();
        if is_read && event.ph == b'M' && reader.at() > place && from_utf8(&bytes[start..reader.at()]).is_ok() {
            let _ = push_metadata(&event, scratch, found);
            return;
        }
    }
}
