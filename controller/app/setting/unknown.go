package setting

import (
	"maps"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/spelling"
)

// Bounds of what looks like a misspelt variable. Most variables of a container belong to
// others.
const (
	// mostChanges is how many letters may differ from a known variable.
	mostChanges = 2
	// leastLength is the least length of a name that is compared, in letters.
	leastLength = 8
)

// unknown returns findings about environment variables that look like settings and are
// none.
func (in *Input) unknown() []Finding {
	known := map[string]bool{}
	for _, flag := range in.Known {
		known[FlagVariable(flag)] = true
	}
	for _, s := range inapplicable() {
		known[s.Variable] = true
	}
	names := slices.Sorted(maps.Keys(known))
	var out []Finding
	for name, value := range in.Environment {
		if known[name] || value == "" || ofService(name) {
			continue
		}
		if why, ok := otherVersions()[name]; ok {
			out = append(out, Finding{Kind: NotApplicable, Source: Variable, Name: name, Value: value, Message: why})
			continue
		}
		if near := misspelt(name, names); near != "" {
			out = append(out, Finding{Kind: Unknown, Source: Variable, Name: name, Nearest: near, Message: "no setting: did you mean " + near + "?"})
		} else if strings.HasPrefix(name, "KARPENTER_") {
			out = append(out, Finding{Kind: Unknown, Source: Variable, Name: name, Message: "no setting of this controller"})
		}
	}
	return out
}

// misspelt returns the variable that a name may have been meant for, "" for none.
func misspelt(name string, known []string) string {
	if len(name) < leastLength || !strings.Contains(name, "_") {
		return ""
	}
	near := spelling.Nearest(name, known)
	if near != "" && (spelling.Distance(name, near) <= mostChanges || strings.HasPrefix(near, name+"_")) {
		return near
	}
	return ""
}

// ofService reports whether a variable is one of those by which Kubernetes tells pods of
// Services, such as KARPENTER_SERVICE_HOST and KARPENTER_PORT_8080_TCP.
func ofService(name string) bool {
	return strings.HasSuffix(name, "_SERVICE_HOST") || strings.Contains(name, "_SERVICE_PORT") || strings.HasSuffix(name, "_PORT") || strings.Contains(name, "_PORT_")
}
