package kafkatest

import (
	"os"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// NewOwnReal starts an Apache Kafka beside the one of KAFKA_DIR, until the test ends. It skips
// the test where there is none.
func NewOwnReal(t testing.TB) *Real {
	t.Helper()
	r := &Real{t: t, script: os.Getenv("ACCRETE_TEST_KAFKA"), dir: t.TempDir()}
	if r.script == "" {
		t.Skip("no Apache Kafka: ACCRETE_TEST_KAFKA does not name .ci/kafka.sh")
	}
	t.Cleanup(func() { r.run("clean") })
	r.Addr = r.run("start")
	return r
}

// Kill ends the broker without warning.
func (r *Real) Kill() { r.t.Helper(); r.run("kill") }

// Start starts the broker again.
func (r *Real) Start() { r.t.Helper(); r.run("start") }

// TLS returns the address of the listener for TLS, and the directory of its certificates.
func (r *Real) TLS() (addr, dir string) {
	r.t.Helper()
	addr, dir, _ = strings.Cut(r.run("tls"), " ")
	return addr, dir
}

// ask sends a request to the cluster at addr.
func ask[R kmsg.Response](t testing.TB, addr string, req interface{ kmsg.Request }) (resp R) {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(addr, ",")...))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := c.Request(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return got.(R)
}

// Deny forbids a user to read a topic, until the returned function is called.
func Deny(t testing.TB, addr, user, topic string) (allow func()) {
	t.Helper()
	req, one := kmsg.NewPtrCreateACLsRequest(), kmsg.NewCreateACLsRequestCreation()
	one.ResourceType, one.ResourceName, one.ResourcePatternType = kmsg.ACLResourceTypeTopic, topic, kmsg.ACLResourcePatternTypeLiteral
	one.Principal, one.Host, one.Operation, one.PermissionType = "User:"+user, "*", kmsg.ACLOperationRead, kmsg.ACLPermissionTypeDeny
	req.Creations = append(req.Creations, one)
	if r := ask[*kmsg.CreateACLsResponse](t, addr, req).Results[0]; r.ErrorCode != 0 {
		t.Fatalf("denying %s: error %d", topic, r.ErrorCode)
	}
	return func() {
		req, f := kmsg.NewPtrDeleteACLsRequest(), kmsg.NewDeleteACLsRequestFilter()
		f.ResourceType, f.ResourceName, f.ResourcePatternType = kmsg.ACLResourceTypeTopic, &topic, kmsg.ACLResourcePatternTypeLiteral
		f.Operation, f.PermissionType = kmsg.ACLOperationAny, kmsg.ACLPermissionTypeAny
		req.Filters = append(req.Filters, f)
		ask[*kmsg.DeleteACLsResponse](t, addr, req)
	}
}
