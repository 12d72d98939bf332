package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"spokeshave.dev/tools/release/oci"
	"spokeshave.dev/tools/release/provenance"
	"spokeshave.dev/tools/release/sign"
)

// readKey reads a key from a file, or from the environment: env://NAME is the content of the
// variable NAME, for pipelines whose secrets are variables.
func readKey(from string) ([]byte, error) {
	if variable, ok := strings.CutPrefix(from, "env://"); ok {
		if text := os.Getenv(variable); text != "" {
			return []byte(text), nil
		}
		return nil, fmt.Errorf("read the key: the variable %s is empty", variable)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	return text, nil
}

// readVerifier reads a public key, nil for no file.
func readVerifier(file string) (*sign.Verifier, error) {
	if file == "" {
		return nil, nil
	}
	text, err := readKey(file)
	if err != nil {
		return nil, err
	}
	v, err := sign.ParseVerifier(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return v, nil
}

// verifyFiles compares the files of a release with its checksums, and its provenance with
// the files. With a key it verifies the signatures of both.
func verifyFiles(ctx context.Context, from string, key *sign.Verifier, progress io.Writer) error {
	files, err := readFolder(from)
	if err != nil {
		return err
	}
	want, ok := files[sumsFile]
	if !ok {
		return fmt.Errorf("%s has no %s: say the folder of a release", from, sumsFile)
	}
	if key != nil {
		if err := verifySums(ctx, files, key); err != nil {
			return err
		}
	}
	listed := listedIn(files)
	if got := sums(listed); !bytes.Equal(got, want) {
		return fmt.Errorf("the files are not those of %s: %s", sumsFile, differences(string(want), string(got)))
	}
	if err := verifyProvenance(ctx, files, key); err != nil {
		return err
	}
	said := "its signatures are the key's"
	if key == nil {
		said = "no signature was verified, because no public key was given"
	}
	fmt.Fprintf(progress, "%d files are as %s says; %s\n", len(listed), sumsFile, said)
	return nil
}

// listedIn are the files that checksums list.
func listedIn(files map[string][]byte) []oci.File {
	var out []oci.File
	for name, body := range files {
		if name != sumsFile && name != signatureFile {
			out = append(out, oci.File{Name: name, Body: body})
		}
	}
	return out
}

func readFolder(from string) (map[string][]byte, error) {
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil, fmt.Errorf("read the release: %w", err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		body, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the release: %w", err)
		}
		files[e.Name()] = body
	}
	return files, nil
}

func verifySums(ctx context.Context, files map[string][]byte, key *sign.Verifier) error {
	signature, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(files[signatureFile])))
	if err != nil {
		return fmt.Errorf("read %s: %w", signatureFile, err)
	}
	if err := key.Verify(ctx, files[sumsFile], signature); err != nil {
		return fmt.Errorf("verify %s: %w", signatureFile, err)
	}
	return nil
}

// differences names the first lines that are in one list only.
func differences(want, got string) string {
	var out []string
	for line := range strings.Lines(want) {
		if !strings.Contains(got, line) {
			out = append(out, "missing or changed: "+line[66:len(line)-1])
		}
	}
	for line := range strings.Lines(got) {
		if !strings.Contains(want, line[66:]) {
			out = append(out, "not listed: "+line[66:len(line)-1])
		}
	}
	return strings.Join(out, ", ")
}

// verifyProvenance compares the provenance with the files and images that it is about.
func verifyProvenance(ctx context.Context, files map[string][]byte, key *sign.Verifier) error {
	text, signed := files[provenanceFile]
	switch {
	case signed && key != nil:
		var err error
		if text, err = key.Open(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", provenanceFile, err)
		}
	case signed:
		var envelope struct{ Payload []byte }
		if err := json.Unmarshal(text, &envelope); err != nil {
			return fmt.Errorf("read %s: %w", provenanceFile, err)
		}
		text = envelope.Payload
	case key != nil:
		return errors.New("the release has no signed provenance: it was built without a key")
	default:
		text = files[unsignedFile]
	}
	var s provenance.Statement
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("read the provenance: %w", err)
	}
	var want []provenance.Subject
	for name, body := range files {
		switch name {
		case sumsFile, signatureFile, provenanceFile, unsignedFile:
			continue
		}
		want = append(want, provenance.FileSubject(name, body))
		if strings.HasSuffix(name, "-oci.tar") {
			top, clean, err := readLayout(bytes.NewReader(body))
			if err != nil {
				return err
			}
			defer clean()
			images, err := subjects(top)
			if err != nil {
				return err
			}
			want = append(want, images...)
		}
	}
	for _, w := range want {
		if !slices.ContainsFunc(s.Subject, func(g provenance.Subject) bool {
			return g.Name == w.Name && g.Digest["sha256"] == w.Digest["sha256"]
		}) {
			return fmt.Errorf("the provenance is not about %s with the digest sha256:%s", w.Name, w.Digest["sha256"])
		}
	}
	if len(want) != len(s.Subject) {
		return fmt.Errorf("the provenance is about %d files and images, the release has %d", len(s.Subject), len(want))
	}
	return nil
}

// withLayout calls do with the layout of the release in a folder.
func withLayout(from string, do func(v1.ImageIndex) error) error {
	path, err := layoutFile(from)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read the images: %w", err)
	}
	defer f.Close()
	top, clean, err := readLayout(f)
	if err != nil {
		return err
	}
	defer clean()
	return do(top)
}

// readLayout unpacks a layout from its tar file into a temporary folder, which clean removes.
func readLayout(from io.Reader) (top v1.ImageIndex, clean func(), err error) {
	dir, err := os.MkdirTemp("", "release-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for the layout: %w", err)
	}
	clean = func() { _ = os.RemoveAll(dir) }
	defer func() {
		if err != nil {
			clean()
		}
	}()
	root, err := os.OpenRoot(dir) // names in the tar lead nowhere else
	if err != nil {
		return nil, nil, fmt.Errorf("open the folder of the layout: %w", err)
	}
	defer root.Close()
	for tr := tar.NewReader(from); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read the layout: %w", err)
		}
		if err := unpack(root, h.Name, tr); err != nil {
			return nil, nil, err
		}
	}
	if top, err = layout.ImageIndexFromPath(dir); err != nil {
		return nil, nil, fmt.Errorf("read the layout: %w", err)
	}
	return top, clean, nil
}

func unpack(root *os.Root, name string, body io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("unpack the layout: %w", err)
	}
	f, err := root.Create(name)
	if err != nil {
		return fmt.Errorf("unpack the layout: %w", err)
	}
	_, err = io.Copy(f, body)
	return errors.Join(err, f.Close())
}
