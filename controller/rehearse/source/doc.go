// Package source reads policies from files: folders with a policy.yaml, folders of such
// folders, and manifests with ConfigMaps. It compiles a folder with a Go program.
//
// Every command of the command line that takes policies reads them with this package.
package source
