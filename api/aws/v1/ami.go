package v1

import (
	"fmt"
	"strings"
)

// The AMI families.
const (
	AMIFamilyAL2          = "AL2"
	AMIFamilyAL2023       = "AL2023"
	AMIFamilyBottlerocket = "Bottlerocket"
	AMIFamilyWindows2019  = "Windows2019"
	AMIFamilyWindows2022  = "Windows2022"
	AMIFamilyWindows2025  = "Windows2025"
	AMIFamilyCustom       = "Custom"
)

// AliasLatest is the version of an alias that follows every release.
const AliasLatest = "latest"

// Alias is a parsed alias of an AMISelectorTerm.
type Alias struct {
	// Family is one of the AMIFamily constants.
	Family string
	// Version is a release of that family, or AliasLatest.
	Version string
}

// ParseAlias parses family@version, such as al2023@v20250801 or bottlerocket@latest.
func ParseAlias(text string) (Alias, error) {
	family, version, ok := strings.Cut(text, "@")
	if !ok || version == "" {
		return Alias{}, fmt.Errorf("parse alias %q: want family@version", text)
	}
	for _, known := range []string{
		AMIFamilyAL2, AMIFamilyAL2023, AMIFamilyBottlerocket,
		AMIFamilyWindows2019, AMIFamilyWindows2022, AMIFamilyWindows2025,
	} {
		if family == strings.ToLower(known) {
			return Alias{Family: known, Version: version}, nil
		}
	}
	return Alias{}, fmt.Errorf("parse alias %q: unknown family %q", text, family)
}

// Alias returns the alias in the class's AMI selector terms, and false if there
// is none or it cannot be parsed.
func (c *EC2NodeClass) Alias() (Alias, bool) {
	for _, t := range c.Spec.AMISelectorTerms {
		if t.Alias != "" {
			a, err := ParseAlias(t.Alias)
			return a, err == nil
		}
	}
	return Alias{}, false
}

// AMIFamily returns the family that user data and disks follow: amiFamily, else
// the alias's, else Custom.
func (c *EC2NodeClass) AMIFamily() string {
	if c.Spec.AMIFamily != nil {
		return *c.Spec.AMIFamily
	}
	if a, ok := c.Alias(); ok {
		return a.Family
	}
	return AMIFamilyCustom
}
