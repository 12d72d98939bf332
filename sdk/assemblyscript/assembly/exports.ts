// What the controller calls. A policy's main file says
// `export * from "./spokeshave/exports"`.
import { MINOR, NO_OPINION } from "./abi";
import { hasCeiling, runCeiling } from "./ceiling";
import { setup } from "./config";
import { hasConsolidate, runConsolidate } from "./consolidate";
import { hasRank, runRank } from "./rank";
import { give } from "./session";

export function spokeshave_abi_v1(): i32 {
  return MINOR;
}

export function spokeshave_alloc(size: u32): usize {
  return give(size);
}

export function spokeshave_configure(ptr: usize, size: u32): i32 {
  return swept(setup(ptr, size, hasRank(), hasConsolidate(), hasCeiling()));
}

export function spokeshave_rank(ptr: usize, size: u32): i32 {
  return swept(hasRank() ? runRank(ptr, size) : NO_OPINION);
}

export function spokeshave_consolidate(ptr: usize, size: u32): i32 {
  return swept(hasConsolidate() ? runConsolidate(ptr, size) : NO_OPINION);
}

export function spokeshave_ceiling(ptr: usize, size: u32): i32 {
  return swept(hasCeiling() ? runCeiling(ptr, size) : NO_OPINION);
}

// swept collects what a call has left behind: with the minimal runtime nothing
// else does.
function swept(result: i32): i32 {
  __collect();
  return result;
}
