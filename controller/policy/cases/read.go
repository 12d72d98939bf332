package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	yaml3 "go.yaml.in/yaml/v3"

	"spokeshave.dev/controller/core/policy"
)

// DefaultTime is the time of a case that sets none: noon on a Monday, UTC.
var DefaultTime = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant that Go cannot write as one

// ReadDir reads cases/*.yaml of a policy's folder. It is no error if there are none.
func ReadDir(dir string) ([]Case, error) {
	files, err := filepath.Glob(filepath.Join(dir, "cases", "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("read cases of %s: %w", dir, err)
	}
	var out []Case
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("read cases: %w", err)
		}
		some, err := Parse(f, text)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

// Parse reads a file of cases strictly. The error names every mistake with its line.
// Paths in the cases are relative to the file.
func Parse(file string, text []byte) ([]Case, error) {
	var in fileYAML
	dec := yaml3.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&in); err != nil {
		return nil, readable(file, err)
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: a file of cases is one YAML document", file)
	}
	var root yaml3.Node
	if err := yaml3.Unmarshal(text, &root); err != nil {
		return nil, readable(file, err)
	}
	if len(in.Cases) == 0 {
		return nil, fmt.Errorf("%s: no cases: want a list under the key cases", file)
	}
	out := make([]Case, 0, len(in.Cases))
	seen := map[string]bool{}
	var errs []error
	for i := range in.Cases {
		at := lines{file: file, node: root.Content[0]}.in("cases", i)
		c, err := in.Cases[i].build(at)
		if err == nil && seen[c.Name] {
			err = fmt.Errorf("%s: another case is named %q", at.in("name"), c.Name)
		}
		seen[in.Cases[i].Name] = true
		errs = append(errs, err)
		out = append(out, c)
	}
	return out, errors.Join(errs...)
}

// readable adds the file name to every line of a YAML error.
func readable(file string, err error) error {
	var errs []error
	text := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	if many, ok := errors.AsType[*yaml3.TypeError](err); ok {
		text = many.Errors
	}
	line := regexp.MustCompile(`^line (\d+): `)
	kind := regexp.MustCompile(` (in|into) type (cases|policy)\.\w+$`)
	for _, t := range text {
		at := file + ": "
		if m := line.FindStringSubmatch(t); m != nil {
			at, t = file+":"+m[1]+": ", t[len(m[0]):]
		}
		errs = append(errs, errors.New(at+kind.ReplaceAllString(t, "")))
	}
	return errors.Join(errs...)
}

func (c *caseYAML) build(at lines) (Case, error) {
	out := Case{
		Name: c.Name, Reason: c.Reason, File: at.file, Line: at.line(),
		Hook: policy.Hook(c.Hook), Time: DefaultTime, Seed: 1, expect: c.Expect, at: at,
	}
	if c.Name == "" {
		return out, fmt.Errorf("%s: a case needs a name", at)
	}
	if c.Seed != nil {
		out.Seed = *c.Seed
	}
	var err error
	if c.Time != "" {
		if out.Time, err = time.Parse(time.RFC3339, c.Time); err != nil {
			return out, fmt.Errorf("%s: time %q: want RFC 3339, such as 2026-01-31T12:00:00Z", at.in("time"), c.Time)
		}
	}
	if c.Config != nil {
		if out.Config, err = json.Marshal(c.Config); err != nil {
			return out, fmt.Errorf("%s: config: keys must be strings: %w", at.in("config"), err)
		}
	}
	if c.Scenario != nil {
		return out, c.scenario(&out)
	}
	if c.Policies != nil || c.Region != "" || c.Expect.Plan != nil {
		return out, fmt.Errorf("%s: policies, region and plan are for cases with a scenario", at)
	}
	switch out.Hook {
	case policy.HookRank:
		out.rank, err = c.Input.rank(at.in("input"))
	case policy.HookConsolidate:
		out.consolidate, err = c.Input.consolidate(at.in("input"))
	case policy.HookCeiling:
		out.ceiling, err = c.Input.ceiling(at.in("input"))
	default:
		err = fmt.Errorf("%s: hook %q: want rank, consolidate or ceiling, or a scenario", at.in("hook"), c.Hook)
	}
	if err != nil {
		return out, err
	}
	out.rank.stamp(&out)
	out.consolidate.stamp(&out)
	out.ceiling.stamp(&out)
	return out, out.expect.check(&out)
}

func (c *caseYAML) scenario(out *Case) error {
	if c.Hook != "" {
		return fmt.Errorf("%s: a scenario asks every hook: leave hook out", out.at.in("hook"))
	}
	var paths []string
	switch s := c.Scenario.(type) {
	case string:
		paths = []string{s}
	case []any:
		for _, each := range s {
			p, ok := each.(string)
			if !ok {
				return fmt.Errorf("%s: scenario: %v is not a path", out.at.in("scenario"), each)
			}
			paths = append(paths, p)
		}
	default:
		return fmt.Errorf("%s: scenario: want a path of manifests, or a list of them", out.at.in("scenario"))
	}
	beside := func(paths []string) []string {
		var joined []string
		for _, p := range paths {
			if !filepath.IsAbs(p) {
				p = filepath.Join(filepath.Dir(out.File), p)
			}
			joined = append(joined, p)
		}
		return joined
	}
	out.Scenario = &Scenario{
		Manifests: beside(paths), Policies: beside(c.Policies), Region: c.Region, Time: out.Time, Seed: out.Seed,
	}
	return out.expect.check(out)
}

// check refuses expectations that can never be met: those of other hooks, and those
// about ids that the question does not have.
func (e *expect) check(c *Case) error {
	given := map[string]bool{
		"noOpinion": e.NoOpinion != nil,
		"scores":    e.Scores != nil, "order": e.Order != nil, "excluded": e.Excluded != nil, "reasons": e.Reasons != nil,
		"maxNodes": e.MaxNodes != nil, "tiers": e.Tiers != nil, "verdicts": e.Verdicts != nil,
		"caps": e.Caps != nil, "denied": e.Denied != nil, "plan": e.Plan != nil, "fault": e.Fault != "",
	}
	var allowed, ids []string
	switch {
	case c.Scenario != nil:
		allowed = []string{"plan", "fault"}
	case c.rank != nil:
		allowed = []string{"noOpinion", "fault", "scores", "order", "excluded", "reasons", "maxNodes", "tiers"}
		ids = c.rank.ids
	case c.consolidate != nil:
		allowed = []string{"noOpinion", "fault", "verdicts"}
		ids = c.consolidate.ids
	case c.ceiling != nil:
		allowed = []string{"noOpinion", "fault", "caps", "denied"}
		ids = c.ceiling.ids
	}
	some := false
	for name, set := range given {
		some = some || set
		if set && !slices.Contains(allowed, name) {
			return fmt.Errorf("%s: %s is not expected of this case; it can have %s", c.at.in("expect", name), name, strings.Join(allowed, ", "))
		}
	}
	if !some {
		return fmt.Errorf("%s: the case expects nothing; it can have %s", c.at.in("expect"), strings.Join(allowed, ", "))
	}
	for _, named := range []struct {
		key string
		ids []string
	}{
		{"scores", keys(e.Scores)},
		{"order", e.Order},
		{"excluded", keys(e.Excluded)},
		{"reasons", keys(e.Reasons)},
		{"maxNodes", keys(e.MaxNodes)},
		{"tiers", keys(e.Tiers)},
		{"verdicts", keys(e.Verdicts)},
		{"denied", keys(e.Denied)},
	} {
		for _, id := range named.ids {
			if !slices.Contains(ids, id) {
				return fmt.Errorf("%s: %q is not in the input: it has %s", c.at.in("expect", named.key, id), id, strings.Join(ids, ", "))
			}
		}
	}
	return nil
}
