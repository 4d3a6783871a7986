//! One pass over a part of a timeline: batches of rows, and what the part tells as a whole.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::SyncSender;

use crate::columns::{Bits, Dictionary, Ids, Numbers, Texts};
use crate::event::{self, Asked, Event, Orders};
use crate::json::{Kind, Read, Reader, Stop, Value};

const BATCH_ROWS: usize = 1 << 16;
/// A batch is of no more of the file, whatever stands there.
const BATCH_BYTES: u64 = 32 << 20;
const READ_BYTES: usize = 1 << 18;
const MAX_EVENT_BYTES: usize = 2 << 20;
/// So many words are known by their numbers before these begin anew.
const MAX_WORDS: usize = 1 << 14;
const MAX_WORD_BYTES: usize = 4 << 20;
/// What comes as numbers of words, before the texts of args.
const CODED: usize = 4;
/// The category whose flows join launches and what they launched.
const FLOW_CATEGORY: &[u8] = b"HostToDevice";

/// What is asked for.
pub struct Request {
    pub args: Vec<Asked>,
    pub texts: usize,
    pub numbers: usize,
    pub flow_ids: bool,
    pub whole_args: bool,
    /// Only the texts of events are handed on that name something, begin or end something, or reach into this time (its end is not in it).
    pub within: Option<(i64, i64)>,
}

/// Some rows, in the order of the file.
#[derive(Default)]
pub struct Batch {
    pub phases: Vec<u8>,
    pub starts: Numbers<i64>,
    pub durations: Numbers<i64>,
    pub stage: Bits,
    pub flow_ids: Ids,
    /// Of each row its args, or all of it.
    pub args: Texts,
    /// Numbers of pids, tids, categories, names (the end of a flow has none), and the texts of args: words of `Dictionary`.
    pub words: Vec<Numbers<i32>>,
    /// The number of the pair of process and thread.
    pub threads: Vec<i32>,
    pub numbers: Vec<Numbers<i64>>,
    /// For each dictionary whether it begins anew, and its words that are new.
    pub anew: Vec<bool>,
    pub fresh: Vec<Texts>,
    /// Pairs of numbers of pid and tid that are new; they begin anew with either.
    pub pairs: Vec<i32>,
    pub pairs_anew: bool,
    pub metadata: [Texts; 4],
}

impl Batch {
    /// Make room for rows whose args have so many bytes, or a few more.
    fn reserve(&mut self, bytes_of_args: usize) {
        self.phases.reserve(BATCH_ROWS);
        self.threads.reserve(BATCH_ROWS);
        self.flow_ids.numbers.values.reserve(BATCH_ROWS);
        self.args.ends.reserve(BATCH_ROWS);
        self.args.bytes.reserve(bytes_of_args + bytes_of_args / 8);
        self.starts.values.reserve(BATCH_ROWS);
        self.durations.values.reserve(BATCH_ROWS);
        self.words.iter_mut().for_each(|words| words.values.reserve(BATCH_ROWS));
        self.numbers.iter_mut().for_each(|numbers| numbers.values.reserve(BATCH_ROWS));
    }
}

/// What a part tells as a whole.
pub struct Totals {
    pub phases: [u64; 128],
    pub first: i64,
    pub last: i64,
    pub stage_rows: u64,
}

pub enum Message {
    Batch(Box<Batch>),
    Done(Box<Totals>),
    Odd,
}

pub struct Part {
    pub start: u64,
    pub end: u64,
    pub is_first: bool,
    pub is_last: bool,
}

/// Bytes of a part, as much as is needed of it at a time.
struct Window<'f> {
    file: &'f File,
    next: u64,
    end: u64,
    bytes: Vec<u8>,
    checked: usize,
}

impl Window<'_> {
    /// Where in the file a byte of the window is.
    fn place(&self, at: usize) -> u64 {
        self.next - (self.bytes.len() - at) as u64
    }

    /// Let go of the first bytes, and read more behind the others.
    fn advance(&mut self, used: usize) -> Read<()> {
        let kept = self.bytes.len() - used;
        if kept > MAX_EVENT_BYTES || self.next == self.end {
            return Err(Stop::Odd);
        }
        self.bytes.copy_within(used.., 0);
        self.checked = self.checked.saturating_sub(used);
        let more = READ_BYTES.min((self.end - self.next) as usize);
        self.bytes.resize(kept + more, 0);
        self.file.read_exact_at(&mut self.bytes[kept..], self.next).map_err(|_| Stop::Odd)?;
        self.next += more as u64;
        self.check()
    }

    /// Whether what is there is UTF-8, but for the last bytes of a letter that goes on.
    fn check(&mut self) -> Read<()> {
        match std::str::from_utf8(&self.bytes[self.checked..]) {
            Ok(_) => self.checked = self.bytes.len(),
            Err(error) if error.error_len().is_none() && self.next < self.end => self.checked += error.valid_up_to(),
            Err(_) => return Err(Stop::Odd),
        }
        Ok(())
    }
}

/// Reads one part; what is odd in it ends it.
pub struct Pass<'r> {
    request: &'r Request,
    batch: Box<Batch>,
    dictionaries: Vec<Dictionary>,
    pairs: Pairs,
    totals: Box<Totals>,
    scratch: Vec<u8>,
    orders: Orders,
    /// Of the batch before: how many rows it had, and bytes of args.
    last_rows: usize,
    last_bytes: usize,
}

impl<'r> Pass<'r> {
    pub fn new(request: &'r Request) -> Self {
        let mut pass = Pass {
            request,
            batch: Box::default(),
            dictionaries: (0..CODED + request.texts).map(|_| Dictionary::new()).collect(),
            pairs: Pairs::new(),
            totals: Box::new(Totals { phases: [0; 128], first: i64::MAX, last: i64::MIN, stage_rows: 0 }),
            scratch: Vec::new(),
            orders: Orders::new(),
            last_rows: 0,
            last_bytes: 0,
        };
        pass.begin();
        pass
    }

    fn begin(&mut self) {
        let batch = &mut *self.batch;
        batch.words.resize_with(CODED + self.request.texts, Numbers::default);
        batch.numbers.resize_with(self.request.numbers, Numbers::default);
        if self.last_rows == BATCH_ROWS {
            batch.reserve(self.last_bytes);
        }
        batch.anew = vec![false; self.dictionaries.len()];
        for (dictionary, anew) in self.dictionaries.iter_mut().zip(&mut batch.anew) {
            if dictionary.words.len() > MAX_WORDS || dictionary.words.bytes.len() > MAX_WORD_BYTES {
                *dictionary = Dictionary::new();
                *anew = true;
            }
        }
        if batch.anew[0] || batch.anew[1] || self.pairs.known.len() > MAX_WORDS {
            self.pairs = Pairs::new();
            batch.pairs_anew = true;
        }
    }

    /// Hand on what is there; false where nobody takes it any more.
    fn end(&mut self, place: usize, sender: &SyncSender<(usize, Message)>) -> bool {
        for dictionary in &mut self.dictionaries {
            let mut fresh = Texts::default();
            for word in dictionary.told..dictionary.words.len() {
                fresh.push(Some(dictionary.words.word(word)));
            }
            dictionary.told = dictionary.words.len();
            self.batch.fresh.push(fresh);
        }
        for &(pid, tid) in &self.pairs.known[self.pairs.told..] {
            self.batch.pairs.extend([pid, tid]);
        }
        self.pairs.told = self.pairs.known.len();
        self.last_rows = self.batch.phases.len();
        self.last_bytes = self.batch.args.bytes.len();
        let sent = sender.send((place, Message::Batch(std::mem::take(&mut self.batch)))).is_ok();
        self.begin();
        sent
    }

    /// Read a part to its end.
    pub fn run(mut self, file: &File, part: &Part, place: usize, sender: &SyncSender<(usize, Message)>) {
        let last = match self.read(file, part, place, sender) {
            Ok(true) => Message::Done(self.totals),
            Ok(false) => return,
            Err(_) => Message::Odd,
        };
        let _ = sender.send((place, last));
    }

    fn read(&mut self, file: &File, part: &Part, place: usize, sender: &SyncSender<(usize, Message)>) -> Read<bool> {
        let mut window = Window { file, next: part.start, end: part.end, bytes: Vec::new(), checked: 0 };
        let (mut at, mut begun) = (0, part.start);
        let mut state = if part.is_first { State::Open } else { State::Event };
        loop {
            window.advance(at)?;
            at = 0;
            loop {
                match self.step(&window.bytes, &mut at, state) {
                    Ok(next) => state = next,
                    Err(Stop::More) if window.next < window.end => break,
                    Err(Stop::More) if !part.is_last && state == State::Between => {
                        return Ok(self.end(place, sender));
                    }
                    Err(_) => return Err(Stop::Odd),
                }
                if state == State::Closed {
                    if window.next < window.end || !part.is_last {
                        return Err(Stop::Odd); // blanks at the end of a file are few
                    }
                    let mut rest = Reader::new(&window.bytes, at);
                    rest.skip_blanks();
                    return if rest.at() == window.bytes.len() { Ok(self.end(place, sender)) } else { Err(Stop::Odd) };
                }
                if self.batch.phases.len() == BATCH_ROWS || window.place(at) - begun > BATCH_BYTES {
                    begun = window.place(at);
                    if !self.end(place, sender) {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Read the next bracket, comma or event; `at` is behind what was read.
    #[inline(always)]
    fn step(&mut self, bytes: &[u8], at: &mut usize, state: State) -> Read<State> {
        let mut reader = Reader::new(bytes, *at);
        let next = match state {
            State::Open => {
                reader.expect(b'[')?;
                State::First
            }
            State::First if reader.take(b']')? => State::Closed,
            State::First | State::Event => {
                reader.skip_blanks();
                let (start, mut found) = (reader.at(), Event::new());
                event::event(&mut reader, &self.request.args, &mut self.orders, &mut found)?;
                match self.request.within {
                    None => self.take(&found)?,
                    Some(time) => self.keep(&found, reader.since(start), time)?,
                }
                State::Between
            }
            State::Between if reader.take(b']')? => State::Closed,
            State::Between => {
                reader.expect(b',')?;
                State::Event
            }
            State::Closed => return Err(Stop::Odd),
        };
        *at = reader.at();
        Ok(next)
    }

    /// When an event begins, how long it takes, whether it is a second copy; the totals tell of it from here on.
    #[inline(always)]
    fn judge(&mut self, event: &Event) -> Read<(Option<i64>, Option<i64>, bool)> {
        let complete = event.ph == b'X';
        let (start, duration) = (event::nanoseconds(event.ts)?, event::duration(event.dur)?);
        match (complete, start, duration) {
            (true, Some(start), Some(duration)) if event.name.is_text() => {
                self.totals.first = self.totals.first.min(start);
                self.totals.last = self.totals.last.max(start + duration);
            }
            (false, ..) if event.name.is_text() || event.name.kind == Kind::Null => {}
            _ => return Err(Stop::Odd),
        }
        let stage = complete && event::is_stage_row(event.name.plain(&mut self.scratch));
        self.totals.stage_rows += stage as u64;
        Ok((start, duration, stage))
    }

    /// Take in the text of an event, if it is asked for.
    #[inline(always)]
    fn keep(&mut self, event: &Event, text: &[u8], (from, to): (i64, i64)) -> Read<()> {
        self.totals.phases[event.ph as usize] += 1;
        for value in [event.pid, event.tid, event.cat, event.id] {
            event::as_text(value, &mut self.scratch)?;
        }
        let is_kept = if event.ph == b'M' {
            event::as_text(event.name, &mut self.scratch)?;
            event::as_text(event.label, &mut self.scratch)?;
            true
        } else {
            let (start, duration, _) = self.judge(event)?;
            start.is_some_and(|start| {
                let lasts = start >= from || start + duration.unwrap_or(0) > from;
                (lasts && start < to) || matches!(event.ph, b'B' | b'E' | b'b' | b'e')
            })
        };
        if is_kept {
            self.batch.phases.push(event.ph);
            self.batch.args.push(Some(text));
        }
        Ok(())
    }

    #[inline(always)]
    fn take(&mut self, event: &Event) -> Read<()> {
        self.totals.phases[event.ph as usize] += 1;
        if event.ph == b'M' {
            return push_metadata(event, &mut self.scratch, &mut self.batch.metadata);
        }
        let complete = event.ph == b'X';
        let (start, duration, stage) = self.judge(event)?;
        let (scratch, batch) = (&mut self.scratch, &mut *self.batch);
        batch.stage.push(stage);
        batch.phases.push(event.ph);
        batch.starts.push(start);
        batch.durations.push(duration);
        // what flows are called tells nothing that their ids do not, and each is called otherwise
        let name = if matches!(event.ph, b's' | b't' | b'f') { Value::NULL } else { event.name };
        let values = [event.pid, event.tid, event.cat, name];
        let mut coded = [None; CODED];
        for (column, value) in values.into_iter().enumerate() {
            coded[column] = match event::as_text(value, scratch)? {
                Some(word) => Some(self.dictionaries[column].number(word)),
                None => None,
            };
            batch.words[column].push(coded[column]);
        }
        batch.threads.push(self.pairs.number(coded[0].unwrap_or(-1), coded[1].unwrap_or(-1)));
        let is_flow = !complete && event.cat.is_text() && event.cat.plain(scratch) == FLOW_CATEGORY;
        let flow_id = event::as_text(event.id, scratch)?;
        let connection = if is_flow { flow_id.and_then(event::connection_of_flow) } else { None };
        if self.request.flow_ids {
            batch.flow_ids.push(flow_id, flow_id.and_then(event::number_of_text));
        }
        if self.request.whole_args {
            batch.args.push(event.whole_args);
        }
        for column in 0..self.request.texts {
            let word = match event::as_text(event.args[column], scratch)? {
                Some(word) => Some(self.dictionaries[CODED + column].number(word)),
                None => None,
            };
            batch.words[CODED + column].push(word);
        }
        for (column, numbers) in batch.numbers.iter_mut().enumerate() {
            let number = event::whole_number(event.args[self.request.texts + column])?;
            // the first is that of connections, which flows tell otherwise
            numbers.push(if column == 0 && !complete { connection } else { number });
        }
        Ok(())
    }
}

/// Take down what an event names.
pub fn push_metadata(event: &Event, scratch: &mut Vec<u8>, found: &mut [Texts; 4]) -> Read<()> {
    let values = [event.name, event.pid, event.tid, event.label];
    for value in values {
        event::as_text(value, scratch)?; // all or nothing
    }
    for (column, value) in found.iter_mut().zip(values) {
        column.push(event::as_text(value, scratch)?);
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    First,
    Event,
    Between,
    Closed,
}

/// Numbers pairs of numbers in the order in which they come.
struct Pairs {
    known: Vec<(i32, i32)>,
    told: usize,
    places: std::collections::HashMap<(i32, i32), i32>,
    cached: Vec<((i32, i32), i32)>,
}

impl Pairs {
    fn new() -> Self {
        Pairs { known: Vec::new(), told: 0, places: Default::default(), cached: vec![((-2, -2), -1); 64] }
    }

    #[inline(always)]
    fn number(&mut self, pid: i32, tid: i32) -> i32 {
        let near = (pid as usize).wrapping_mul(31).wrapping_add(tid as usize) & 63;
        let (pair, number) = self.cached[near];
        if pair == (pid, tid) {
            return number;
        }
        let next = self.known.len() as i32;
        let number = *self.places.entry((pid, tid)).or_insert(next);
        if number == next {
            self.known.push((pid, tid));
        }
        self.cached[near] = ((pid, tid), number);
        number
    }
}
