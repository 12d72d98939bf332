// Package rego is the Rego engine of user policies: it compiles *.rego files
// under a strict allow-list, and answers the rank, consolidate and ceiling
// questions of package policy with them.
package rego
