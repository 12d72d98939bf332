package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// krewPlugin is the manifest by which krew installs a plugin of kubectl:
// https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/.
type krewPlugin struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Spec       krewSpec          `json:"spec"`
}

type krewSpec struct {
	Version          string         `json:"version"`
	Homepage         string         `json:"homepage"`
	ShortDescription string         `json:"shortDescription"`
	Description      string         `json:"description"`
	Platforms        []krewPlatform `json:"platforms"`
}

type krewPlatform struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	URI    string     `json:"uri"`
	SHA256 string     `json:"sha256"`
	Bin    string     `json:"bin"`
	Files  []krewFile `json:"files"`
}

type krewFile struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// writeKrew adds the manifest, if it is known where the archives will be.
func (r *release) writeKrew(context.Context) error {
	if r.downloads == "" {
		fmt.Fprint(r.progress, "none, because it was not said where the archives will be … ")
		return nil
	}
	plugin := krewPlugin{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: map[string]string{"name": "spokeshave"},
		Spec: krewSpec{
			Version: r.version, Homepage: "https://spokeshave.dev",
			ShortDescription: "Explain, simulate and cap node autoscaling",
			Description: "Asks a running Spokeshave why nodes and pods are as they are, tells what a swap from\n" +
				"Karpenter or Cluster Autoscaler would meet, simulates decisions from files, and writes, tests\nand installs policies.\n",
		},
	}
	for _, a := range r.archived {
		sum := sha256.Sum256(a.body)
		p := krewPlatform{
			URI: strings.TrimSuffix(r.downloads, "/") + "/" + a.name, SHA256: hex.EncodeToString(sum[:]), Bin: "spokeshave",
			Files: []krewFile{{"spokeshave", "."}, {"LICENSE", "."}, {"NOTICE.catalog", "."}, {"THIRD_PARTY_NOTICES", "."}},
		}
		p.Selector.MatchLabels = map[string]string{"os": a.platform.OS, "arch": a.platform.Architecture}
		plugin.Spec.Platforms = append(plugin.Spec.Platforms, p)
	}
	slices.SortFunc(plugin.Spec.Platforms, func(a, b krewPlatform) int { return strings.Compare(a.URI, b.URI) })
	text, err := yaml.Marshal(plugin)
	if err != nil {
		return fmt.Errorf("write krew's manifest: %w", err)
	}
	r.add("spokeshave.krew.yaml", text)
	return nil
}
