package setting

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/spelling"
)

// Kind says what is the matter with a setting.
type Kind string

// The kinds of findings.
const (
	// NotApplicable is a setting of Karpenter that is accepted and has no effect.
	NotApplicable Kind = "NotApplicable"
	// Unknown is a name that is no setting, although it looks like one.
	Unknown Kind = "Unknown"
)

// Source says where a setting stands.
type Source string

// The sources.
const (
	Flag        Source = "flag"
	Variable    Source = "environment variable"
	FeatureGate Source = "feature gate"
	ChartValue  Source = "value"
)

// Finding is what there is to say about one setting.
type Finding struct {
	Kind   Kind   `json:"kind"`
	Source Source `json:"source"`
	// Name is the setting's, as it stands in its source: a flag without dashes, a path of
	// values with dots.
	Name string `json:"name"`
	// Value is what it is set to; empty for an unknown one.
	Value string `json:"value,omitempty"`
	// Message says what holds in place of the setting.
	Message string `json:"message"`
	// Nearest is the known name that may have been meant, empty for none.
	Nearest string `json:"nearest,omitempty"`
}

// Input is what a controller is configured with. Each part may be nil.
type Input struct {
	// Flags are the flags that were given, by name without dashes.
	Flags map[string]string
	// Environment are the environment variables. One that belongs to a flag that is given
	// does not count.
	Environment map[string]string
	// Values are values of Karpenter's chart or of this one's.
	Values map[string]any
	// Known are the names of the controller's flags, without dashes.
	Known []string
}

// FlagVariable returns the environment variable of a flag: its name in upper case with
// underscores, as in Karpenter.
func FlagVariable(flag string) string { return strings.ToUpper(strings.ReplaceAll(flag, "-", "_")) }

// Review returns what there is to say about settings, in the order of source and name.
func Review(in *Input) []Finding {
	var out []Finding
	for _, s := range inapplicable() {
		for _, given := range in.given(&s) {
			if given.Value != "" && given.Value != s.Default {
				given.Kind, given.Message = NotApplicable, s.Why
				out = append(out, given)
			}
		}
	}
	out = append(out, in.gates()...)
	out = append(out, in.unknown()...)
	slices.SortFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// given returns where a setting is set, without a judgement.
func (in *Input) given(s *setting) []Finding {
	var out []Finding
	if value, ok := in.Flags[s.Flag]; ok && s.Flag != "" {
		out = append(out, Finding{Source: Flag, Name: s.Flag, Value: value})
	} else if value, ok := in.Environment[s.Variable]; ok {
		out = append(out, Finding{Source: Variable, Name: s.Variable, Value: value})
	}
	if value, ok := lookUp(in.Values, s.Value); ok {
		out = append(out, Finding{Source: ChartValue, Name: s.Value, Value: text(value)})
	}
	return out
}

// gates returns findings about the feature gates that are switched on and have no effect.
func (in *Input) gates() []Finding {
	on := map[string]Finding{}
	given, ok := in.Flags["feature-gates"]
	if !ok {
		given = in.Environment[FlagVariable("feature-gates")]
	}
	for each := range strings.SplitSeq(given, ",") {
		name, value, _ := strings.Cut(each, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		on[name] = Finding{Source: FeatureGate, Name: name, Value: value}
	}
	for value, name := range gateValues() {
		if got, ok := lookUp(in.Values, "settings.featureGates."+value); ok {
			on[name] = Finding{Source: ChartValue, Name: "settings.featureGates." + value, Value: text(got)}
		}
	}
	var out []Finding
	for name, why := range absentGates() {
		if f, ok := on[name]; ok && f.Value != "false" {
			f.Kind, f.Message = NotApplicable, why
			out = append(out, f)
		}
	}
	return out
}

// IsAbsentGate reports whether a name is that of a feature gate of Karpenter that has no
// effect here.
func IsAbsentGate(name string) bool {
	_, ok := absentGates()[name]
	return ok
}

// lookUp returns what stands at a path of values.
func lookUp(values map[string]any, path string) (any, bool) {
	if path == "" {
		return nil, false
	}
	head, rest, deeper := strings.Cut(path, ".")
	got, ok := values[head]
	if !ok || !deeper {
		return got, ok && got != nil
	}
	inner, ok := got.(map[string]any)
	if !ok {
		return nil, false
	}
	return lookUp(inner, rest)
}

// text writes a value as it stands on a command line: a list with commas, and of a
// mapping what is not false, so that gates that are off say nothing.
func text(value any) string {
	switch value := value.(type) {
	case []any:
		parts := make([]string, 0, len(value))
		for _, each := range value {
			parts = append(parts, text(each))
		}
		return strings.Join(parts, ",")
	case map[string]any:
		var parts []string
		for key, each := range value {
			if got := text(each); got != "false" {
				parts = append(parts, key+"="+got)
			}
		}
		slices.Sort(parts)
		return strings.Join(parts, ",")
	default:
		return fmt.Sprint(value)
	}
}

// UnknownFlag returns the error for a flag that does not exist, with the nearest of those
// that do.
func UnknownFlag(name string, known []string) error {
	return fmt.Errorf("unknown flag --%s%s", name, hint("--", spelling.Nearest(name, known)))
}

// UnknownGate returns the error for a feature gate that does not exist, with the nearest
// of those of Karpenter.
func UnknownGate(name string) error {
	var known []string
	for _, gate := range gateValues() {
		known = append(known, gate)
	}
	slices.Sort(known)
	return fmt.Errorf("feature gate %s: unknown%s; there are %s", name, hint("", spelling.Nearest(name, known)), strings.Join(known, ", "))
}

func hint(dashes, near string) string {
	if near == "" {
		return ""
	}
	return ": did you mean " + dashes + near + "?"
}
