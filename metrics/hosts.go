package metrics

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// named protects against DNS rebinding, in which an attacker lets the name of another site
// resolve to this machine, so that a page of that site can read responses of this server. named
// answers requests for unknown hosts with status 421. The known hosts of a server are loopback
// names, IP addresses, the host in addr, and Access.Hosts. A server that listens on other than a
// loopback address accepts every host unless Access.Hosts is set.
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
			a.refuse(w, r, http.StatusMisdirectedRequest, "unknown host: add it to http.hosts")
			return
		}
		next.ServeHTTP(w, r)
	})
}
