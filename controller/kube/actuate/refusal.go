package actuate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/announce"
	"spokeshave.dev/controller/kube/condition"
)

// RefusedError says that the API server refused to write one object, and that the application
// of the decision went on without it. Methods of [Actuator] return refusals joined with
// errors.Join; [Refusals] takes them apart.
type RefusedError struct {
	// Kind and Name are the object's: a NodeClaim or a Node.
	Kind, Name string
	// Pool and Pods are of a claim that could not be created: its NodePool, and the
	// UIDs of the pods for which it was.
	Pool string
	Pods []types.UID
	// Err is the API server's answer, with what was tried.
	Err error
}

// Error implements error.
func (r *RefusedError) Error() string { return r.Err.Error() }

// Unwrap returns the API server's answer.
func (r *RefusedError) Unwrap() error { return r.Err }

// Stale reports whether the object has changed since it was read. The next decision sees
// the change.
func (r *RefusedError) Stale() bool { return apierrors.IsConflict(r.Err) }

// Message is the API server's answer without the names of claims, which are new with
// every decision.
func (r *RefusedError) Message() string {
	text := r.Err.Error()
	var status apierrors.APIStatus
	if errors.As(r.Err, &status) {
		text = status.Status().Message
	}
	if r.Pool != "" {
		text = strings.ReplaceAll(text, r.Name, r.Pool)
	}
	return announce.Cut(text, announce.NoteLimit/2)
}

// Refusals returns the refusals that were joined in the error of an application. rest is
// the error that ended it, nil when the application has gone through all of the
// decision.
func Refusals(err error) (refused []*RefusedError, rest error) {
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, one := range all {
		if r := (*RefusedError)(nil); errors.As(one, &r) {
			refused = append(refused, r)
			continue
		}
		rest = errors.Join(rest, one)
	}
	return refused, rest
}

// isRefused reports whether an error is the API server's answer about one object, be it
// by validation, admission, authorization or a conflict. Otherwise the API server could
// not be asked, or cannot answer now, and would not answer for the next object either.
func isRefused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch code := status.Status().Code; code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return strings.Contains(status.Status().Message, webhookDenial)
	case http.StatusInternalServerError: // a webhook that fails, or a bug in what the object asks for
		return true
	default:
		return code >= 400 && code < 500 || strings.Contains(status.Status().Message, webhookDenial)
	}
}

// webhookDenial is in the message of an error whose code an admission webhook has chosen.
const webhookDenial = "denied the request"

// mayBeWritten reports whether a write with the error may have been carried out all the same: the
// connection was lost, or the API server gave up waiting for its store.
func mayBeWritten(err error) bool {
	if err == nil {
		return false
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true
	}
	code := status.Status().Code
	return code == http.StatusRequestTimeout || code >= 500 || code < 400
}

// application goes through a decision past refused objects.
type application struct {
	refusals []error
}

// done records a refusal and returns any other error.
func (a *application) done(err error, r RefusedError) error {
	if err == nil {
		return nil
	}
	if known := (*RefusedError)(nil); errors.As(err, &known) {
		err = known.Err
	}
	if !isRefused(err) {
		return err
	}
	r.Err = err
	a.refusals = append(a.refusals, &r)
	return nil
}

// write is done, and adds the name of the object to the list if it was written.
func (a *application) write(err error, r RefusedError, to *[]string) error {
	if err == nil {
		*to = append(*to, r.Name)
	}
	return a.done(err, r)
}

// end joins the refusals with the error that ended the application, nil for none.
func (a *application) end(err error) error {
	return errors.Join(append(a.refusals, err)...)
}

// TellNotWritten says on a node or claim, by an event, that the API server refuses to
// change it.
func (a *Actuator) TellNotWritten(ctx context.Context, now time.Time, r *RefusedError) {
	var about client.Object = &corev1.Node{}
	if r.Kind == "NodeClaim" {
		about = &karpv1.NodeClaim{}
	}
	text := "the API server refuses to change it: " + r.Message()
	if !a.Reporter.shouldSend(eventKey{r.Kind, r.Name, karpv1.EventDisruptionBlocked}, text, now) {
		return
	}
	if err := a.Client.Get(ctx, types.NamespacedName{Name: r.Name}, about); err == nil {
		a.Reporter.Events.Eventf(about, nil, corev1.EventTypeWarning, karpv1.EventDisruptionBlocked, "Disrupt", "%s", text)
	}
}

// TellRefused says on a NodePool, by an event and its condition NodeClaimsAccepted, that
// the API server refuses its claims. message is the last answer, "" when a claim was
// created. pool is the watch cache's.
func (a *Actuator) TellRefused(ctx context.Context, pool *karpv1.NodePool, message string) error {
	last := meta.FindStatusCondition(pool.Status.Conditions, karpv1.ConditionNodeClaimsAccepted)
	if message == "" && (last == nil || last.Status == metav1.ConditionTrue) || message != "" && last != nil && last.Message == message && last.Status == metav1.ConditionFalse {
		return nil
	}
	changed := pool.DeepCopy()
	if message == "" {
		condition.True(&changed.Status.Conditions, pool.Generation, karpv1.ConditionNodeClaimsAccepted)
	} else {
		condition.False(&changed.Status.Conditions, pool.Generation, karpv1.ConditionNodeClaimsAccepted, karpv1.EventNodeClaimRefused, message)
		a.Reporter.Events.Eventf(pool, nil, corev1.EventTypeWarning, karpv1.EventNodeClaimRefused, "Launch", "the API server refuses a NodeClaim: %s", message)
	}
	// The conditions are one list: a change by the NodePool's own reconciler must not be
	// lost. The next refusal writes what a conflict has kept from being written.
	err := a.Client.Status().Patch(ctx, changed, client.MergeFromWithOptions(pool.DeepCopy(), client.MergeFromWithOptimisticLock{}))
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("write condition of NodePool %s: %w", pool.Name, err)
	}
	return nil
}
