package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/test/kit/brokenpolicy"
)

// writeFolder writes a policy's folder, and returns its path.
func writeFolder(t *testing.T, c brokenpolicy.Contents) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "p")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	maps.Copy(files, c.Binary)
	for name, text := range c.Data {
		files[name] = []byte(text)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// writeManifest writes a policy's ConfigMap, and returns its path.
func writeManifest(t *testing.T, c brokenpolicy.Contents) string {
	t.Helper()
	text, err := json.Marshal(c.ConfigMap("spokeshave", "p"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "p.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPushRefuses: push sends nothing that the table in docs/security.md says cannot be
// loaded, from a folder or a manifest, and says where and why. There is no cluster: what
// is sent ends with exit code 2.
func TestPushRefuses(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	refused := func(t *testing.T, path, says string) {
		t.Helper()
		if code, _, stderr := command(t, "policy", "push", path); code != exitRefused || !strings.Contains(stderr, says) {
			t.Errorf("exit %d: %s\nwant exit %d: %s", code, strings.TrimSpace(stderr), exitRefused, says)
		}
	}
	for _, hook := range []policy.Hook{policy.HookRank, policy.HookConsolidate, policy.HookCeiling} {
		k := brokenpolicy.Kind{Hook: hook}
		for _, path := range []string{writeFolder(t, k.Good()), writeManifest(t, k.Good())} {
			if code, _, stderr := command(t, "policy", "push", path); code != exitUnread {
				t.Errorf("%s: what loads is not sent: exit %d: %s", hook, code, stderr)
			}
		}
		all := k.Rows()
		for _, row := range slices.Sorted(maps.Keys(all)) {
			for _, r := range all[row] {
				t.Run(string(hook)+"/"+row+"/"+r.Name, func(t *testing.T) {
					refused(t, writeManifest(t, r.Contents), r.Says)
					if _, other := r.Data["code.txt"]; other { // a folder may have files that belong to no policy
						r.Says = "the policy has no code"
					}
					refused(t, writeFolder(t, r.Contents), r.Says)
				})
			}
		}
	}
}
