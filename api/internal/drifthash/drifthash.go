// Package drifthash computes the hashes by which Karpenter recognises that the
// static fields of a NodePool or an EC2NodeClass have changed.
//
// Karpenter 1.14 hashes its Go values with the library hashstructure (format 2,
// slices as sets, zero values ignored, nil as zero). That hash depends on the
// names of the structs and of their fields. The types of this package carry
// those names; the API packages fill them from their own types.
package drifthash

import (
	"fmt"

	"github.com/mitchellh/hashstructure/v2"
)

// Sum is the hash of a value of this package's types, in decimal. It fails for
// types that cannot be hashed, such as functions.
func Sum(value any) (string, error) {
	sum, err := hashstructure.Hash(value, hashstructure.FormatV2, &hashstructure.HashOptions{
		SlicesAsSets: true, IgnoreZeroValue: true, ZeroNil: true,
	})
	if err != nil {
		return "", fmt.Errorf("hash %T: %w", value, err)
	}
	return fmt.Sprint(sum), nil
}
