package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/tools/release/oci"
	"spokeshave.dev/tools/release/provenance"
)

// Names of the files by which the others are verified. The provenance is signed if there is
// a key, and has another name if not, so that nobody takes it for more than it is.
const (
	sumsFile       = "SHA256SUMS"
	signatureFile  = "SHA256SUMS.sig"
	provenanceFile = "provenance.intoto.jsonl"
	unsignedFile   = "provenance.unsigned.json"
)

// Names of the files of an identity, which are added to a release without a key when it is
// made: the same commit gives the same release, and each signature is another.
const (
	sumsBundle       = "SHA256SUMS.sigstore.json"
	provenanceBundle = "provenance.sigstore.json"
	// bundlesEnding is that of the layout with the signatures of images and charts, whose
	// layout ends in layoutEnding.
	bundlesEnding = "-signatures.tar"
	layoutEnding  = "-oci.tar"
)

// keylessFile tells whether a file is one of an identity's.
func keylessFile(name string) bool {
	return name == sumsBundle || name == provenanceBundle || strings.HasSuffix(name, bundlesEnding)
}

// writeSums adds the provenance of all files and images, then the checksums of all files,
// the provenance among them, then the signature of the checksums.
func (r *release) writeSums(ctx context.Context) error {
	var about []provenance.Subject
	for _, f := range r.files {
		about = append(about, provenance.FileSubject(f.Name, f.Body))
	}
	layout := slices.IndexFunc(r.files, func(f oci.File) bool { return strings.HasSuffix(f.Name, layoutEnding) })
	top, clean, err := readLayout(bytes.NewReader(r.files[layout].Body))
	if err != nil {
		return err
	}
	defer clean()
	images, err := subjects(top)
	if err != nil {
		return err
	}
	made, err := r.made().Provenance(append(about, images...)...)
	if err != nil {
		return err
	}
	if r.key == nil {
		r.add(unsignedFile, append(made, '\n'))
	} else {
		envelope, err := r.key.Envelope(ctx, made)
		if err != nil {
			return err
		}
		r.add(provenanceFile, append(envelope, '\n'))
	}
	list := sums(r.files)
	r.add(sumsFile, list)
	if r.key == nil {
		return nil
	}
	signature, err := r.key.Sign(ctx, list)
	if err != nil {
		return err
	}
	r.add(signatureFile, []byte(base64.StdEncoding.EncodeToString(signature)+"\n"))
	return nil
}

// sums are the checksums of files, as sha256sum prints and checks them, sorted by name.
func sums(files []oci.File) []byte {
	var lines []string
	for _, f := range files {
		sum := sha256.Sum256(f.Body)
		lines = append(lines, fmt.Sprintf("%s  %s\n", hex.EncodeToString(sum[:]), f.Name))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[66:], b[66:]) })
	return []byte(strings.Join(lines, ""))
}
