package sdk

import "embed"

// Go is the SDK for Go, as new projects carry it: the folders abi and policy.
//
//go:embed abi/*.go policy/*.go policy/policytest/*.go
var Go embed.FS
