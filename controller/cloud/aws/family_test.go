package aws_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/core/model"
)

// Windows classes sell Windows nodes, with their build and their licence.
func TestWindowsCatalogue(t *testing.T) {
	w := newEC2(t)
	for alias, build := range map[string]string{
		"windows2019@latest": "10.0.17763", "windows2022@latest": "10.0.20348", "windows2025@latest": "10.0.26100",
	} {
		name, _, _ := strings.Cut(alias, "@")
		class := w.class(t, name, awsv1.AMISelectorTerm{Alias: alias})
		if len(class.Status.AMIs) != 1 {
			t.Fatalf("%s: images %+v, want one", alias, class.Status.AMIs)
		}
		linux, windows := w.catalog(t, "default"), w.catalog(t, name)
		l, m := find(t, &linux, "m7i.large"), find(t, &windows, "m7i.large")
		if m.OS != "windows" || m.Labels[corev1.LabelOSStable] != "windows" || m.Labels[corev1.LabelWindowsBuild] != build {
			t.Errorf("%s: OS %s, labels %v", alias, m.OS, m.Labels)
		}
		if m.Capacity[model.PodSlots] != 110 || m.Allocatable["vpc.amazonaws.com/PrivateIPv4Address"] != 9 {
			t.Errorf("%s: %v, want 110 pods and 9 addresses", alias, m.Capacity)
		}
		if got := m.Offerings[0].Price - l.Offerings[0].Price; got != model.PriceOf(0.092) {
			t.Errorf("%s: the licence of 2 vCPUs costs %v, want 0.092", alias, got)
		}
		for i := range windows.Types {
			if windows.Types[i].Arch != "amd64" {
				t.Errorf("%s sells %s, which is %s", alias, windows.Types[i].Name, windows.Types[i].Arch)
			}
		}
		s := spec(name, option("m7i.large", "us-west-2a", model.OnDemand))
		s.NodeClass = name
		if _, err := w.provider.Launch(t.Context(), w.prepare(t, s)); err != nil {
			t.Errorf("%s: %v", alias, err)
		}
	}
}
