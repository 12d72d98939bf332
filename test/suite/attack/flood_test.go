package attack

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// floodAttacks are made by a pod that sends the controller's ports more than they can take.
func floodAttacks() map[string]attack {
	const keeps = "the loop: pods of others get nodes"
	return map[string]attack{
		"neighbour/webhook-bombs": {
			story: "a pod sends the webhook policies that take all memory when they are compiled", want: "refusals, within bounds", keeps: keeps + "; the controller's memory",
			launches: true, restarts: true, run: func(t *testing.T) {
				besiege(t, func(i int) []byte {
					return review(t, fmt.Sprintf("bomb-%d", i), "package spokeshave.rank\n"+doubled("[1, 1]")+"exclude contains \"x\" if json.marshal(a40) == input.offering.zone\n")
				})
			},
		},
		"neighbour/webhook-bodies": {
			story: "a pod sends the webhook requests of 5 MB that are no reviews", want: "refusals, within bounds", keeps: keeps + "; the controller's memory",
			launches: true, restarts: true, run: func(t *testing.T) {
				body := bytes.Repeat([]byte("[1,2,3],"), 700<<10)
				besiege(t, func(int) []byte { return body })
			},
		},
		"neighbour/slow-handshakes": {
			story: "a pod opens 200 connections whose TLS handshakes never end", want: "they wait for nobody", keeps: keeps, launches: true,
			run: func(t *testing.T) { dangle(t, stack.NetworkURL(), "\x16\x03\x01") },
		},
		"neighbour/slow-readers": {
			story: "somebody asks for decisions by 200 connections, and reads nothing", want: "they wait for nobody", keeps: keeps, launches: true,
			run: func(t *testing.T) {
				dangle(t, stack.MetricsURL(), "GET /decisions HTTP/1.1\r\nHost: localhost\r\n\r\n")
			},
		},
		"neighbour/wrong-tokens": {
			story: "a pod scrapes with 400 wrong tokens at once, so that the controller asks the API server about each", want: "few of them reach the API server; others may scrape",
			keeps: "the API server's load", run: wrongTokens,
		},
		"neighbour/large-headers": {
			story: "a pod sends headers of 4 MB in twenty requests at once", want: "they are refused", keeps: "the controller's memory", memory: true, run: largeHeaders,
		},
	}
}

// dangle opens connections, sends a text, and does no more. Pods get nodes all the same.
func dangle(t *testing.T, address, text string) {
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := fmt.Fprint(conn, text); err != nil {
			t.Fatal(err)
		}
	}
	serve(t)
}

func wrongTokens(t *testing.T) {
	var all sync.WaitGroup
	before := tokenReviews(t)
	codes := make(chan int, 400)
	for i := range cap(codes) {
		all.Go(func() {
			code, _ := get(t.Context(), stack.NetworkURL()+"/metrics", "", fmt.Sprintf("wrong-%d", i))
			codes <- code
		})
	}
	all.Wait()
	close(codes)
	for code := range codes {
		if code == http.StatusOK {
			t.Error("a wrong token was let in")
		}
	}
	if asked := tokenReviews(t) - before; asked > 200 {
		t.Errorf("the API server was asked about %d of 400 tokens", asked)
	}
	token := scraperToken(t)
	until(t, "others to scrape", func(ctx context.Context) (string, bool) {
		code, body := get(ctx, stack.NetworkURL()+"/metrics", "", token)
		return fmt.Sprintf("%d: %.100s", code, body), code == http.StatusOK
	})
}

// tokenReviews returns how many reviews of tokens the API server has answered.
func tokenReviews(t *testing.T) int {
	t.Helper()
	text, err := stack.Kubectl(t.Context(), "get", "--raw", "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "apiserver_request_total{") && strings.Contains(line, `resource="tokenreviews"`) {
			n := 0
			if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &n); err != nil {
				t.Fatal(err)
			}
			sum += n
		}
	}
	return sum
}

func largeHeaders(t *testing.T) {
	var all sync.WaitGroup
	token := strings.Repeat("x", 4<<20)
	for range 20 {
		all.Go(func() {
			if code, body := get(t.Context(), stack.NetworkURL()+"/metrics", "", token); code == http.StatusOK || strings.Contains(body, "spokeshave_") {
				t.Errorf("%d: %.100s", code, body)
			}
		})
	}
	all.Wait()
}
