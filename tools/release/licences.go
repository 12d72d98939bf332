package main

import (
	"context"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"spokeshave.dev/tools/release/notices"
)

// introduction heads the notices. It names what is not linked and comes along: the policies
// in WebAssembly that the chart ships, and the certificates of the image.
const introduction = `Spokeshave is licensed under the Apache License, Version 2.0 (LICENSE). Its programs contain the
Go modules listed here, each under its own licence; the texts follow, and the notices. NOTICE.catalog
is about the data of instance types and prices.

Beside the programs, a release contains
- Mozilla's list of certificate authorities, in the image: Mozilla Public License 2.0, from
  https://hg.mozilla.org/projects/nss, by way of golang.org/x/crypto/x509roots/fallback;
- in the chart, policies in WebAssembly, into which compilers have put parts of the Rust standard library
  (Apache License 2.0 or MIT) and of the AssemblyScript runtime (Apache License 2.0).

`

// licences are those of everything that the programs have linked on the platforms.
func licences(ctx context.Context, source string, platforms []v1.Platform) ([]notices.Module, error) {
	return notices.Linked(ctx, source, []string{controllerPackage, cliPackage}, platforms)
}

// noticesText is the file THIRD_PARTY_NOTICES.
func noticesText(modules []notices.Module) []byte { return notices.Write(introduction, modules) }
