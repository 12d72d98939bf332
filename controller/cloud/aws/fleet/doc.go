// Package fleet launches instances with CreateFleet. Prepare makes the exact request of an
// attempt, shared by claims that want the same (gathering.go, attempt.go); the caller
// writes it down on each claim; Launch sends it once all have (sharedlaunch.go), reads the
// answer, and learns from refusals which offerings are sold out (refusal.go).
// ADRs 5 and 12 say why.
//
// Not here: launch templates (package launchtemplate), and instances that run (package
// instances).
package fleet
