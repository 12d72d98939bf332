// Package app builds and starts the controller from its parts. It is the only package
// of the controller that refers to concrete policy engines and providers.
package app
