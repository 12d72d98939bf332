package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/test/kit/controlplane"
)

// TestRefused: the words are those of an API server; a namespace that ends and a pod that
// got its node in the meantime are no matter of permissions.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := &Stack{Cluster: &controlplane.Cluster{Dir: dir}}
	if _, err := s.Refused(); err == nil {
		t.Error("there is no log, and no error")
	}
	const (
		role  = `{"err":"configmaps \"x\" is forbidden: User \"system:serviceaccount:spokeshave:spokeshave\" cannot delete resource \"configmaps\" in API group \"\" in the namespace \"kube-system\""}`
		fence = `{"err":"configmaps \"x\" is forbidden: ValidatingAdmissionPolicy 'spokeshave-spokeshave-configmaps' with binding 'spokeshave-spokeshave-configmaps' denied request: no"}`
		bound = `{"refused":"pods \"x\" is forbidden: ValidatingAdmissionPolicy 'spokeshave-spokeshave-pods' with binding 'spokeshave-spokeshave-pods' denied request: a pod that has a node is not changed any more"}`
		ends  = `{"err":"events \"x\" is forbidden: unable to create new content in namespace a because it is being terminated"}`
	)
	for name, text := range map[string]string{"controller.log": role + "\n" + ends + "\n" + bound, "controller-2.log": fence, "etcd.log": role} {
		if err := os.WriteFile(filepath.Join(dir, "logs", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Refused()
	if diff := cmp.Diff([]string{fence, role}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
