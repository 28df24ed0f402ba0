package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/auth"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

const canary = "canary-Tz9Qw4Lk7"

// secrets holds spellings of values that must never be printed or stored.
type secrets []string

func (s secrets) check(t *testing.T, where string, output []byte) {
	t.Helper()
	for _, secret := range s {
		if i := bytes.Index(output, []byte(secret)); i >= 0 {
			t.Errorf("%s shows a secret: …%s…", where, output[max(0, i-80):min(len(output), i+80)])
		}
	}
}

// key writes a signing key and returns its path and spellings of it.
func key(t *testing.T) (path string, spellings secrets) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "sign.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	seed := private.Seed()
	return path, secrets{base64.StdEncoding.EncodeToString(der), base64.StdEncoding.EncodeToString(seed), hex.EncodeToString(seed), string(seed), fmt.Sprint(seed)}
}

// loginFor writes a configuration that logs in at addr. The parameter where
// selects the source of the password: loginFor also returns the environment
// variables that it needs.
func loginFor(t *testing.T, addr, password, where, signKey string) (path string, environ []string) {
	t.Helper()
	dir := t.TempDir()
	secret := ""
	switch where {
	case "file":
		if err := os.WriteFile(filepath.Join(dir, "password"), []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		secret = "sasl.password_file: " + filepath.Join(dir, "password")
	case "configuration":
		secret = "sasl.password: " + password
	case "environment":
		environ = []string{"ACCRETE_KAFKA_SASL_PASSWORD=" + password}
	}
	path = filepath.Join(dir, "accrete.yaml")
	text := fmt.Sprintf(`model: m
kafka:
  bootstrap.servers: %q
  security.protocol: SASL_PLAINTEXT
  sasl.mechanism: PLAIN
  sasl.username: someone
  %s
input: {topics: [in], label: label}
learner: {algorithm: all, max_features: 64, kernel: "gaussian:1.5"}
score: {topics: [in], http.listen: "127.0.0.1:0"}
snapshot: {sign_key_file: %s}
http: {listen: "127.0.0.1:0"}
`, addr, secret, signKey)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, environ
}

// TestNoOutputShowsASecret runs every command that has a configuration, with a
// password and a signing key from each possible source, on a broker that
// accepts the login, on one that rejects it, and without a broker. It searches
// everything that the commands print, serve and write for the secrets.
func TestNoOutputShowsASecret(t *testing.T) {
	if testing.Short() {
		t.Skip("about 20 s")
	}
	t.Parallel()
	signKey, hidden := key(t)
	hidden = append(hidden, canary, base64.StdEncoding.EncodeToString([]byte(canary)), hex.EncodeToString([]byte(canary)),
		base64.StdEncoding.EncodeToString([]byte("\x00someone\x00"+canary)))
	cluster := func(password string) string {
		k, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(), kfake.Superuser("PLAIN", "someone", password), kfake.SeedTopics(1, "in"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(k.Close)
		return k.ListenAddrs()[0]
	}
	good, denied := cluster(canary), cluster("another")
	client := kafkatest.ClientOf(t, good, func(c *ingest.Config) {
		c.Security = auth.Security{Protocol: "SASL_PLAINTEXT", Mechanism: "PLAIN", Username: "someone", Password: canary}
	})
	var rows strings.Builder
	rng := rand.New(rand.NewPCG(1, 2))
	var values []string
	for range 300 {
		values = append(values, string(ring(rng)))
		rows.WriteString(values[len(values)-1] + "\n")
	}
	kafkatest.Fill(t, client, "in", 1, values)
	file := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(file, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(t.TempDir(), "challenger.snap")
	lines := map[string][][]string{ // arguments of each command, in an order in which they can succeed
		"lint":    {{"lint"}, {"lint", "--json"}, {"lint", "--set", "learner.seed=x"}},
		"learn":   {{"learn", "--to-end", "--json"}, {"learn", "--to-end", "--log-level", "debug"}},
		"verify":  {{"verify"}, {"verify", "--json"}},
		"inspect": {{"inspect"}, {"inspect", "--json", "--records", "1000"}},
		"refit":   {{"refit", "--save", saved}},
		"resume":  {{"resume"}},
		"score":   {{"score", "--to-end", "--json"}},
		"feed":    {{"feed", file}},
		"doctor":  {{"doctor"}, {"doctor", "--json"}, {"doctor", "--set", "learner.seed=x"}},
		"tail":    {{"tail", "--to-end"}, {"tail", "--to-end", "--json"}},
		"adopt":   {{"adopt"}},
		"export":  {{"export", saved + ".export"}},
		"import":  {{"import", saved + ".export"}},
	}
	order := []string{"lint", "feed", "learn", "verify", "inspect", "refit", "resume", "score", "tail", "doctor", "adopt", "export", "import"}
	all := reflect.TypeFor[commands]()
	for i := range all.NumField() {
		f := all.Field(i)
		name := strings.ToLower(f.Name)
		if f.Type.Kind() != reflect.Struct || lines[name] != nil {
			continue
		}
		if _, has := f.Type.FieldByName("ConfigFlags"); has {
			lines[name], order = [][]string{{name}}, append(order, name)
		}
	}
	for _, where := range []string{"configuration", "environment", "file"} {
		for _, to := range []struct{ what, addr string }{{"a broker", good}, {"a broker with another password", denied}, {"no broker", "127.0.0.1:1"}} {
			path, environ := loginFor(t, to.addr, canary, where, signKey)
			for _, name := range order {
				for _, args := range lines[name] {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					if to.addr != good { // where the command only retries
						cancel()
						ctx, cancel = context.WithTimeout(t.Context(), 500*time.Millisecond)
					}
					var out, err bytes.Buffer
					code := run(ctx, append(args[:len(args):len(args)], "-c", path), environ, strings.NewReader(""), &out, &err)
					cancel()
					what := fmt.Sprintf("%v with the password in the %s, on %s", args, where, to.what)
					if to.addr == good && (name == "learn" || name == "verify") && code != exit.Done {
						t.Errorf("%s: exit code %d\n%s", what, code, err.String())
					}
					hidden.check(t, what, append(out.Bytes(), err.Bytes()...))
				}
			}
			serves(t, hidden, path, environ)
		}
	}
	for _, args := range [][]string{{"lint", "--set", "kafka.sasl.password=" + canary}, {"learn", "--set", "kafka.sasl.password=" + canary}} {
		path, _ := loginFor(t, good, canary, "environment", signKey)
		_, out, err := call(t, nil, append(args, "-c", path)...)
		hidden.check(t, fmt.Sprint(args[:2]), []byte(out+err))
	}
	for _, topic := range []string{"m.log", "m.predictions", "m.quarantine", "m.heartbeats", "m.scores"} {
		rs := kafkatest.Read(t, client, topic)
		if len(rs) == 0 && topic != "m.quarantine" && topic != "m.scores" {
			t.Errorf("topic %s is empty", topic)
		}
		for _, r := range rs {
			text, err := json.Marshal(r.Headers)
			if err != nil {
				t.Fatal(err)
			}
			hidden.check(t, fmt.Sprintf("%s/0 offset %d", topic, r.Offset), bytes.Join([][]byte{r.Key, r.Value, text}, []byte{'\n'}))
		}
	}
	challenger, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.Decode(challenger, 0)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		text = fmt.Appendf(nil, "%+v", s)
	}
	hidden.check(t, "a snapshot", append(append(text, s.Config...), challenger...))
}

var serving = regexp.MustCompile(`"address":"([^"]+)"`)

// serves starts a learner and a scorer, and checks what their HTTP servers
// return.
func serves(t *testing.T, hidden secrets, path string, environ []string) {
	t.Helper()
	for _, name := range []string{"learn", "score"} {
		ctx, stop := context.WithCancel(t.Context())
		var out, log output
		ended := make(chan int, 1)
		go func() { ended <- run(ctx, []string{name, "-c", path}, environ, strings.NewReader(""), &out, &log) }()
		var at []string
		for at == nil && len(ended) == 0 {
			at = serving.FindStringSubmatch(log.String())
			time.Sleep(time.Millisecond)
		}
		if at != nil {
			for _, page := range []string{"/metrics", "/readyz", "/livez", "/"} {
				resp, err := http.Get("http://" + at[1] + page)
				if err != nil {
					continue // the process may have exited
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil {
					t.Error(err)
				}
				hidden.check(t, name+" "+page, body)
			}
		}
		stop()
		<-ended
		hidden.check(t, name, []byte(out.String()+log.String()))
	}
}
