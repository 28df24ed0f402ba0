package metrics

import (
	"fmt"
	"net/http"
	"strings"
)

// Refuse answers a request with an error in the format of all servers, {"error": text}.
func Refuse(w http.ResponseWriter, code int, text string) {
	reply(w, code, map[string]string{"error": text})
}

var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// missing answers requests for which mux has no other pattern: with status 405 if mux has a
// pattern for another method, otherwise with 404.
func missing(mux *http.ServeMux) http.HandlerFunc {
	has := func(method string, r *http.Request) bool {
		_, pattern := mux.Handler(&http.Request{Method: method, Host: r.Host, URL: r.URL})
		return pattern != "" && pattern != "/"
	}
	return func(w http.ResponseWriter, r *http.Request) {
		var allow []string
		for _, method := range methods {
			if has(method, r) {
				allow = append(allow, method)
			}
		}
		if len(allow) == 0 {
			Refuse(w, http.StatusNotFound, fmt.Sprintf("there is no %.200s", r.URL.Path))
			return
		}
		w.Header().Set("Allow", strings.Join(allow, ", "))
		Refuse(w, http.StatusMethodNotAllowed, fmt.Sprintf("%.20s is not allowed for %.200s: want %s", r.Method, r.URL.Path, strings.Join(allow, " or ")))
	}
}
