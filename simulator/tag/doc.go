// Package tag is what EC2 and IAM have in common about tags: a set of them,
// their form on the wire, and the rules that they have to keep.
package tag
