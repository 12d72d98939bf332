// Package take reads a snapshot from a live cluster, for `spokeshave snapshot`. It uses
// the user's own kubeconfig, sends only GET requests, and never reads a Secret. It
// lowers the objects with the same code as the controller.
package take
