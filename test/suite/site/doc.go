// Package site tests the documentation site as people see it: it is built from the
// repository's pages, every link on it leads somewhere, and it works in a browser at the
// size of a desk and of a phone, light and dark.
package site
