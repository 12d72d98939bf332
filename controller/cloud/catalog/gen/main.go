// Command gen writes the embedded EC2 catalogue: the facts of every instance
// type, and per region its on-demand price, spot prices, zones and interruption
// frequency.
//
// The source is the data of ec2instances.info (MIT, see ../data/NOTICE) as
// the Go module github.com/cristim/ec2-instances-info carries it. Run it from
// controller/cloud/catalog with go generate; equal input gives equal bytes.
//
// What the source lacks is added in facts.go, from AWS's documentation, and how many
// interfaces and branch interfaces each type takes from the VPC resource controller's table
// (vpc.go).
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// module is the source's path in go.mod, before its replacement.
const module = "github.com/LeanerCloud/ec2-instances-info"

func main() {
	log.SetFlags(0)
	out := flag.String("out", "data", "folder to write to")
	flag.Parse()
	if err := run(*out); err != nil {
		log.Fatalf("gen: %v", err)
	}
}

func run(out string) error {
	dir, err := moduleDir()
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(filepath.Join(dir, "data", "instances.json"))
	if err != nil {
		return fmt.Errorf("read source: %w", err)
	}
	var source []instance
	if err := json.Unmarshal(raw, &source); err != nil {
		return fmt.Errorf("decode source: %w", err)
	}
	var china prices
	if err := json.Unmarshal(chinaPrices, &china); err != nil {
		return fmt.Errorf("decode prices of China: %w", err)
	}
	types, sales, err := build(source, china)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(out, "types.json.gz"), types); err != nil {
		return err
	}
	vpc, err := interfaces()
	if err != nil {
		return err
	}
	if err := write(filepath.Join(out, "vpc.json.gz"), vpc); err != nil {
		return err
	}
	for _, region := range slices.Sorted(maps.Keys(sales)) {
		if err := write(filepath.Join(out, region+".json.gz"), sales[region]); err != nil {
			return err
		}
	}
	return nil
}

// moduleDir returns the folder of the source module, from the go command.
func moduleDir() (string, error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)
	cmd.Stderr = os.Stderr
	dir, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find module %s: %w", module, err)
	}
	return strings.TrimSpace(string(dir)), nil
}

// write writes v as JSON in gzip. The gzip header has no time, so that the bytes depend
// only on v.
func write(path string, v any) error {
	plain, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	var buf bytes.Buffer
	zip, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := zip.Write(plain); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(path, buf.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	log.Printf("%s: %d bytes (%d plain)", path, buf.Len(), len(plain))
	return nil
}
