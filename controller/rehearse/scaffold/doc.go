// Package scaffold starts new policies: a folder with a policy that works, its
// tests and cases, a README, and the SDK of its language, so that nothing has to
// be fetched.
package scaffold
