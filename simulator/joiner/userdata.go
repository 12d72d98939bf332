package joiner

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/mail"
	"regexp"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// boot is what user data tells kubelet.
type boot struct {
	cluster        string
	labels         map[string]string
	taints         []corev1.Taint
	maxPods        *int
	podsPerCore    int
	kubeReserved   map[string]string
	systemReserved map[string]string
	evictionHard   map[string]string
	raid0          bool
	bottlerocket   bool
	// fault is why the instance cannot join.
	fault string
}

// readUserData reads the formats of the EKS images: nodeadm's NodeConfig, plain
// or in a MIME archive (AL2023), TOML settings (Bottlerocket), and the flags in
// a shell script (AL2 and custom images).
func readUserData(text string) (*boot, error) {
	b := &boot{labels: make(map[string]string)}
	text = strings.TrimSpace(text)
	parts, err := split(text)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		if err := b.readPart(strings.TrimSpace(part)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// split takes a MIME archive apart; anything else is one part.
func split(text string) ([]string, error) {
	message, err := mail.ReadMessage(strings.NewReader(text + "\n"))
	if err != nil || message.Header.Get("Content-Type") == "" {
		return []string{text}, nil //nolint:nilerr // not a MIME archive
	}
	kind, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(kind, "multipart/") {
		return nil, fmt.Errorf("read user data: content type %q is not multipart", message.Header.Get("Content-Type"))
	}
	var out []string
	parts := multipart.NewReader(message.Body, params["boundary"])
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) && len(out) > 0 {
			return out, nil // cloud-init forgives a missing end, too
		}
		if err != nil {
			return nil, fmt.Errorf("read user data: part %d: %w", len(out)+1, err)
		}
		body, err := io.ReadAll(part)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("read user data: part %d: %w", len(out)+1, err)
		}
		out = append(out, string(body))
	}
}

func (b *boot) readPart(text string) error {
	switch {
	case text == "":
		return nil
	case strings.HasPrefix(text, "#!"):
		return b.readScript(text)
	case regexp.MustCompile(`(?m)^\s*\[?settings[.\]]`).MatchString(text):
		b.bottlerocket = true
		return b.readTOML(text)
	}
	var config nodeConfig
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		return fmt.Errorf("read user data: neither NodeConfig, TOML nor script: %w", err)
	}
	if config.Kind != "NodeConfig" {
		return nil // cloud-config or whatever else says nothing of kubelet
	}
	return b.readNodeConfig(&config)
}

// nodeConfig is the part of nodeadm's configuration that concerns us.
// https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/
type nodeConfig struct {
	Kind string `json:"kind"`
	Spec struct {
		Cluster struct {
			Name string `json:"name"`
		} `json:"cluster"`
		Instance struct {
			LocalStorage struct {
				Strategy string `json:"strategy"`
			} `json:"localStorage"`
		} `json:"instance"`
		Kubelet struct {
			Flags  []string `json:"flags"`
			Config struct {
				MaxPods            *int              `json:"maxPods"`
				PodsPerCore        *int              `json:"podsPerCore"`
				KubeReserved       map[string]string `json:"kubeReserved"`
				SystemReserved     map[string]string `json:"systemReserved"`
				EvictionHard       map[string]string `json:"evictionHard"`
				RegisterWithTaints []corev1.Taint    `json:"registerWithTaints"`
			} `json:"config"`
		} `json:"kubelet"`
	} `json:"spec"`
}

// readNodeConfig merges one over what is there; nodeadm takes several in order.
func (b *boot) readNodeConfig(in *nodeConfig) error {
	if in.Spec.Cluster.Name != "" {
		b.cluster = in.Spec.Cluster.Name
	}
	b.raid0 = b.raid0 || in.Spec.Instance.LocalStorage.Strategy == "RAID0"
	k := &in.Spec.Kubelet.Config
	if k.MaxPods != nil {
		b.maxPods = k.MaxPods
	}
	if k.PodsPerCore != nil {
		b.podsPerCore = *k.PodsPerCore
	}
	b.kubeReserved = over(b.kubeReserved, k.KubeReserved)
	b.systemReserved = over(b.systemReserved, k.SystemReserved)
	b.evictionHard = over(b.evictionHard, k.EvictionHard)
	b.taint(k.RegisterWithTaints...)
	return b.readFlags(in.Spec.Kubelet.Flags)
}

func over(below, above map[string]string) map[string]string {
	out := maps.Clone(below)
	if out == nil {
		out = make(map[string]string, len(above))
	}
	maps.Copy(out, above)
	return out
}

// readScript finds kubelet's flags in a bootstrap script.
func (b *boot) readScript(text string) error {
	b.raid0 = b.raid0 || strings.Contains(text, "--local-disks raid0")
	found := regexp.MustCompile(`--(node-labels|register-with-taints|max-pods)[= ]["']?([^\s"']+)`).FindAllStringSubmatch(text, -1)
	flags := make([]string, 0, len(found))
	for _, f := range found {
		flags = append(flags, "--"+f[1]+"="+f[2])
	}
	return b.readFlags(flags)
}

// readFlags reads kubelet's command line.
// https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/
func (b *boot) readFlags(flags []string) error {
	for _, flag := range flags {
		name, value, _ := strings.Cut(strings.TrimSpace(flag), "=")
		// nodeadm writes flags into an environment file, from which systemd takes
		// the quotes off; Karpenter writes --node-labels="a=b,c=d".
		value = unquote(value)
		switch name {
		case "--node-labels":
			b.label(value)
		case "--register-with-taints":
			if err := b.registerTaints(value); err != nil {
				return err
			}
		case "--max-pods":
			n, err := strconv.Atoi(value)
			if err != nil {
				return fmt.Errorf("read user data: --max-pods=%s is not a number", value)
			}
			b.maxPods = &n
		}
	}
	return nil
}

// unquote takes one pair of equal quotes off.
func unquote(text string) string {
	if n := len(text); n >= 2 && text[0] == text[n-1] && (text[0] == '"' || text[0] == '\'') {
		return text[1 : n-1]
	}
	return text
}

func (b *boot) label(list string) {
	for pair := range strings.SplitSeq(list, ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			b.labels[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
}

func (b *boot) registerTaints(list string) error {
	for text := range strings.SplitSeq(list, ",") {
		if text == "" {
			continue
		}
		t, err := parseTaint(text)
		if err != nil {
			return err
		}
		b.taint(t)
	}
	return nil
}

// parseTaint reads key=value:Effect, where the value may be missing.
func parseTaint(text string) (corev1.Taint, error) {
	rest, effect, ok := strings.Cut(text, ":")
	key, value, _ := strings.Cut(rest, "=")
	t := corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
	switch t.Effect {
	case corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule:
		if ok && key != "" {
			return t, nil
		}
	}
	return t, fmt.Errorf("read user data: %q is not a taint such as key=value:NoSchedule", text)
}

// taint adds taints; one key and effect occurs once.
func (b *boot) taint(taints ...corev1.Taint) {
	for _, t := range taints {
		known := false
		for i := range b.taints {
			if b.taints[i].MatchTaint(&t) {
				b.taints[i], known = t, true
			}
		}
		if !known {
			b.taints = append(b.taints, t)
		}
	}
}

// readTOML reads Bottlerocket's settings.
// https://bottlerocket.dev/en/os/latest/api/settings/kubernetes/
func (b *boot) readTOML(text string) error {
	var in struct {
		Settings struct {
			Kubernetes struct {
				Cluster        string              `toml:"cluster-name"`
				Labels         map[string]string   `toml:"node-labels"`
				Taints         map[string][]string `toml:"node-taints"`
				MaxPods        *int                `toml:"max-pods"`
				KubeReserved   map[string]string   `toml:"kube-reserved"`
				SystemReserved map[string]string   `toml:"system-reserved"`
				EvictionHard   map[string]string   `toml:"eviction-hard"`
			} `toml:"kubernetes"`
			Commands map[string]struct {
				Commands [][]string `toml:"commands"`
			} `toml:"bootstrap-commands"`
		} `toml:"settings"`
	}
	if err := toml.Unmarshal([]byte(text), &in); err != nil {
		return fmt.Errorf("read user data: %w", err)
	}
	for _, c := range in.Settings.Commands {
		for _, words := range c.Commands {
			b.raid0 = b.raid0 || strings.HasPrefix(strings.Join(words, " "), "apiclient ephemeral-storage bind")
		}
	}
	k := &in.Settings.Kubernetes
	b.cluster, b.maxPods = k.Cluster, k.MaxPods
	b.kubeReserved, b.systemReserved, b.evictionHard = k.KubeReserved, k.SystemReserved, k.EvictionHard
	maps.Copy(b.labels, k.Labels)
	for key, values := range k.Taints {
		for _, v := range values {
			t, err := parseTaint(key + "=" + v)
			if err != nil {
				return err
			}
			b.taint(t)
		}
	}
	return nil
}
