// Package contrast compares plans: ours and the reference's for the same cluster. Every
// way in which they can differ is a Kind with a name, which docs/compatibility.md
// explains.
package contrast
