package policies

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/load"
)

// ValidatorPath is the URL path of the webhook.
const ValidatorPath = "/validate-policy"

// validatorSlots is how many policies the webhook checks at the same time, so that a flood
// of requests cannot take the processors that decisions need.
const validatorSlots = 2

// Validator is an admission webhook that refuses broken policies when they are applied, with
// the message with which the loader would reject them. It checks them with its own
// loader and does not touch the policies in force. It admits a policy that it cannot
// check in time, since the loader checks it again.
type Validator struct {
	// Namespace is the controller's; Plugins are the other namespaces whose policies
	// are watched.
	Namespace string
	Plugins   []string
	// Scopes are the plugin namespaces' scopes.
	Scopes  map[string]policy.Scope
	Engines map[string]policy.Engine
	Now     func() time.Time

	slots chan struct{}
}

var _ admission.Handler = (*Validator)(nil)

// NewValidator returns a validator with g's fields.
func NewValidator(g Validator) *Validator {
	g.slots = make(chan struct{}, validatorSlots)
	return &g
}

// Handle implements admission.Handler.
func (g *Validator) Handle(ctx context.Context, req admission.Request) admission.Response {
	cm, old := &corev1.ConfigMap{}, &corev1.ConfigMap{}
	if err := json.Unmarshal(req.Object.Raw, cm); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("read the ConfigMap: %w", err))
	}
	if len(req.OldObject.Raw) > 0 {
		if err := json.Unmarshal(req.OldObject.Raw, old); err != nil {
			return admission.Errored(http.StatusBadRequest, fmt.Errorf("read the ConfigMap as it was: %w", err))
		}
	}
	cm.Namespace, cm.Name = req.Namespace, req.Name
	watched := req.Namespace == g.Namespace || slices.Contains(g.Plugins, req.Namespace)
	switch {
	case !watched || cm.Labels[karpv1.LabelPolicy] != "true":
		return admission.Allowed("not a policy")
	case old.Labels[karpv1.LabelPolicy] == "true" && load.Hash(cm) == load.Hash(old):
		return admission.Allowed("the policy does not change")
	}
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	case <-ctx.Done():
		return admission.Allowed("").WithWarnings("the policy was not checked, too many are being: see spokeshave policy list")
	}
	return g.judge(ctx, cm)
}

func (g *Validator) judge(ctx context.Context, cm *corev1.ConfigMap) admission.Response {
	l := load.New(load.Config{Namespace: g.Namespace, Scopes: g.Scopes, Engines: g.Engines, Now: g.Now})
	_, err := l.Apply(ctx, cm)
	if err != nil && ctx.Err() == nil {
		return admission.Denied(err.Error())
	}
	if _, err := l.Delete(ctx, load.Key{Namespace: cm.Namespace, Name: cm.Name}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "a policy that was judged does not end")
	}
	return admission.Allowed("")
}
