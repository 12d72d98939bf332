package scenario

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func takeQuickstart(t *testing.T) *Taken {
	t.Helper()
	o, err := Read("../../../examples/quickstart")
	if err != nil {
		t.Fatal(err)
	}
	o.Policies = append(o.Policies, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "spokeshave", Name: "p"}})
	taken, err := o.Take(Options{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	if err := taken.SetDigest(); err != nil {
		t.Fatal(err)
	}
	return taken
}

// TestTaken: a snapshot that is written and read again is equal, policies included, in
// plain JSON and in gzip.
func TestTaken(t *testing.T) {
	taken := takeQuickstart(t)
	for name, write := range map[string]func(io.Writer) error{"packed": taken.WriteCompressed, "plain": taken.WriteJSON} {
		t.Run(name, func(t *testing.T) {
			var file bytes.Buffer
			if err := write(&file); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "cluster.json.gz")
			if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			o, err := Read(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := o.Snapshot(Options{Time: time.Now(), Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if digest, err := got.Digest(); err != nil || digest != taken.Digest || len(o.Warnings) > 0 {
				t.Errorf("digest %s, want %s (%v), %v", digest, taken.Digest, err, o.Warnings)
			}
			if len(o.Policies) != 1 || o.Policies[0].Name != "p" {
				t.Errorf("policies %v", o.Policies)
			}
			if diff := cmp.Diff(taken.NodeCosts, o.Taken.NodeCosts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTakenRefused(t *testing.T) {
	var file bytes.Buffer
	if err := takeQuickstart(t).WriteJSON(&file); err != nil {
		t.Fatal(err)
	}
	good := file.String()
	pod := "\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
	cases := map[string]struct{ reason, text, want string }{
		"two":     {"one file stands for one cluster", good + "\n---\n" + good, "a second Snapshot: the first stands at cluster.json:1"},
		"mixed":   {"what was lowered cannot be added to", good + pod, "the 1 other objects among the manifests cannot be added to it"},
		"index":   {"an index out of range would stop the core", strings.Replace(good, `"spec":0`, `"spec":99999`, 1), ".spec is 99999, of "},
		"unknown": {"a newer form is not half read", strings.Replace(good, `"seed":`, `"sead":`, 1), `unknown field "snapshot.sead"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := &Objects{}
			err := o.Parse("cluster.json", []byte(tc.text))
			if err == nil {
				_, err = o.Snapshot(Options{})
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "cluster.json:") {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
	o := &Objects{}
	if err := o.Parse("cluster.json", []byte(strings.Replace(good, `"seed":7`, `"seed":8`, 1))); err != nil {
		t.Fatal(err)
	}
	if len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0].Message, "was changed after it was taken") {
		t.Errorf("an edited file: %v", o.Warnings)
	}
}
