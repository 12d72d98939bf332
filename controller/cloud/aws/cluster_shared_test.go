package aws_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/test/kit/eventually"
)

// While EKS is being asked and nothing is known, the others wait for the same
// answer, though it is a failure, and whoever gives up does so at once.
func TestClusterIsAskedForOnceByMany(t *testing.T) {
	const callers = 20
	w := newEC2Of(t, "m7i.")
	var asked atomic.Int64
	came, answer := make(chan struct{}), make(chan struct{})
	w.provider = w.newProvider(t, serve(t, func(out http.ResponseWriter, in *http.Request) {
		if !strings.HasPrefix(in.URL.Path, "/clusters/") {
			w.server.ServeHTTP(out, in)
			return
		}
		if asked.Add(1) == 1 {
			close(came)
		}
		<-answer
		out.Header().Set("X-Amzn-Errortype", "AccessDeniedException")
		out.WriteHeader(http.StatusForbidden)
	}))
	class := &awsv1.EC2NodeClass{Spec: awsv1.EC2NodeClassSpec{AMISelectorTerms: []awsv1.AMISelectorTerm{{Alias: "bottlerocket@latest"}}}}
	var begun, all sync.WaitGroup
	begun.Add(callers)
	for range callers {
		all.Go(func() {
			begun.Done()
			_, err := w.provider.NodeClasses().Images(t.Context(), class)
			wantKind(t, err, provider.Unauthorized)
		})
	}
	<-came
	begun.Wait()

	gone, leave := context.WithCancel(t.Context())
	leave()
	left := make(chan error, 1)
	go func() {
		_, err := w.provider.NodeClasses().Images(gone, class)
		left <- err
	}()
	select {
	case err := <-left:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("who gave up got %v", err)
		}
	case <-time.After(eventually.Within):
		t.Error("who has given up still waits for EKS")
	}
	close(answer)
	all.Wait()
	if n := asked.Load(); n >= callers { // who came after the answer may have asked again
		t.Errorf("EKS was asked %d times by %d callers", n, callers)
	}
}
