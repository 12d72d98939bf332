// Package replay makes recorded decisions again, for `spokeshave replay`: with the
// policies of the record, to check that exactly the same bytes result, or with other
// policies, to see what would have been different.
package replay
