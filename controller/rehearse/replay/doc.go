// Package replay makes recorded decisions again, for `spokeshave replay`: with
// the policies of the record, to see whether the same bytes come out, or with
// others, to see what would have been different.
package replay
