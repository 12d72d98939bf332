// Package listing is what all Describe and List calls have in common: filters
// with wildcards, and pages with tokens.
package listing
