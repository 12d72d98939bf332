// Package app wires the controller together: the only package that names a
// concrete policy engine or provider.
package app
