package notices

import (
	"fmt"
	"slices"

	"github.com/google/licensecheck"
)

// allowed are the licences that what is linked may have, by SPDX identifier: those that ask
// for no more than their text and notices with a program, and the Mozilla Public License,
// which asks for the source of its own files as well (Write says where that is).
func allowed() []string {
	return []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "Unicode-DFS-2016", "Unlicense", "Zlib"}
}

// coverage is how much of a licence file has to be text of known licences, in per cent. The
// rest is copyright lines and headings.
const coverage = 75

// recognise returns the licences whose text a file is.
func recognise(text string) ([]string, error) {
	found := licensecheck.Scan([]byte(text))
	if found.Percent < coverage {
		return nil, fmt.Errorf("the licence is not recognised (%.0f %% of the text are known, want %d): read it, and choose another module, or teach tools/release/notices what it is", found.Percent, coverage)
	}
	var out []string
	for _, m := range found.Match {
		if !slices.Contains(allowed(), m.ID) {
			return nil, fmt.Errorf("the licence %s is not among those that may be linked (%v): choose another module, or decide in tools/release/notices that it may", m.ID, allowed())
		}
		out = append(out, m.ID)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
