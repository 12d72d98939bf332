package endpoint

import (
	"net"
	"net/http"
)

// Local refuses requests for another host name than that of the loopback address,
// because a page of another site could point its name at the address.
func Local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback(r.Host) {
			http.Error(w, "ask for localhost or 127.0.0.1", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// IsLoopback reports whether an address, host:port, is one of the loopback interface.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && host != "" && loopback(host)
}

// loopback reports whether a host, with or without a port, is the loopback address.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
