package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"spokeshave.dev/controller/core/policy"
)

// PluginScopes is what the policies of plugin namespaces may touch, by namespace. It is a
// flag whose value is JSON.
type PluginScopes map[string]policy.Scope

// String implements pflag.Value.
func (p *PluginScopes) String() string {
	if len(*p) == 0 {
		return ""
	}
	text, err := json.Marshal(*p)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Type implements pflag.Value.
func (p *PluginScopes) Type() string { return "JSON" }

// Set implements pflag.Value. An unknown field is an error.
func (p *PluginScopes) Set(text string) error {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	out := map[string]policy.Scope{}
	if err := d.Decode(&out); err != nil {
		return fmt.Errorf("want JSON by namespace: %w", err)
	}
	*p = out
	return nil
}

// validate returns an error that joins the problems of the scopes.
func (p *PluginScopes) validate(namespaces []string) error {
	var errs []error
	for _, ns := range slices.Sorted(maps.Keys(*p)) {
		if !slices.Contains(namespaces, ns) {
			errs = append(errs, fmt.Errorf("--policy-plugin-scopes: %s is not among --policy-plugin-namespaces", ns))
		}
		for _, pattern := range (*p)[ns].NodePools {
			if _, err := path.Match(pattern, ""); err != nil {
				errs = append(errs, fmt.Errorf("--policy-plugin-scopes: %s: %q is not a pattern", ns, pattern))
			}
		}
		for _, h := range (*p)[ns].Hooks {
			if h != policy.HookRank && h != policy.HookConsolidate {
				errs = append(errs, fmt.Errorf("--policy-plugin-scopes: %s: hook %q: use rank or consolidate", ns, h))
			}
		}
	}
	return errors.Join(errs...)
}
