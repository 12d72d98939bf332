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
	"io/fs"
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

// trusted is what the command line says about whose signatures count.
type trusted struct {
	key, identity, issuer string
	services              sign.Services
}

// read reads the public key, or what the identity is verified with.
func (t trusted) read() (sign.Trust, error) {
	switch {
	case t.key != "" && t.identity+t.issuer != "":
		return sign.Trust{}, errors.New("say a public key or an identity, not both: a release is signed by one of them")
	case t.key != "":
		text, err := readKey(t.key)
		if err != nil {
			return sign.Trust{}, err
		}
		v, err := sign.ParseVerifier(text)
		if err != nil {
			return sign.Trust{}, fmt.Errorf("%s: %w", t.key, err)
		}
		return sign.Trust{Key: v}, nil
	case t.identity+t.issuer != "":
		i, err := sign.NewIdentity(t.identity, t.issuer, t.services)
		return sign.Trust{Identity: i}, err
	}
	return sign.Trust{}, nil
}

// verifyFiles compares the files of a release with its checksums, and its provenance with
// the files. It verifies the signatures of both by who is trusted.
func verifyFiles(ctx context.Context, from string, trust sign.Trust, progress io.Writer) error {
	files, err := readFolder(from)
	if err != nil {
		return err
	}
	want, ok := files[sumsFile]
	if !ok {
		return fmt.Errorf("%s has no %s: say the folder of a release", from, sumsFile)
	}
	if err := verifySums(ctx, files, trust); err != nil {
		return err
	}
	listed := listedIn(files)
	if got := sums(listed); !bytes.Equal(got, want) {
		return fmt.Errorf("the files are not those of %s: %s", sumsFile, differences(string(want), string(got)))
	}
	if err := verifyProvenance(ctx, files, trust); err != nil {
		return err
	}
	said := "its signatures are those of who is trusted"
	if trust.None() {
		said = "no signature was verified, because neither a public key nor an identity was given"
	}
	fmt.Fprintf(progress, "%d files are as %s says; %s\n", len(listed), sumsFile, said)
	return nil
}

// listedIn are the files that checksums list: all but those that are written after them.
func listedIn(files map[string][]byte) []oci.File {
	var out []oci.File
	for name, body := range files {
		if name != sumsFile && name != signatureFile && !keylessFile(name) {
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

func verifySums(ctx context.Context, files map[string][]byte, trust sign.Trust) error {
	if trust.Identity != nil {
		bundle, ok := files[sumsBundle]
		if !ok {
			return fmt.Errorf("the release has no %s: no identity has signed it", sumsBundle)
		}
		if err := trust.Identity.VerifyBlob(bundle, files[sumsFile]); err != nil {
			return fmt.Errorf("verify %s: %w", sumsBundle, err)
		}
	}
	if trust.Key == nil {
		return nil
	}
	signature, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(files[signatureFile])))
	if err != nil {
		return fmt.Errorf("read %s: %w", signatureFile, err)
	}
	if err := trust.Key.Verify(ctx, files[sumsFile], signature); err != nil {
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

// stated is the provenance of a release, as who is trusted has signed it.
func stated(ctx context.Context, files map[string][]byte, trust sign.Trust) ([]byte, error) {
	envelope, signed := files[provenanceFile]
	bundle, identified := files[provenanceBundle]
	switch {
	case trust.Key != nil && !signed:
		return nil, errors.New("the release has no signed provenance: it was built without a key")
	case trust.Key != nil:
		text, err := trust.Key.Open(ctx, envelope)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", provenanceFile, err)
		}
		return text, nil
	case trust.Identity != nil && !identified:
		return nil, fmt.Errorf("the release has no %s: no identity has signed it", provenanceBundle)
	case trust.Identity != nil:
		text, err := trust.Identity.Open(bundle)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", provenanceBundle, err)
		}
		return text, nil
	case signed:
		var e struct{ Payload []byte }
		if err := json.Unmarshal(envelope, &e); err != nil {
			return nil, fmt.Errorf("read %s: %w", provenanceFile, err)
		}
		return e.Payload, nil
	}
	return files[unsignedFile], nil
}

// verifyProvenance compares the provenance with the files and images that it is about.
func verifyProvenance(ctx context.Context, files map[string][]byte, trust sign.Trust) error {
	text, err := stated(ctx, files, trust)
	if err != nil {
		return err
	}
	var s provenance.Statement
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("read the provenance: %w", err)
	}
	var want []provenance.Subject
	for name, body := range files {
		switch {
		case name == sumsFile, name == signatureFile, name == provenanceFile, name == unsignedFile, keylessFile(name):
			continue
		}
		want = append(want, provenance.FileSubject(name, body))
		if strings.HasSuffix(name, layoutEnding) {
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

// withLayout calls do with the layout of the release in a folder, and with that of its
// keyless signatures if it has them.
func withLayout(from string, do func(v1.ImageIndex) error) error {
	path, err := layoutFile(from)
	if err != nil {
		return err
	}
	if err := openLayout(path, do); err != nil {
		return err
	}
	path = strings.TrimSuffix(path, layoutEnding) + bundlesEnding
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return openLayout(path, do)
}

func openLayout(path string, do func(v1.ImageIndex) error) error {
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
