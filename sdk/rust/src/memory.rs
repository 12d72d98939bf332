//! The module's memory: the batch's buffer, and what is kept for good.

use crate::abi;
use core::arch::wasm32;
use core::mem::{align_of, size_of};

extern "C" {
    static __heap_base: u8;
}

const MAX_BATCH: usize = 12 << 20;
const PAGE: usize = 1 << 16;

struct Memory {
    buffer: usize,
    room: usize,
    top: usize,
}

static mut MEMORY: Memory = Memory { buffer: 0, room: 0, top: 0 };

// One instance serves one call at a time: nothing here is shared.
fn memory() -> &'static mut Memory {
    unsafe { &mut *core::ptr::addr_of_mut!(MEMORY) }
}

/// take gives zeroed memory, 16-aligned, or 0.
fn take(size: usize) -> usize {
    let m = memory();
    let start = if m.top == 0 { unsafe { core::ptr::addr_of!(__heap_base) as usize } } else { m.top };
    let at = (start + 15) & !15;
    let end = match at.checked_add(size) {
        Some(end) => (end + 15) & !15,
        None => return 0,
    };
    let have = wasm32::memory_size(0) * PAGE;
    if end > have && wasm32::memory_grow(0, (end - have + PAGE - 1) / PAGE) == usize::MAX {
        return 0;
    }
    m.top = end;
    at
}

/// keep gives n values for as long as the module lives. They are never given
/// back: use it in `Policy::configure`.
pub fn keep<T: Copy + 'static>(n: usize, value: T) -> &'static mut [T] {
    let at = take(n * size_of::<T>());
    if at == 0 || align_of::<T>() > 16 {
        wasm32::unreachable()
    }
    let values = unsafe { core::slice::from_raw_parts_mut(at as *mut T, n) };
    for v in values.iter_mut() {
        *v = value;
    }
    values
}

#[no_mangle]
extern "C" fn spokeshave_abi_v1() -> i32 {
    abi::MINOR as i32
}

#[no_mangle]
extern "C" fn spokeshave_alloc(size: u32) -> usize {
    let size = size as usize;
    if size > MAX_BATCH {
        return 0;
    }
    if memory().room < size {
        let m = memory();
        if m.buffer != 0 && m.buffer + m.room == m.top {
            m.top = m.buffer; // the last one: grow in place
        }
        let mut at = take(size + size / 4 + 64);
        if at == 0 {
            at = take(size);
        }
        if at == 0 {
            return 0;
        }
        let m = memory();
        m.buffer = at;
        m.room = m.top - at;
    }
    memory().buffer
}

/// received is what the host has written, None if it points elsewhere.
pub fn received(ptr: usize, size: u32) -> Option<&'static mut [u8]> {
    let m = memory();
    if ptr == 0 || ptr != m.buffer || size as usize > m.room {
        return None;
    }
    Some(unsafe { core::slice::from_raw_parts_mut(ptr as *mut u8, size as usize) })
}
