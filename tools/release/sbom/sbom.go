// Package sbom writes what a program is made of as a CycloneDX document. The modules come
// from the program itself, in which Go's linker writes them.
package sbom

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"spokeshave.dev/tools/release/notices"
	"spokeshave.dev/tools/release/program"
)

// PredicateType is that of an attestation with such a document.
const PredicateType = "https://cyclonedx.org/bom"

// Write returns the document about a program of a version, made at a time. licences has
// every module that can be in it.
func Write(p *program.Program, name, version string, at time.Time, licences []notices.Module) ([]byte, error) {
	sum := sha256.Sum256(p.Binary)
	main := component(cdx.ComponentTypeApplication, p.Linked.Main.Path, version, []string{"Apache-2.0"})
	main.Name = name
	main.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}
	main.Properties = &[]cdx.Property{
		{Name: "cdx:gomod:build:env:GOARCH", Value: p.Platform.Architecture},
		{Name: "cdx:gomod:build:env:GOOS", Value: p.Platform.OS},
	}
	var parts []cdx.Component
	var refs []string
	for _, d := range linked(p.Linked) {
		known := slices.IndexFunc(licences, func(m notices.Module) bool { return m.Path == d.Path })
		if known < 0 {
			return nil, fmt.Errorf("%s for %s has %s linked into it, whose licence was not looked for", name, p.Platform, d.Path)
		}
		c := component(cdx.ComponentTypeLibrary, d.Path, d.Version, licences[known].Licences)
		if d.Sum != "" { // Go's checksum of the module's files, in go.sum and in the checksum database
			c.Properties = &[]cdx.Property{{Name: "cdx:gomod:sum", Value: d.Sum}}
		}
		parts, refs = append(parts, c), append(refs, c.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: at.UTC().Format(time.RFC3339), Component: &main}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	var out bytes.Buffer
	if err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return nil, fmt.Errorf("write the SBOM of %s for %s: %w", name, p.Platform, err)
	}
	return out.Bytes(), nil
}

// linked returns the modules in a program, replacements in place of what they replace, and
// Go's standard library as the module std.
func linked(info *debug.BuildInfo) []debug.Module {
	out := []debug.Module{{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}}
	for _, d := range info.Deps {
		m := *d
		if d.Replace != nil {
			m.Version, m.Sum = d.Replace.Version, d.Replace.Sum
		}
		out = append(out, m)
	}
	return out
}

// component is a module of Go.
func component(kind cdx.ComponentType, path, version string, licences []string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	var all cdx.Licenses
	for _, id := range licences {
		all = append(all, cdx.LicenseChoice{License: &cdx.License{ID: id}})
	}
	return cdx.Component{BOMRef: url, Type: kind, Name: path, Version: version, PackageURL: url, Licenses: &all}
}
