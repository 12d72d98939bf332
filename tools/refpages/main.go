// Command refpages writes the pages of docs/reference that say what may be written into
// the objects of the API and into the chart's values:
//
//	refpages ROOT
//
// The pages are made from what the API server and Helm go by: the chart's custom resource
// definitions, and its values.yaml with values.schema.json. Names.md is made from the
// constants of api/.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const folder = "docs/reference"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: refpages ROOT")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "refpages:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	all, err := pages(root)
	if err != nil {
		return err
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(root, folder, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write page: %w", err)
		}
	}
	return nil
}

// pages returns the texts of the pages by file name.
func pages(root string) (map[string]string, error) {
	out := map[string]string{}
	for _, k := range kinds() {
		text, err := k.page(root)
		if err != nil {
			return nil, err
		}
		out[k.file] = text
	}
	for name, make := range map[string]func(string) (string, error){"values.md": valuesPage, "names.md": namesPage} {
		text, err := make(root)
		if err != nil {
			return nil, err
		}
		out[name] = text
	}
	return out, nil
}
