//! Reads parts of a timeline at the same time for `aoe_reports.formats.trace.native`, and times slices that depend on each other for
//! `aoe_reports.formats.native`: they call what stands here through ctypes.
//!
//! Of files, what is proved to be plain is handed on in columns as Arrow has them; of anything else only that it is there is told, and the file is read
//! in other ways. Everything but this file is safe Rust.

mod columns;
mod event;
mod glance;
mod json;
mod pass;
mod shapes;
mod slices;

/// Who calls this knows what the structures below look like: to be raised with every change of them.
const VERSION: u64 = 9;

use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Builder, JoinHandle};

use columns::{Bits, Numbers, Texts};
use event::Asked;
use pass::{Batch, Message, Part, Pass, Request};
use slices::Dependencies;

pub struct Reading {
    receiver: Option<Receiver<(usize, Message)>>,
    threads: Vec<JoinHandle<()>>,
    running: usize,
}

#[unsafe(no_mangle)]
pub extern "C" fn reader_version() -> u64 {
    VERSION
}

/// Begin to read parts of a file. `asked`: lines of `column rank key`; `within`: none, or two points in time.
///
/// # Safety
/// `fd` is a file that stays open until `reading_close`; `bounds` has `parts + 1` places; `asked` has `asked_length` bytes; `within` is null
/// or has two places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reading_open(
    fd: i32,
    bounds: *const u64,
    parts: usize,
    asked: *const u8,
    asked_length: usize,
    texts: usize,
    numbers: usize,
    flow_ids: bool,
    whole_args: bool,
    within: *const i64,
) -> *mut Reading {
    let (bounds, asked) =
        unsafe { (std::slice::from_raw_parts(bounds, parts + 1), std::slice::from_raw_parts(asked, asked_length)) };
    let args = asked.split(|&byte| byte == b'\n').filter_map(|line| {
        let mut words = line.splitn(3, |&byte| byte == b' ');
        let mut number = || std::str::from_utf8(words.next()?).ok()?.parse::<usize>().ok();
        Some(Asked { column: number()?, rank: number()? as u8, key: words.next()?.to_vec() })
    });
    let within = (!within.is_null()).then(|| unsafe { (*within, *within.add(1)) });
    let request = Arc::new(Request { args: args.collect(), texts, numbers, flow_ids, whole_args, within });
    let (sender, receiver) = sync_channel(parts);
    let mut threads = Vec::new();
    for place in 0..parts {
        let part = Part {
            start: bounds[place] + (place > 0) as u64,
            end: bounds[place + 1],
            is_first: place == 0,
            is_last: place + 1 == parts,
        };
        let (request, sender) = (request.clone(), sender.clone());
        let read = move || {
            let file = ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
            let found = catch_unwind(AssertUnwindSafe(|| Pass::new(&request).run(&file, &part, place, &sender)));
            if found.is_err() {
                let _ = sender.send((place, Message::Odd));
            }
        };
        // without a thread for each part `reading_next` finds that there are no more senders
        let Ok(thread) = Builder::new().spawn(read) else { break };
        threads.push(thread);
    }
    Box::into_raw(Box::new(Reading { receiver: Some(receiver), threads, running: parts }))
}

#[repr(C)]
pub struct Found {
    /// 0: the end; 1: a batch; 2: the totals of a part; 3: something odd.
    kind: u64,
    place: u64,
    rows: u64,
    batch: *mut Batch,
    first: i64,
    last: i64,
    stage_rows: u64,
    phases: [u64; 128],
}

/// What a file names, at a glance: a batch without rows for each part.
///
/// # Safety
/// As `reading_open`; `batches` has `parts` places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timeline_glance(fd: i32, bounds: *const u64, parts: usize, batches: *mut *mut Batch) {
    let bounds = unsafe { std::slice::from_raw_parts(bounds, parts + 1) };
    let looks: Vec<_> = bounds
        .windows(2)
        .map(|ends| {
            let (start, end) = (ends[0], ends[1]);
            let look = move || {
                let file = ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
                glance::glance(&file, start, end)
            };
            Builder::new().spawn(look).ok()
        })
        .collect();
    for (place, look) in looks.into_iter().enumerate() {
        let metadata = look.and_then(|look| look.join().ok()).unwrap_or_default();
        let batch = Box::new(Batch { metadata, ..Batch::default() });
        unsafe { batches.add(place).write(Box::into_raw(batch)) };
    }
}

/// The next batch of any part.
///
/// # Safety
/// `reading` is of `reading_open`, `found` a place for what is found.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reading_next(reading: *mut Reading, found: *mut Found) {
    let (reading, found) = unsafe { (&mut *reading, &mut *found) };
    found.kind = 0;
    if reading.running == 0 {
        return;
    }
    match reading.receiver.as_ref().map(Receiver::recv) {
        Some(Ok((place, message))) => {
            found.place = place as u64;
            match message {
                Message::Batch(batch) => {
                    found.kind = 1;
                    found.rows = batch.phases.len() as u64;
                    found.batch = Box::into_raw(batch);
                }
                Message::Done(totals) => {
                    reading.running -= 1;
                    found.kind = 2;
                    (found.first, found.last, found.stage_rows, found.phases) =
                        (totals.first, totals.last, totals.stage_rows, totals.phases);
                }
                Message::Odd => found.kind = 3,
            }
        }
        _ => found.kind = 3,
    }
}

/// Stop reading.
///
/// # Safety
/// `reading` is of `reading_open`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reading_close(reading: *mut Reading) {
    let mut reading = unsafe { Box::from_raw(reading) };
    reading.receiver = None;
    for thread in reading.threads.drain(..) {
        let _ = thread.join();
    }
}

#[repr(C)]
pub struct Buffer {
    values: *const u8,
    bytes: u64,
    ends: *const i32,
    there: *const u8,
    there_bytes: u64,
    rows: u64,
    nulls: u64,
}

/// Where the columns of a batch are in memory: those of rows, then of each dictionary the words that are new.
///
/// # Safety
/// `batch` is of `reading_next`; `buffers` has room for them all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batch_buffers(batch: *const Batch, buffers: *mut Buffer, most: usize) -> usize {
    let batch = unsafe { &*batch };
    let mut found = vec![
        plain(&batch.phases),
        numbers(&batch.starts),
        numbers(&batch.durations),
        plain(&batch.stage.bytes),
        texts(&batch.flow_ids.texts),
        numbers(&batch.flow_ids.numbers),
        texts(&batch.args),
        plain(&batch.threads),
        plain(&batch.pairs),
        plain(&batch.anew),
    ];
    found.extend(batch.words.iter().map(numbers));
    found.extend(batch.numbers.iter().map(numbers));
    found.extend(batch.fresh.iter().map(texts));
    found.extend(batch.metadata.iter().map(texts));
    if batch.pairs_anew {
        found[8].nulls = 1;
    }
    let count = found.len().min(most);
    for (place, buffer) in found.into_iter().take(count).enumerate() {
        unsafe { buffers.add(place).write(buffer) };
    }
    count
}

/// # Safety
/// `batch` is of `reading_next`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batch_free(batch: *mut Batch) {
    drop(unsafe { Box::from_raw(batch) });
}

/// When slices end, or how late they may, into `ends`: where there is `floor`, that from which each begins, else what `ends` says so far.
/// `columns` are length, before, before_ns, cause, cause_ns. False where anything is odd.
///
/// # Safety
/// `floor` is null or has `rows` places, as each of the five columns and `ends` have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slices_timed(
    rows: usize,
    floor: *const i64,
    columns: *const *const i64,
    ends: *mut i64,
) -> bool {
    let of = |place: usize| unsafe { std::slice::from_raw_parts(*columns.add(place), rows) };
    let behind = Dependencies { before: of(1), before_ns: of(2), cause: of(3), cause_ns: of(4) };
    let ends = unsafe { std::slice::from_raw_parts_mut(ends, rows) };
    let floor = (!floor.is_null()).then(|| unsafe { std::slice::from_raw_parts(floor, rows) });
    let timed = || match floor {
        Some(floor) => behind.ends(floor, of(0), ends),
        None => behind.late(of(0), ends),
    };
    matches!(catch_unwind(AssertUnwindSafe(timed)), Ok(Some(())))
}

fn plain<T>(values: &[T]) -> Buffer {
    Buffer {
        values: values.as_ptr().cast(),
        bytes: size_of_val(values) as u64,
        ends: std::ptr::null(),
        there: std::ptr::null(),
        there_bytes: 0,
        rows: values.len() as u64,
        nulls: 0,
    }
}

fn numbers<T>(numbers: &Numbers<T>) -> Buffer {
    with(&numbers.there, plain(&numbers.values))
}

fn texts(texts: &Texts) -> Buffer {
    let found = Buffer { ends: texts.ends.as_ptr(), rows: texts.len() as u64, ..plain(&texts.bytes) };
    with(&texts.there, found)
}

fn with(there: &Bits, buffer: Buffer) -> Buffer {
    Buffer { there: there.bytes.as_ptr(), there_bytes: there.bytes.len() as u64, nulls: there.unset(), ..buffer }
}
