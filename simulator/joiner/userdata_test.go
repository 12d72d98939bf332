package joiner

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestReadUserData(t *testing.T) {
	taints := []corev1.Taint{
		{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute},
		{Key: "dedicated", Value: "web", Effect: corev1.TaintEffectNoSchedule},
	}
	labels := map[string]string{"karpenter.sh/nodepool": "general", "team": "shaves"}
	const config = `apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: spokes}
  kubelet:
    config: {maxPods: 58, evictionHard: {memory.available: 5%}}
    flags:
    - --node-labels=karpenter.sh/nodepool=general,team=shaves
    - --register-with-taints=karpenter.sh/unregistered=:NoExecute,dedicated=web:NoSchedule
`
	pods := func(n int) *int { return &n }
	for name, tc := range map[string]struct {
		reason string
		text   string
		want   boot
	}{
		"NodeConfig": {
			reason: "nodeadm reads it as it is", text: config,
			want: boot{cluster: "spokes", labels: labels, taints: taints, maxPods: pods(58), evictionHard: map[string]string{"memory.available": "5%"}},
		},
		"quoted flags": {
			reason: "Karpenter quotes its labels, and systemd takes the quotes off",
			text:   "kind: NodeConfig\nspec:\n  kubelet:\n    flags:\n    - --node-labels=\"karpenter.sh/nodepool=general,team=shaves\"\n    - --max-pods='9'\n",
			want:   boot{labels: labels, maxPods: pods(9)},
		},
		"archive": {
			reason: "a later NodeConfig wins, scripts say nothing of kubelet",
			text: "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: application/node.eks.aws\n\n" + config +
				"--//\nContent-Type: application/node.eks.aws\n\nkind: NodeConfig\nspec:\n  kubelet:\n    config: {maxPods: 42}\n  instance: {localStorage: {strategy: RAID0}}\n" +
				"--//\nContent-Type: text/x-shellscript\n\n#!/bin/bash\necho hello\n--//--\n",
			want: boot{cluster: "spokes", labels: labels, taints: taints, maxPods: pods(42), raid0: true, evictionHard: map[string]string{"memory.available": "5%"}},
		},
		"registerWithTaints": {
			reason: "taints may be kubelet configuration",
			text:   "kind: NodeConfig\nspec:\n  kubelet:\n    config:\n      registerWithTaints:\n      - {key: a, value: b, effect: NoSchedule}\n",
			want:   boot{labels: map[string]string{}, taints: []corev1.Taint{{Key: "a", Value: "b", Effect: corev1.TaintEffectNoSchedule}}},
		},
		"Bottlerocket": {
			reason: "settings in TOML",
			text: "[settings.kubernetes]\ncluster-name = 'spokes'\nmax-pods = 58\n[settings.kubernetes.node-labels]\n'karpenter.sh/nodepool' = 'general'\nteam = 'shaves'\n" +
				"[settings.kubernetes.node-taints]\n'karpenter.sh/unregistered' = [':NoExecute']\n",
			want: boot{cluster: "spokes", labels: labels, taints: taints[:1], maxPods: pods(58), bottlerocket: true},
		},
		"Bottlerocket RAID0": {
			reason: "local disks hold pods' data once they are mounted, not when they are joined",
			text: "[settings.bootstrap-commands.a]\ncommands = [['apiclient', 'ephemeral-storage', 'init'], ['apiclient', 'ephemeral-storage', 'bind', '--dirs', '/var/lib/kubelet']]\n" +
				"[settings.kubernetes]\ncluster-name = 'spokes'\n",
			want: boot{cluster: "spokes", labels: map[string]string{}, raid0: true, bottlerocket: true},
		},
		"Bottlerocket, disks joined alone": {
			reason: "nothing is mounted",
			text:   "[settings.bootstrap-commands.a]\ncommands = [['apiclient', 'ephemeral-storage', 'init']]\n",
			want:   boot{labels: map[string]string{}, bottlerocket: true},
		},
		"script with disks": {
			reason: "AL2's bootstrap script joins and mounts", text: "#!/bin/bash\n/etc/eks/bootstrap.sh spokes --local-disks raid0",
			want: boot{labels: map[string]string{}, raid0: true},
		},
		"script": {
			reason: "AL2's bootstrap script",
			text:   "#!/bin/bash\n/etc/eks/bootstrap.sh spokes --kubelet-extra-args '--node-labels=karpenter.sh/nodepool=general,team=shaves --register-with-taints=karpenter.sh/unregistered:NoExecute --max-pods=9'",
			want:   boot{labels: labels, taints: taints[:1], maxPods: pods(9)},
		},
		"empty": {reason: "a node without anything", text: "", want: boot{labels: map[string]string{}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readUserData(tc.text)
			if err != nil {
				t.Fatalf("%v: %s", err, tc.reason)
			}
			for _, m := range []*map[string]string{&got.kubeReserved, &got.systemReserved, &got.evictionHard} {
				if len(*m) == 0 {
					*m = nil
				}
			}
			if diff := cmp.Diff(&tc.want, got, cmp.AllowUnexported(boot{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReadUserDataRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"taint without effect": "kind: NodeConfig\nspec: {kubelet: {flags: [--register-with-taints=a=b]}}",
		"unknown effect":       "kind: NodeConfig\nspec: {kubelet: {flags: ['--register-with-taints=a=b:Never']}}",
		"not a number":         "kind: NodeConfig\nspec: {kubelet: {flags: [--max-pods=many]}}",
		"broken TOML":          "[settings.kubernetes\n",
		"broken YAML":          "kind: [",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := readUserData(text); err == nil {
				t.Errorf("read as %+v, want an error", got)
			}
		})
	}
}

func FuzzReadUserData(f *testing.F) {
	f.Add("kind: NodeConfig\nspec: {kubelet: {flags: [--node-labels=a=b]}}")
	f.Add("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\n\nx\n--//--")
	f.Add("[settings.kubernetes]\nmax-pods = 5")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := readUserData(text)
		if err != nil {
			return
		}
		for _, taint := range b.taints {
			if taint.Effect == "" && len(b.taints) > 0 && taint.Key == "" {
				t.Errorf("an empty taint was read from %q", text)
			}
		}
		_, _ = b.options()
	})
}
