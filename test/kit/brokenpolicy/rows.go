package brokenpolicy

import (
	"strings"

	"spokeshave.dev/controller/core/policy"
)

// misspelt returns the hook's name with letters exchanged, missing or added.
func misspelt(h policy.Hook) string {
	return map[policy.Hook]string{policy.HookRank: "rnak", policy.HookConsolidate: "conslidate", policy.HookCeiling: "celiing"}[h]
}

// Rows returns the revisions of a kind by row of the table.
func (k Kind) Rows() map[string][]Revision {
	hook := string(k.Hook)
	known := "rank, consolidate, ceiling"
	bare := k.Good()
	delete(bare.Data, "policy.yaml")
	wrong := Kind{k.Hook, "Panic"}
	return map[string][]Revision{
		"`policy.yaml` is missing": {{Contents: bare, Name: "no file", Says: "policy.yaml is missing; it names the hooks"}},
		"`policy.yaml` is no YAML, or has a field twice": {
			k.settings("a brace", k.withHooks("hooks: {"), "policy.yaml:2:1: "),
			k.settings("a tab", k.withHooks("hooks:\n\t- "+hook), "policy.yaml:3:1: "),
			k.settings("a list", "- hooks\n", "policy.yaml:1:1: want a mapping of apiVersion, "),
			k.settings("twice", k.Manifest("hooks: ["+hook+"]"), "policy.yaml:3:1: hooks is there twice, first in line 2"),
		},
		"`hooks` is missing or empty": {
			k.settings("missing", strings.Replace(k.Manifest(), "hooks:", "#", 1), "policy.yaml:1:1: hooks: name at least one of "+known),
			k.settings("empty", k.withHooks("hooks: []"), "policy.yaml:2:8: hooks: name at least one of "+known),
			k.settings("another case", k.withHooks("Hooks: ["+hook+"]"), `policy.yaml:2:1: unknown field "Hooks": did you mean hooks?`),
		},
		"a hook is unknown": {
			k.settings("of several", k.withHooks("hooks: ["+hook+", dance]"), `hooks: "dance" is not one of `+known),
			k.settings("the only one", k.withHooks("hooks: ["+misspelt(k.Hook)+"]"),
				`policy.yaml:2:9: hooks: "`+misspelt(k.Hook)+`" is not one of `+known+": did you mean "+hook+"?"),
		},
		"`hooks` is a word in place of a list": {
			k.settings("a word", k.withHooks("hooks: "+hook), "policy.yaml:2:8: hooks: want a list: hooks: ["+hook+"]"),
		},
		"`failurePolicy` is unknown": {
			k.settings("a word", wrong.Manifest(), `policy.yaml:3:16: failurePolicy: "Panic" is not one of Fail, Ignore`),
			k.settings("misspelt", Kind{k.Hook, "Ignroe"}.Manifest(), `policy.yaml:3:16: failurePolicy: "Ignroe" is not one of Fail, Ignore: did you mean Ignore?`),
		},
		"`failurePolicy` is a misspelt `Fail`": {
			k.settings("misspelt", Kind{k.Hook, "Fial"}.Manifest(), `policy.yaml:3:16: failurePolicy: "Fial" is not one of Fail, Ignore: did you mean Fail?`),
			k.settings("another case", Kind{k.Hook, "fail"}.Manifest(), `policy.yaml:3:16: failurePolicy: "fail" is not one of Fail, Ignore: did you mean Fail?`),
		},
		"another field is wrong": k.fields(),
		"the code does not compile": {
			k.rules("no Rego", `x := {`, "p.rego:"),
			k.rules("an input that is not there", strings.Replace(k.code(), "input.", "input.other.", 1)+"\nx := input.other.y", "p.rego:"),
			k.rules("no rule of the hook", `x := 1`, "defines none of its rules"),
			k.files("no WebAssembly", k.Manifest(), "not a WebAssembly 1.0 module", map[string][]byte{"module.wasm": []byte("no module")}),
			k.files("no policy", k.Manifest(), "exports no", map[string][]byte{"module.wasm": []byte("\x00asm\x01\x00\x00\x00")}),
		},
		"the code is missing": {
			k.files("no code", k.Manifest(), "the policy has no code: add *.rego files, module.wasm", nil),
			k.files("another name", k.Manifest(), "code.txt: a policy has policy.yaml, *.rego, ", nil, "code.txt", k.code()),
		},
		"the module of a Wasm policy is missing, or another one": {
			k.files("missing", k.Manifest("engine: wasm"), "the policy has no code: add *.rego files, module.wasm", nil),
			k.files("Rego in its place", k.Manifest("engine: wasm"), `engine "wasm", but the files are for rego`, nil, "p.rego", k.Good().Data["p.rego"]),
			k.files("another one", k.Manifest("sha256: "+strings.Repeat("ab", 32)), "sha256 is abab", map[string][]byte{"module.wasm": []byte("\x00asm\x01\x00\x00\x00")}),
			k.files("no gzip", k.Manifest(), "module.wasm.gz: ", map[string][]byte{"module.wasm.gz": []byte("no gzip")}),
		},
	}
}

// fields are the revisions with a field that is wrong and is none of those that say what
// a failure affects.
func (k Kind) fields() []Revision {
	return []Revision{
		k.field("priority", "priority: high", "11: priority: want a whole number, not string"),
		k.field("unknown", "priorty: 1", `1: unknown field "priorty": did you mean priority?`),
		k.field("mode", "mode: Enforc", `7: mode: "Enforc" is not one of Enforce, Shadow: did you mean Enforce?`),
		k.field("engine", "engine: rgeo", `9: engine: "rgeo" is not one of rego, wasm: did you mean rego?`),
		k.field("match", "match: {nodePool: [a]}", `9: match: unknown field "nodePool": did you mean nodePools?`),
		k.field("pattern", "match: {nodePools: ['[']}", `20: match.nodePools: "[" is not a pattern`),
		k.field("amount", "limits: {fuel: much}", `16: limits.fuel: `),
		k.field("limit", "limits: {deadlin: 5ms}", `10: limits: unknown field "deadlin": did you mean deadline?`),
		k.settings("apiVersion", strings.Replace(k.Manifest(), "v1alpha1", "v2", 1),
			`policy.yaml:1:13: apiVersion: "policy.spokeshave.dev/v2": this controller knows policy.spokeshave.dev/v1alpha1`),
	}
}
