package v1

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// TestAmounts: amounts that the API server's schema lets pass are all read, one by one.
func TestAmounts(t *testing.T) {
	t.Parallel()
	for text, test := range map[string]struct{ want, why string }{
		"100":                      {"100", "a number"},
		`"100m"`:                   {"100m", "a text"},
		`"1e-99999999"`:            {"1n", "the smallest amount, without computing a hundred million digits"},
		`"1e99999999"`:             {"1e999", "more than there is of anything"},
		`"16E3311111336"`:          {"16e999", "beyond int32"},
		`"16E3311111336 "`:         {"16e999", "a space behind it"},
		`"1e1.5"`:                  {"-1", "the schema lets it pass, the library does not read it"},
		`"99999999999999999999Ei"`: {"9223372036854775807", "the largest with a binary suffix"},
	} {
		var pool NodePool
		if err := yaml.Unmarshal([]byte("spec: {limits: {cpu: "+text+", memory: 1Gi}}"), &pool); err != nil {
			t.Errorf("%s (%s): %v", text, test.why, err)
			continue
		}
		cpu, memory := pool.Spec.Limits["cpu"], pool.Spec.Limits["memory"]
		if cpu.Cmp(resource.MustParse(test.want)) != 0 || memory.String() != "1Gi" {
			t.Errorf("%s (%s): got %v and %v, want %s and 1Gi", text, test.why, &cpu, &memory, test.want)
		}
		var claim NodeClaim
		text := "{spec: {resources: {requests: {cpu: " + text + "}}}, status: {capacity: {cpu: " + text + "}, allocatable: {cpu: " + text + "}}}"
		if err := yaml.Unmarshal([]byte(text), &claim); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	var pool NodePool
	if err := yaml.Unmarshal([]byte("spec: {limits: null}"), &pool); err != nil || pool.Spec.Limits != nil {
		t.Errorf("no limits: %v, %v", pool.Spec.Limits, err)
	}
	if err := yaml.Unmarshal([]byte("spec: {limits: [cpu]}"), &pool); err == nil {
		t.Error("a list was read as limits")
	}
}
