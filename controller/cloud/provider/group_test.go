package provider_test

import (
	"testing"

	"spokeshave.dev/controller/cloud/provider"
)

func TestParseGroup(t *testing.T) {
	for text, want := range map[string]provider.Group{
		"d7-0/200": {Name: "d7-0", Size: 200}, "a/b/1": {Name: "a/b", Size: 1},
		"": {}, "/3": {}, "d7": {}, "d7/": {}, "d7/0": {}, "d7/-1": {}, "d7/many": {},
	} {
		got := provider.ParseGroup(text)
		if got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
		if got.Size > 0 && got.String() != text {
			t.Errorf("%+v is written %q, want %q", got, got.String(), text)
		}
	}
}
