// Package provenance states how the files and images of a release were made, as an in-toto
// statement with SLSA's predicate (https://slsa.dev/spec/v1.0/provenance). It has no time
// and no machine in it, so that whoever repeats the build can state the same.
package provenance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Types of the statement and its predicate.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://slsa.dev/provenance/v1"
	// SignatureType is that of a statement which says only that its subject is signed, as
	// cosign writes it.
	SignatureType = "https://sigstore.dev/cosign/sign/v1"
	// BuildType is the kind of build that docs/contributing/releasing.md describes.
	BuildType = "https://spokeshave.dev/release/v1"
)

// Statement is an in-toto statement.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     any       `json:"predicate"`
}

// Subject is what a statement is about: the SHA-256 digest in hexadecimal digits counts,
// the name is for people.
type Subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// NewSubject is a subject with a digest.
func NewSubject(name, sha256Hex string) Subject {
	return Subject{Name: name, Digest: map[string]string{"sha256": sha256Hex}}
}

// FileSubject is a file.
func FileSubject(name string, body []byte) Subject {
	sum := sha256.Sum256(body)
	return NewSubject(name, hex.EncodeToString(sum[:]))
}

// Build says what a release was made of.
type Build struct {
	// Source is the address of the repository, such as git+https://example.com/x, and
	// Commit what was built.
	Source, Commit string
	// Go is the version of the compiler, such as go1.26.0.
	Go string
	// Version and Registry are what "make release" was given.
	Version, Registry string
	// Builder is the address of who built.
	Builder string
}

type resource struct {
	URI    string            `json:"uri"`
	Digest map[string]string `json:"digest,omitempty"`
}

type predicate struct {
	BuildDefinition struct {
		BuildType            string            `json:"buildType"`
		ExternalParameters   map[string]string `json:"externalParameters"`
		ResolvedDependencies []resource        `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// Provenance states that the subjects were made by the build.
func (b Build) Provenance(subjects ...Subject) ([]byte, error) {
	var p predicate
	p.BuildDefinition.BuildType = BuildType
	p.BuildDefinition.ExternalParameters = map[string]string{"source": b.Source, "version": b.Version, "registry": b.Registry}
	p.BuildDefinition.ResolvedDependencies = []resource{
		{URI: b.Source, Digest: map[string]string{"gitCommit": b.Commit}},
		{URI: "pkg:golang/toolchain@" + b.Go},
	}
	p.RunDetails.Builder.ID = b.Builder
	return State(PredicateType, p, subjects...)
}

// About returns a statement with the predicate of another, and other subjects.
func About(statement []byte, subjects ...Subject) ([]byte, error) {
	var s struct {
		PredicateType string          `json:"predicateType"`
		Predicate     json.RawMessage `json:"predicate"`
	}
	if err := json.Unmarshal(statement, &s); err != nil {
		return nil, fmt.Errorf("read a statement: %w", err)
	}
	return State(s.PredicateType, s.Predicate, subjects...)
}

// State returns a statement with a predicate, its subjects sorted by name.
func State(predicateType string, predicate any, subjects ...Subject) ([]byte, error) {
	slices.SortFunc(subjects, func(a, b Subject) int { return strings.Compare(a.Name, b.Name) })
	text, err := json.Marshal(Statement{Type: StatementType, Subject: subjects, PredicateType: predicateType, Predicate: predicate})
	if err != nil {
		return nil, fmt.Errorf("write a statement: %w", err)
	}
	return text, nil
}
