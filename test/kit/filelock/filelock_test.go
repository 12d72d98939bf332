package filelock

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestTake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var log strings.Builder
	release, err := Take(t.Context(), path, &log)
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Take(cancelled, path, &log); !errors.Is(err, context.Canceled) {
		t.Errorf("lock what is locked = %v, want to wait until cancelled", err)
	}
	release()
	release, err = Take(t.Context(), path, &log)
	if err != nil {
		t.Fatalf("lock what was released: %v", err)
	}
	release()
}
