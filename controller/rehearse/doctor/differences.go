package doctor

import (
	_ "embed"
	"encoding/json"
)

// compatibilityText is the content of the tables of docs/compatibility.md. A test compares
// it with the page, and writes it anew with -update.
//
//go:embed compatibility.json
var compatibilityText []byte

// table is what docs/compatibility.md says.
type table struct {
	Same        []string     `json:"same"`
	Differences []Difference `json:"differences"`
}

// Difference is a decided difference from Karpenter.
type Difference struct {
	Subject   string `json:"subject"`
	Karpenter string `json:"karpenter"`
	Here      string `json:"here"`
	// Instead is how to get the other behaviour.
	Instead string `json:"toGetTheOther"`
	// Everywhere says that it concerns every cluster.
	Everywhere bool `json:"everywhere,omitempty"`
	// Concerns says what of this cluster it concerns, empty for nothing that was found.
	Concerns string `json:"concerns,omitempty"`
}

// compatibility returns the table. The text is part of the program and is tested: a table
// that cannot be read is empty.
func compatibility() table {
	var out table
	if json.Unmarshal(compatibilityText, &out) != nil {
		return table{Same: []string{}, Differences: []Difference{}}
	}
	return out
}

// differences returns all differences, with what of the cluster each concerns: those that
// concern something here first, then those that concern every cluster.
func differences(t table, in *Input) []Difference {
	found := concerns()
	var here, everywhere, others []Difference
	for _, d := range t.Differences {
		test, ok := found[d.Subject]
		if !ok {
			d.Everywhere = true
			everywhere = append(everywhere, d)
			continue
		}
		if d.Concerns = test(in); d.Concerns != "" {
			here = append(here, d)
		} else {
			others = append(others, d)
		}
	}
	return append(append(here, everywhere...), others...)
}
