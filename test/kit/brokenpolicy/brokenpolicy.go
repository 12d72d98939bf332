// Package brokenpolicy has contents of policies that no controller can load, by row of
// the table "When something fails" in docs/security.md, with what their author is told.
//
// Not here: policies that load, and fail when they are asked.
package brokenpolicy

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/load"
)

// Kind is a policy with one hook. Failure "" is the hook's default.
type Kind struct {
	Hook    policy.Hook
	Failure policy.FailurePolicy
}

// Contents are the files of a policy's ConfigMap.
type Contents struct {
	Data   map[string]string
	Binary map[string][]byte
}

// Revision is contents that cannot be loaded.
type Revision struct {
	Contents

	// Name differs from those of the other revisions of the row.
	Name string
	// Says is in what the author is told: the place, and the right word where one is near.
	Says string
}

// ConfigMap returns the contents as a labelled ConfigMap.
func (c Contents) ConfigMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{karpv1.LabelPolicy: "true"}},
		Data:       c.Data, BinaryData: c.Binary,
	}
}

// Good returns a Rego policy of the kind that loads. It refuses whatever it is asked.
func (k Kind) Good() Contents { return k.Rego(k.code()) }

// Rego returns a policy of the kind with these rules, which are line 3 of p.rego, and
// further lines of policy.yaml.
func (k Kind) Rego(rules string, lines ...string) Contents {
	return Contents{Data: map[string]string{"policy.yaml": k.Manifest(lines...), "p.rego": "package spokeshave." + string(k.Hook) + "\n\n" + rules + "\n"}}
}

// Wasm returns a policy of the kind with a module, and further lines of policy.yaml.
func (k Kind) Wasm(module []byte, lines ...string) Contents {
	return Contents{Data: map[string]string{"policy.yaml": k.Manifest(lines...)}, Binary: map[string][]byte{"module.wasm": module}}
}

// Manifest returns a policy.yaml of the kind. Further lines begin with line 3.
func (k Kind) Manifest(lines ...string) string {
	return k.withHooks("hooks: ["+string(k.Hook)+"]", lines...)
}

func (k Kind) withHooks(hooks string, lines ...string) string {
	all := append([]string{"apiVersion: " + load.APIVersion, hooks}, lines...)
	if k.Failure != "" {
		all = append(all, "failurePolicy: "+string(k.Failure))
	}
	return strings.Join(all, "\n") + "\n"
}

func (k Kind) code() string {
	switch k.Hook {
	case policy.HookRank:
		return `exclude contains "refused" if input.offering.billed >= 0`
	case policy.HookConsolidate:
		return `deny contains "refused" if input.candidate.pods >= 0`
	case policy.HookCeiling:
		return `cap["cluster"] := {"hourly_usd": 0}`
	}
	return ""
}

// settings returns a revision with good code and this policy.yaml.
func (k Kind) settings(name, manifest, says string) Revision {
	c := k.Good()
	c.Data["policy.yaml"] = manifest
	return Revision{Contents: c, Name: name, Says: says}
}

// field returns a revision with good code and one more line in its policy.yaml.
func (k Kind) field(name, line, says string) Revision {
	return k.settings(name, k.Manifest(line), "policy.yaml:3:"+says)
}

// rules returns a revision with a good policy.yaml and these Rego rules.
func (k Kind) rules(name, rules, says string) Revision {
	return Revision{Contents: k.Rego(rules), Name: name, Says: says}
}

// files returns a revision with these files instead of its code.
func (k Kind) files(name, manifest, says string, binary map[string][]byte, data ...string) Revision {
	c := Contents{Data: map[string]string{"policy.yaml": manifest}, Binary: binary}
	for i := 0; i+1 < len(data); i += 2 {
		c.Data[data[i]] = data[i+1]
	}
	return Revision{Contents: c, Name: name, Says: says}
}
