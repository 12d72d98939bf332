// Package sdk carries the SDKs of the languages other than Go, so that a new
// policy can be started without a network.
//
// Not here: the Go SDK, which is sdk/policy.
package sdk

import "embed"

// Files are the folders c, assemblyscript and rust, the library for Rego, and the
// JSON schemas of what Rego policies are told and answer.
//
//go:embed c/*.h c/README.md assemblyscript/README.md assemblyscript/package.json assemblyscript/package-lock.json
//go:embed assemblyscript/assembly/*.ts rust/README.md rust/Cargo.toml rust/src/*.rs rego/lib.rego schemas/*.json
var Files embed.FS
