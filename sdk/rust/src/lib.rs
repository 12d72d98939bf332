//! Writing Spokeshave policies in Rust, without the standard library and
//! without dependencies. A policy is a type with a method for each hook it
//! answers:
//!
//! ```ignore
//! #![no_std]
//! #![no_main]
//! use spokeshave::{Config, Policy, Pool, Rows, Verdicts};
//!
//! struct Avoid { factor: f64 }
//!
//! impl Policy for Avoid {
//!     fn configure(config: &mut Config) -> Self {
//!         Avoid { factor: config.float("factor", 3.0) }
//!     }
//!
//!     fn rank(&mut self, _pool: &Pool, rows: &Rows, out: &mut Verdicts) {
//!         for i in 0..rows.len() {
//!             if rows.family(i) == "m7i" {
//!                 out.score(i, self.factor * rows.at(i).cost);
//!             }
//!         }
//!     }
//! }
//!
//! spokeshave::policy!(Avoid: rank);
//! ```
//!
//! A row that is not touched keeps the host's preset: the cost so far (rank),
//! deny (consolidate), no cap and allowed (ceiling). Rows and texts are views
//! into the batch, and cannot outlive the call; those of the configuration
//! stay.
//!
//! Not here: what the fields mean (docs/spec/policy.md, section 4).
#![no_std]

pub mod abi;
mod ceiling;
mod config;
mod consolidate;
mod json;
mod memory;
mod rank;
mod session;
mod text;

pub use abi::{Candidate, Launch, Offering, Spend};
pub use ceiling::{Caps, Launches, Scopes};
pub use config::Config;
pub use consolidate::{Candidates, Permissions};
pub use memory::keep;
pub use rank::{Pool, Rows, Verdicts};
pub use session::{Call, Labels};
pub use text::{log, Line, Text};

/// Policy is what a module answers. The methods of hooks that `policy!` does
/// not name are never called.
pub trait Policy: Sized + 'static {
    /// configure reads the configuration, once, before any question.
    fn configure(config: &mut Config) -> Self;

    /// rank prices the offerings of one NodePool.
    fn rank(&mut self, _pool: &Pool, _rows: &Rows, _out: &mut Verdicts) {}

    /// consolidate says which nodes may be disrupted.
    fn consolidate(&mut self, _candidates: &Candidates, _out: &mut Permissions) {}

    /// ceiling caps what scopes may spend and refuses launches. Before the
    /// solve there are no launches.
    fn ceiling(&mut self, _scopes: &Scopes, _launches: &Launches, _out: &mut Caps) {}
}

/// policy exports a type as the module's policy, with its hooks:
/// `policy!(Avoid: rank, consolidate)`.
#[macro_export]
macro_rules! policy {
    ($policy:ty: $($hook:ident),+) => {
        static mut POLICY: Option<$policy> = None;

        #[no_mangle]
        pub extern "C" fn spokeshave_configure(ptr: usize, size: u32) -> i32 {
            let (status, policy) = $crate::host::configure::<$policy>(ptr, size);
            unsafe { POLICY = policy };
            status
        }

        $($crate::policy!(@hook $policy, $hook);)+

        #[panic_handler]
        fn panic(_: &core::panic::PanicInfo) -> ! {
            core::arch::wasm32::unreachable()
        }
    };
    (@hook $policy:ty, rank) => {
        #[no_mangle]
        pub extern "C" fn spokeshave_rank(ptr: usize, size: u32) -> i32 {
            $crate::host::rank(unsafe { POLICY.as_mut() }, ptr, size)
        }
    };
    (@hook $policy:ty, consolidate) => {
        #[no_mangle]
        pub extern "C" fn spokeshave_consolidate(ptr: usize, size: u32) -> i32 {
            $crate::host::consolidate(unsafe { POLICY.as_mut() }, ptr, size)
        }
    };
    (@hook $policy:ty, ceiling) => {
        #[no_mangle]
        pub extern "C" fn spokeshave_ceiling(ptr: usize, size: u32) -> i32 {
            $crate::host::ceiling(unsafe { POLICY.as_mut() }, ptr, size)
        }
    };
}

/// What `policy!` calls.
#[doc(hidden)]
pub mod host {
    pub use crate::ceiling::run as ceiling;
    pub use crate::config::setup as configure;
    pub use crate::consolidate::run as consolidate;
    pub use crate::rank::run as rank;
}
