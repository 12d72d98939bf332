package chart

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestPages: every helm command of the pages that tell how to install renders, with the
// values as they are written there.
func TestPages(t *testing.T) {
	h := newHelm(t)
	found := 0
	for _, name := range []string{"docs/install.md", "docs/migrate/from-karpenter.md", "docs/migrate/from-cluster-autoscaler.md", "docs/migrate/from-auto-mode.md"} {
		text, err := os.ReadFile(filepath.Join("../../..", name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			command := strings.TrimSpace(line)
			if strings.HasPrefix(line, "    ") && (strings.HasPrefix(command, "helm install ") || strings.HasPrefix(command, "helm upgrade ")) {
				found++
				t.Run(name, func(t *testing.T) { h.rendersCommand(t, command) })
			}
		}
	}
	if found < 5 {
		t.Errorf("%d commands were found, want at least 5", found)
	}
}

func (h helm) rendersCommand(t *testing.T, command string) {
	t.Helper()
	file := values(t, "settings: {clusterName: shop}\n")
	release := stamped(t)
	command = strings.NewReplacer("oci://$REGISTRY/charts/spokeshave-crds --version $VERSION", crdsDir, "oci://$REGISTRY/charts/spokeshave --version $VERSION", release, "$TAG", "v9", "$CLUSTER", "shop", "$CHART", chartDir, "charts/spokeshave", chartDir, "$REGISTRY", "registry.example", "$ACCOUNT", "111122223333",
		"--values values.yaml", "--values "+file, "--reuse-values", "--values "+file, "helm install", "template", "helm upgrade", "template").Replace(command)
	args := strings.Fields(command)
	if slices.Contains(args, crdsDir) {
		if objs := parse(t, h.must(t, args...)); len(objs) != 3 {
			t.Errorf("%s: %d definitions", command, len(objs))
		}
		return
	}
	objs := parse(t, h.must(t, args...))
	account := get[corev1.ServiceAccount](t, objs, "ServiceAccount/spokeshave/spokeshave")
	if strings.Contains(command, "role-arn") != (account.Annotations["eks.amazonaws.com/role-arn"] == "arn:aws:iam::111122223333:role/SpokeshaveController-shop") {
		t.Errorf("%s: the service account has the annotations %v", command, account.Annotations)
	}
}
