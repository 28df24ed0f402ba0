package metrics

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// named answers requests for other hosts with 421: a page of another site, whose name an
// attacker has resolve to this machine (DNS rebinding), must not read what browsers may read
// here. A server on a loopback address answers to loopback names, to addresses, to the host
// of addr and to Access.Hosts. Any other server answers to every name unless there are
// Access.Hosts.
func (a Access) named(addr string, at net.Addr, next http.Handler) http.Handler {
	tcp, ok := at.(*net.TCPAddr)
	if len(a.Hosts) == 0 && (!ok || !tcp.IP.IsLoopback()) {
		return next
	}
	own, _, _ := net.SplitHostPort(addr)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
		known := host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host) != nil || strings.EqualFold(host, own) ||
			slices.ContainsFunc(a.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
		if !known && !slices.Contains(open, r.URL.Path) {
			Refuse(w, http.StatusMisdirectedRequest, "unknown host: add it to http.hosts")
			return
		}
		next.ServeHTTP(w, r)
	})
}
