package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"spokeshave.dev/tools/release/oci"
	"spokeshave.dev/tools/release/provenance"
	"spokeshave.dev/tools/release/sbom"
	"spokeshave.dev/tools/release/sign"
)

// keyless signs a release with the identity of the environment.
type keyless struct {
	signer   *sign.Keyless
	files    map[string][]byte
	progress io.Writer
	// made is the provenance of the release.
	made []byte
}

// signKeyless adds the signatures of an identity to the release in a folder. They are in
// files of their own; none that is there is changed.
func signKeyless(ctx context.Context, from string, services sign.Services, progress io.Writer) error {
	if err := verifyFiles(ctx, from, sign.Trust{}, progress); err != nil {
		return err
	}
	files, err := readFolder(from)
	if err != nil {
		return err
	}
	if files[signatureFile] != nil {
		return errors.New("the release is signed with a key: build it without (make release, no KEY=)")
	}
	signer, err := sign.NewKeyless(ctx, services, os.Getenv, time.Now())
	if err != nil {
		return err
	}
	k := &keyless{signer: signer, files: files, progress: progress, made: bytes.TrimSpace(files[unsignedFile])}
	layout, err := layoutFile(from)
	if err != nil {
		return err
	}
	bundles, err := k.bundleLayout(ctx, layout)
	if err != nil {
		return err
	}
	added := map[string][]byte{strings.TrimSuffix(filepath.Base(layout), layoutEnding) + bundlesEnding: bundles}
	if added[provenanceBundle], err = k.state(ctx, unsignedFile, k.made); err != nil {
		return err
	}
	start := time.Now()
	fmt.Fprintf(progress, "signing %s … ", sumsFile)
	if added[sumsBundle], err = signer.Blob(ctx, files[sumsFile]); err != nil {
		return err
	}
	fmt.Fprintln(progress, time.Since(start).Round(100*time.Millisecond))
	for name, body := range added {
		if err := os.WriteFile(filepath.Join(from, name), body, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	identity, issuer, err := sign.Signer(added[sumsBundle])
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "signed; verify with --identity '%s' --issuer '%s'\n", identity, issuer)
	return nil
}

// state signs a statement.
func (k *keyless) state(ctx context.Context, what string, statement []byte) ([]byte, error) {
	start := time.Now()
	fmt.Fprintf(k.progress, "signing %s … ", what)
	bundle, err := k.signer.Statement(ctx, statement)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	fmt.Fprintln(k.progress, time.Since(start).Round(100*time.Millisecond))
	return bundle, nil
}

// bundleLayout returns the layout with the bundles about all images and charts of another.
func (k *keyless) bundleLayout(ctx context.Context, layout string) ([]byte, error) {
	var entries []oci.Entry
	err := openLayout(layout, func(top v1.ImageIndex) error {
		subjects, err := signedSubjects(top)
		if err != nil {
			return err
		}
		for _, s := range subjects {
			more, err := k.attach(ctx, s)
			if err != nil {
				return err
			}
			entries = append(entries, more...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "release-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the layout: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "signatures.tar")
	if err := oci.WriteLayout(path, oci.NewLayout(entries...)); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// signedSubject is an image, a platform's image, or a chart.
type signedSubject struct {
	repository string
	descriptor v1.Descriptor
}

// signedSubjects are everything in a layout that gets a signature.
func signedSubjects(top v1.ImageIndex) ([]signedSubject, error) {
	manifest, err := top.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("read the layout: %w", err)
	}
	var out []signedSubject
	for _, d := range manifest.Manifests {
		name := d.Annotations[oci.RefName]
		repository := name[:max(0, strings.LastIndex(name, ":"))]
		out = append(out, signedSubject{repository, d})
		if !d.MediaType.IsIndex() {
			continue
		}
		index, err := top.ImageIndex(d.Digest)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		platforms, err := index.IndexManifest()
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		for _, p := range platforms.Manifests {
			out = append(out, signedSubject{repository, p})
		}
	}
	return out, nil
}

// attach signs a subject, its provenance and, for a platform's image, its SBOM.
func (k *keyless) attach(ctx context.Context, s signedSubject) ([]oci.Entry, error) {
	subject := provenance.NewSubject(s.repository, s.descriptor.Digest.Hex)
	signed, err := provenance.State(provenance.SignatureType, struct{}{}, subject)
	if err != nil {
		return nil, err
	}
	made, err := provenance.About(k.made, subject)
	if err != nil {
		return nil, err
	}
	type statement struct {
		predicateType string
		text          []byte
	}
	all := []statement{{provenance.SignatureType, signed}, {provenance.PredicateType, made}}
	if p := s.descriptor.Platform; p != nil {
		bom, err := k.bom(*p)
		if err != nil {
			return nil, err
		}
		text, err := provenance.State(sbom.PredicateType, json.RawMessage(bom), subject)
		if err != nil {
			return nil, err
		}
		all = append(all, statement{sbom.PredicateType, text})
	}
	var out []oci.Entry
	for _, one := range all {
		bundle, err := k.state(ctx, s.repository+"@"+s.descriptor.Digest.String()[:19]+" "+one.predicateType, one.text)
		if err != nil {
			return nil, err
		}
		image, err := oci.Bundle(bundle, sign.BundleType, one.predicateType, s.descriptor)
		if err != nil {
			return nil, err
		}
		digest, err := image.Digest()
		if err != nil {
			return nil, fmt.Errorf("digest a bundle: %w", err)
		}
		out = append(out, oci.Entry{Name: s.repository + "@" + digest.String(), Content: image})
	}
	return out, nil
}

// bom finds the SBOM of the controller for a platform.
func (k *keyless) bom(p v1.Platform) ([]byte, error) {
	ending := "-" + p.OS + "-" + p.Architecture + ".cdx.json"
	for name, body := range k.files {
		if strings.HasPrefix(name, filepath.Base(controllerPackage)+"-") && strings.HasSuffix(name, ending) {
			return body, nil
		}
	}
	return nil, fmt.Errorf("the release has no SBOM of the controller for %s", p)
}
