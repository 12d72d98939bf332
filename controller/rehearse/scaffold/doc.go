// Package scaffold creates new policy projects: a folder with a working policy, its
// tests and cases, a README, and the SDK of its language, so that nothing has to be
// downloaded.
package scaffold
