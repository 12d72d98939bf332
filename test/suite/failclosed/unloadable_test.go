package failclosed

import (
	"maps"
	"slices"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/test/kit/brokenpolicy"
)

// unloadable are the rows of policies that cannot be loaded, or are not there.
func unloadable() rows {
	out := rows{
		"any of these, after a good version": func(k brokenpolicy.Kind) []setting {
			var all []setting
			for _, in := range broken(k) {
				in.revisions = slices.Concat(one(k.Good()), in.revisions)
				all = append(all, in)
			}
			return all
		},
		"it is required, and missing or in mode `Shadow`": func(k brokenpolicy.Kind) []setting {
			shadow := k.Rego(rule(k.Hook, zero(k.Hook)+" == 0"), "mode: Shadow")
			return []setting{{name: "missing", required: []string{"p"}}, {name: "shadow", required: []string{"p"}, revisions: one(shadow)}}
		},
	}
	for row := range (brokenpolicy.Kind{}).Rows() {
		out[row] = func(k brokenpolicy.Kind) []setting { return revisions(k, row) }
	}
	return out
}

// revisions returns a setting for each broken revision of a row.
func revisions(k brokenpolicy.Kind, row string) []setting {
	var out []setting
	for _, r := range k.Rows()[row] {
		out = append(out, setting{name: r.Name, revisions: one(r.Contents)})
	}
	return out
}

// broken returns a setting for each broken revision of all rows.
func broken(k brokenpolicy.Kind) []setting {
	var out []setting
	for _, row := range slices.Sorted(maps.Keys(k.Rows())) {
		for _, in := range revisions(k, row) {
			in.name = row + " " + in.name
			out = append(out, in)
		}
	}
	return out
}

// plugins are the rows of policies in a plugin namespace.
func plugins() rows {
	mine := policy.Scope{}
	return rows{
		"any of these, about NodePools of others": func(k brokenpolicy.Kind) []setting {
			return inTeam(slices.Concat(broken(k), asked(k)), mine, "")
		},
		"any of these, with a hook that is not permitted": func(k brokenpolicy.Kind) []setting {
			other := map[policy.Hook]policy.Hook{policy.HookRank: policy.HookConsolidate, policy.HookConsolidate: policy.HookRank, policy.HookCeiling: policy.HookRank}
			return inTeam(slices.Concat(broken(k), asked(k)), policy.Scope{Hooks: []policy.Hook{other[k.Hook]}}, team)
		},
		"its hooks cannot be read":    func(k brokenpolicy.Kind) []setting { return inTeam(hidden(k), mine, team) },
		"it is broken in another way": func(k brokenpolicy.Kind) []setting { return inTeam(plain(k), mine, team) },
		"it fails when it is asked":   func(k brokenpolicy.Kind) []setting { return inTeam(asked(k), mine, team) },
		"one of these two, and `failClosed` is permitted": func(k brokenpolicy.Kind) []setting {
			return inTeam(slices.Concat(plain(k), asked(k)), policy.Scope{FailClosed: true}, team)
		},
	}
}

// inTeam moves policies to a plugin namespace.
func inTeam(all []setting, scope policy.Scope, given string) []setting {
	for i := range all {
		all[i].namespace, all[i].scope, all[i].given = team, scope, given
		if given != team { // it is not asked
			all[i].fault = ""
		}
	}
	return all
}

// hidden are revisions of which no hook can be read.
func hidden(k brokenpolicy.Kind) []setting {
	out := slices.Concat(revisions(k, "`policy.yaml` is missing"), revisions(k, "`policy.yaml` is no YAML, or has a field twice"),
		revisions(k, "`hooks` is missing or empty"), revisions(k, "a hook is unknown"))
	return slices.DeleteFunc(out, func(in setting) bool { return in.name == "of several" })
}

// plain are revisions whose hook and failurePolicy can be read.
func plain(k brokenpolicy.Kind) []setting {
	out := revisions(k, "a hook is unknown")[:1]
	for _, row := range []string{
		"`hooks` is a word in place of a list", "another field is wrong", "the code does not compile", "the code is missing",
		"the module of a Wasm policy is missing, or another one",
	} {
		out = append(out, revisions(k, row)...)
	}
	return out
}

// asked are policies that load, and fail when they are asked.
func asked(k brokenpolicy.Kind) []setting {
	var out []setting
	for row, of := range faults() {
		if row == "it traps, and its caps are known" || row == "it traps, its caps are known, and it may refuse launches" {
			continue // of ceilings, which there are none of
		}
		for _, in := range of(k) {
			in.name = row + " " + in.name
			out = append(out, in)
		}
	}
	return out
}
