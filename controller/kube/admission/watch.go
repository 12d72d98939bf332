// Package admission watches the ValidatingAdmissionPolicies that the chart installs for the
// controller: without them, whoever may write NodeClaims launches past every cap, and the
// controller's role reaches more than it needs. Somebody may delete or weaken them later,
// and nothing else would tell.
//
// Not here: the policies themselves (charts/spokeshave/templates).
package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// tellAfter is when what lasts is told again.
const tellAfter = time.Hour

// Watch looks at the policies from time to time, and tells by the log, an event and a metric when
// one does not do its work. It runs on the leader only.
type Watch struct {
	// Live reads from the API server.
	Live   client.Reader
	Events events.EventRecorder
	Clock  clock.WithTicker
	// Policies are the digests of the policies' specs ([Digest]) by name, empty for one that is
	// not compared. Each policy has a binding of the same name.
	Policies map[string]string
	// Every is how often is looked.
	Every time.Duration
	// Metrics may be nil.
	Metrics *Metrics

	told map[string]time.Time
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*Watch) NeedLeaderElection() bool { return true }

// Start runs until the context ends.
func (w *Watch) Start(ctx context.Context) error {
	ticker := w.Clock.NewTicker(w.Every)
	defer ticker.Stop()
	for {
		w.Look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// Look looks at each policy once.
func (w *Watch) Look(ctx context.Context) {
	log := logr.FromContextOrDiscard(ctx)
	for _, name := range slices.Sorted(maps.Keys(w.Policies)) {
		problem, err := w.problem(ctx, name)
		if err != nil { // as it was: the API server may be away, or the role an older one
			if ctx.Err() == nil {
				log.Error(err, "an admission policy is looked at later", "policy", name)
			}
			continue
		}
		w.Metrics.set(name, problem != "")
		last, told := w.told[name]
		switch {
		case problem == "" && told:
			delete(w.told, name)
			log.Info("an admission policy is in force again", "policy", name)
		case problem == "" || told && w.Clock.Since(last) < tellAfter:
		default:
			if w.told == nil {
				w.told = map[string]time.Time{}
			}
			w.told[name] = w.Clock.Now()
			log.Info("an admission policy is not in force", "policy", name, "because", problem)
			about := &admissionv1.ValidatingAdmissionPolicy{TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"}}
			about.Name = name
			w.Events.Eventf(about, nil, corev1.EventTypeWarning, karpv1.EventAdmissionPolicyMissing, "Protect",
				"%s: what it protects is open to whoever may write it; helm upgrade installs it again", problem)
		}
	}
}

// problem returns why a policy does not do its work, "" when it does.
func (w *Watch) problem(ctx context.Context, name string) (string, error) {
	policy, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	var missing []string
	for _, o := range []client.Object{policy, binding} {
		err := w.Live.Get(ctx, client.ObjectKey{Name: name}, o)
		switch {
		case apierrors.IsForbidden(err):
			return "the controller's role does not let it be read", nil
		case apierrors.IsNotFound(err):
			missing = append(missing, strings.TrimPrefix(fmt.Sprintf("%T", o), "*v1."))
		case err != nil:
			return "", fmt.Errorf("read admission policy %s: %w", name, err)
		}
	}
	digest, err := Digest(&policy.Spec)
	if err != nil {
		return "", err
	}
	spec := &binding.Spec
	switch {
	case len(missing) > 0:
		return strings.Join(missing, " and ") + " " + name + " does not exist", nil
	case policy.Spec.FailurePolicy != nil && *policy.Spec.FailurePolicy != admissionv1.Fail:
		return "the policy lets through what it cannot judge (failurePolicy)", nil
	case len(policy.Spec.Validations) == 0:
		return "the policy has no validations", nil
	case w.Policies[name] != "" && w.Policies[name] != digest:
		return "the policy is not the one that the chart installed with this controller (matchConstraints, matchConditions, variables, validations)", nil
	case spec.PolicyName != name:
		return "its binding is of another policy", nil
	case !slices.Contains(spec.ValidationActions, admissionv1.Deny):
		return "its binding does not deny (validationActions)", nil
	case restricts(spec.MatchResources) || spec.ParamRef != nil:
		return "its binding is restricted (matchResources, paramRef)", nil
	}
	return "", nil
}

// restricts reports whether a binding holds for some of what its policy is about only.
func restricts(m *admissionv1.MatchResources) bool {
	return m != nil && (stated(m.NamespaceSelector) != nil || stated(m.ObjectSelector) != nil || len(m.ResourceRules)+len(m.ExcludeResourceRules) > 0)
}

// Metrics say which policies are not in force. A nil *Metrics records nothing.
type Metrics struct{ missing *prometheus.GaugeVec }

// NewMetrics registers the metrics.
func NewMetrics(into prometheus.Registerer) *Metrics {
	m := &Metrics{missing: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "spokeshave_admission_policy_missing", Help: "1 while an admission policy of the chart is missing, does not deny, or was edited, by its name.",
	}, []string{"policy"})}
	into.MustRegister(m.missing)
	return m
}

func (m *Metrics) set(policy string, missing bool) { //nolint:revive // a fact, not a mode
	if m == nil {
		return
	}
	value := 0.0
	if missing {
		value = 1
	}
	m.missing.WithLabelValues(policy).Set(value)
}
