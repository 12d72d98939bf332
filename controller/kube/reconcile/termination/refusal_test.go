package termination

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestAnswerAtOnce: a refused eviction is requested once, whatever its Retry-After
// header says. Other requests are repeated as usual.
func TestAnswerAtOnce(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	cfg := &rest.Config{Host: server.URL, QPS: -1}
	cfg.Wrap(WithoutRetryAfter)
	c, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	pods := c.CoreV1().Pods("default")
	for name, tc := range map[string]struct {
		reason string
		call   func() error
		once   bool
	}{
		"eviction": {reason: "the drain asks again", once: true, call: func() error {
			return pods.EvictV1(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p"}})
		}},
		"creation": {reason: "the client asks again", call: func() error {
			_, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, metav1.CreateOptions{})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			asked.Store(0)
			if err := tc.call(); !apierrors.IsTooManyRequests(err) {
				t.Fatal(err)
			}
			if n := asked.Load(); (n == 1) != tc.once {
				t.Errorf("%s: asked %d times", tc.reason, n)
			}
		})
	}
}
