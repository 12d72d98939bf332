// Package embedded is the catalogue of EC2 that the controller carries, for tests that
// decide on real instance types and prices.
package embedded

import (
	"testing"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
)

// Region is where the catalogue's types are sold.
const Region = "us-west-2"

// Zones are three of the region's.
func Zones() []string { return []string{Region + "a", Region + "b", Region + "c"} }

// Catalog has the types and prices of Zones for the node class
// "default".
func Catalog(t testing.TB) model.Catalog {
	t.Helper()
	types, sales, err := catalog.Load(Region)
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Lower(types, sales, catalog.Options{NodeClass: "default", Region: Region, Zones: Zones()})
}
