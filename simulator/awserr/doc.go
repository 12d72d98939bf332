// Package awserr is how AWS says no: an error with one of AWS's codes, a
// message, and the HTTP status that goes with the code. Every service of the
// simulator refuses with it; package wire writes it in each protocol's words.
package awserr
