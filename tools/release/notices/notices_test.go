package notices

import (
	"slices"
	"strings"
	"testing"
)

const (
	bsd = `Copyright (c) 2026 Somebody. All rights reserved.

Redistribution and use in source and binary forms, with or without
modification, are permitted provided that the following conditions are
met:

   * Redistributions of source code must retain the above copyright
notice, this list of conditions and the following disclaimer.
   * Redistributions in binary form must reproduce the above
copyright notice, this list of conditions and the following disclaimer
in the documentation and/or other materials provided with the
distribution.
   * Neither the name of Somebody nor the names of its
contributors may be used to endorse or promote products derived from
this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS
"AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT
LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR
A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT
OWNER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT
LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE,
DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY
THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT
(INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
`
	gpl = `This program is free software: you can redistribute it and/or modify
it under the terms of the GNU General Public License as published by
the Free Software Foundation, either version 3 of the License, or
(at your option) any later version.

This program is distributed in the hope that it will be useful,
but WITHOUT ANY WARRANTY; without even the implied warranty of
MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the
GNU General Public License for more details.
`
)

func TestRecognise(t *testing.T) {
	tests := map[string]struct {
		reason, text string
		want         []string
		refused      string
	}{
		"BSD":         {"copyright lines do not count", bsd, []string{"BSD-3-Clause"}, ""},
		"GPL":         {"it asks for the source of the whole program", gpl, nil, "the licence GPL-3.0-or-later is not among those"},
		"BSD and GPL": {"both hold", bsd + "\n" + gpl, nil, "the licence GPL-3.0-or-later is not among those"},
		"own words":   {"nobody has read it", "You may use this on Tuesdays, unless it rains, and must send me a postcard.", nil, "not recognised"},
		"with more":   {"more than a quarter is something else", bsd + strings.Repeat("But not if you are a bank, which has to pay first. ", 20), nil, "not recognised"},
		"empty":       {"", "", nil, "not recognised"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := recognise(tc.text)
			if tc.refused == "" && (err != nil || !slices.Equal(got, tc.want)) || tc.refused != "" && (err == nil || !strings.Contains(err.Error(), tc.refused)) {
				t.Errorf("%s: got %v, %v", tc.reason, got, err)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string][2]bool{ // licence, notice
		"LICENSE": {true, false}, "LICENCE.txt": {true, false}, "LICENSE-APACHE": {true, false}, "license.md": {true, false}, "COPYING": {true, false}, "UNLICENSE": {true, false},
		"NOTICE": {false, true}, "NOTICE.txt": {false, true}, "README.md": {false, false}, "licenses": {false, false}, "licensed_feature": {false, false},
	} {
		if got := [2]bool{licenceName.MatchString(name), noticeName.MatchString(name)}; got != want {
			t.Errorf("%s: licence %t, notice %t", name, got[0], got[1])
		}
	}
}

// TestWrite: a text that two modules share is there once, with both.
func TestWrite(t *testing.T) {
	text := string(Write("First.\n", []Module{
		{Path: "a.example/a", Version: "v1.0.0", Licences: []string{"MIT"}, Files: []File{{Name: "LICENSE", Text: "same text"}}},
		{Path: "b.example/b", Version: "v2.0.0", Licences: []string{"Apache-2.0", "MIT"}, Files: []File{{Name: "LICENSE", Text: "same text"}, {Name: "sub/NOTICE", Text: "by B"}}},
	}))
	for _, want := range []string{"First.\n", "a.example/a v1.0.0", "Apache-2.0, MIT\n", "a.example/a (LICENSE)\nb.example/b (LICENSE)\n", "b.example/b (sub/NOTICE)\n", "\nby B\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the notices lack %q:\n%s", want, text)
		}
	}
	if strings.Count(text, "same text") != 1 {
		t.Errorf("a text is repeated:\n%s", text)
	}
}
