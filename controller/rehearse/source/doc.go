// Package source finds the policies that stand in files: folders with a
// policy.yaml, folders of such folders, manifests with ConfigMaps. A folder
// with a Go program in it is built.
//
// Everything on the command line that takes policies takes them from here.
package source
