package main

import (
	"io"
	"strings"
	"testing"
)

// TestStopIsChecked: the API server would refuse such hooks only once everything has been built and started.
func TestStopIsChecked(t *testing.T) {
	for name, stop := range map[string]string{"longer than the grace period": "31s", "no whole seconds": "500ms", "negative": "-1s"} {
		c := command()
		c.SetArgs([]string{"--stop=" + stop})
		c.SetOut(io.Discard)
		if err := c.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "--stop "+stop) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
