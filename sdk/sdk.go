// Package sdk carries the SDKs of the languages other than Go, so that a new
// policy can be started without a network.
//
// Not here: the Go SDK, which is sdk/policy.
package sdk

import "embed"

// Files are the folders c, assemblyscript and rust, and the JSON schemas of
// Rego's input.
//
//go:embed c/*.h c/README.md assemblyscript/README.md assemblyscript/package.json assemblyscript/package-lock.json
//go:embed assemblyscript/assembly/*.ts rust/README.md rust/Cargo.toml rust/src/*.rs schemas/*.json
var Files embed.FS
