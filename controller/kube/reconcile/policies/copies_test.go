package policies

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/policy/load"
)

// FuzzCopies: a copy of any policy has the policy's contents, and a number that is above that of
// every copy before, whatever somebody wrote on that one.
func FuzzCopies(f *testing.F) {
	f.Add("hooks: [rank]", []byte("\x00asm"), "1")
	f.Add("", []byte{0xff, 0xfe}, "9223372036854775807")
	f.Add("a", []byte("text"), "-9223372036854775808")
	f.Add("a", []byte("text"), "07")
	f.Fuzz(func(t *testing.T, manifest string, module []byte, number string) {
		before := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{annotationCopy: number}}}
		last := copyNumber(before)
		r := &Reconciler{Namespace: "spokeshave"}
		files := map[string][]byte{"policy.yaml": []byte(manifest), "module.wasm": module}
		next := r.newCopy(load.Key{Namespace: "a", Name: "b"}, "hash", files, last+1)
		if got := copyNumber(next); last < 0 || got <= last {
			t.Errorf("copy %d follows copy %d, which is named %q", got, last, number)
		}
		got := map[string][]byte{}
		for name, text := range next.Data {
			got[name] = []byte(text)
		}
		maps.Copy(got, next.BinaryData)
		if diff := cmp.Diff(files, got); diff != "" {
			t.Errorf("-policy +copy\n%s", diff)
		}
	})
}
