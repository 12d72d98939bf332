// Package isolate runs policies of an engine in a process of their own, so that a
// policy which takes all memory, never ends or breaks the engine does no harm to the
// controller.
//
// The process is this program, started again with a hidden argument ([Child]): without
// environment, descriptors other than its pipes, files, sockets or other programs, and
// with limits on memory and processor time (package confine). It gets one question at a
// time over a pipe, as a batch of sdk/abi, and answers with the records of sdk/abi
// (package wire).
//
// A revision is compiled, and its tests are run, in a process that ends afterwards. Only
// what has passed there is loaded into the process that answers questions, which all
// policies share. A question that is not answered at its deadline, or that exceeds the
// memory, ends that process: the policy is at fault, as every other error of a policy
// is, and the next process gets all other policies at once. A policy that is slow to load
// gets a process that is prepared on the side and then takes the place of the one before,
// so that no question waits for the loading of another policy. A policy that does so again
// and again is not asked for a while.
//
// Such a process also does jobs for other engines ([Engine.Do]), in turn with trials: it
// compiles WebAssembly modules.
//
// The engine itself is a parameter; package engine says that it is OPA.
package isolate
