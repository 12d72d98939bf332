// Package policy is for writing Spokeshave policies in Go.
//
// A policy is one function over typed rows, registered in a package variable,
// because a library's main function never runs:
//
//	package main
//
//	import "spokeshave.dev/sdk/policy"
//
//	var _ = policy.Rank(rank)
//
//	func rank(pool *policy.Pool, rows policy.Rows, out policy.Verdicts) {
//		for i := range rows.Len() {
//			if rows.Family(i) == "m7i" {
//				out.Score(i, 3*rows.At(i).Cost)
//			}
//		}
//	}
//
//	func main() {}
//
// It is built with the standard toolchain,
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags="-s -w" -o module.wasm .
//
// and compiles natively too, so that plain go test covers it: see policytest.
//
// A row that the function does not touch keeps the host's preset: the cost so
// far (rank), deny (consolidate), no cap and allowed (ceiling). Rows and texts
// are views into the batch: they are valid until the function returns. Nothing
// here allocates once the first batches have been seen.
//
// Not here: the wire format (sdk/abi) and the controller's side of it.
package policy
