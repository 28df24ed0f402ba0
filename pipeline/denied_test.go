package pipeline

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/auth"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// withUser returns clients of a new broker for its administrator, and for a user who may do no more than
// the rules say.
func withUser(t *testing.T, rules ...kfake.ACL) (root, ann *ingest.Client) {
	t.Helper()
	k, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(), kfake.EnableACLs(),
		kfake.Superuser("PLAIN", "admin", "admin"), kfake.User("SCRAM-SHA-256", "ann", "pw", rules...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	as := func(mechanism, name, password string) *ingest.Client {
		return kafkatest.ClientOf(t, k.ListenAddrs()[0], func(c *ingest.Config) {
			c.Security = auth.Security{Protocol: "SASL_PLAINTEXT", Mechanism: mechanism, Username: name, Password: password}
		})
	}
	return as("PLAIN", "admin", "admin"), as("SCRAM-SHA-256", "ann", "pw")
}

// A process that may do everything but read the configuration of the model log refuses
// it, with the operation that has to be granted, and writes nothing.
func TestDeniedDescribeConfigsIsRefused(t *testing.T) {
	in := kafkatest.Name("rings")
	on := func(name string, operation kmsg.ACLOperation, allow bool) kfake.ACL {
		return kfake.ACL{Resource: kmsg.ACLResourceTypeTopic, Name: name, Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: operation, Allow: allow}
	}
	root, ann := withUser(t, on("*", kmsg.ACLOperationAll, true), on(model.LogTopic("m."+in), kmsg.ACLOperationDescribeConfigs, false))
	kafkatest.Fill(t, root, in, 1, learntest.Rings(300))
	cfg, _ := learntest.Config(root, "m", in)
	learnAll(t, cfg)
	before := len(kafkatest.Read(t, root, model.LogTopic(cfg.Model)))

	cfg.Client = ann
	const want = "grant the operation DescribeConfigs on the topic"
	_, err := Open(t.Context(), cfg)
	learntest.Wants(t, err, ErrLog, want)
	learntest.Wants(t, err, ingest.ErrDenied, model.LogTopic(cfg.Model))
	_, err = audit.Verify(t.Context(), cfg)
	learntest.Wants(t, err, ErrLog, want)
	_, err = admin.Rollback(t.Context(), cfg, admin.RollbackTo{})
	learntest.Wants(t, err, ErrLog, want)
	if after := len(kafkatest.Read(t, root, model.LogTopic(cfg.Model))); after != before {
		t.Errorf("the log has %d records, before %d", after, before)
	}
}

// A learner with the permissions that SECURITY.md lists, and no others, learns, with both deliveries,
// and without transactions also if it may not see the topic that only these write.
func TestLeastPrivilegeSuffices(t *testing.T) {
	for _, transactional := range []bool{false, true} {
		in := kafkatest.Name("rings")
		m := "m." + in
		var may []kfake.ACL
		grant := func(kind kmsg.ACLResourceType, name string, operations ...kmsg.ACLOperation) {
			for _, o := range operations {
				may = append(may, kfake.ACL{Resource: kind, Name: name, Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: o, Allow: true})
			}
		}
		const (
			topic                       = kmsg.ACLResourceTypeTopic
			read, write, remove, create = kmsg.ACLOperationRead, kmsg.ACLOperationWrite, kmsg.ACLOperationDelete, kmsg.ACLOperationCreate
			describe, configs           = kmsg.ACLOperationDescribe, kmsg.ACLOperationDescribeConfigs
		)
		grant(topic, in, read, describe, configs)
		grant(topic, model.LogTopic(m), read, write, remove, create, describe, configs)
		grant(topic, model.PredictionsTopic(m), read, write, create, describe, configs)
		grant(topic, model.QuarantineTopic(m), read, write, create, describe, configs)
		grant(topic, m+".heartbeats", read, write, create, describe)
		if transactional {
			grant(topic, model.ReleasedTopic(m), read, write, remove, create, describe)
			grant(kmsg.ACLResourceTypeTransactionalId, "accrete-"+m, write, describe)
		}
		root, ann := withUser(t, may...)
		kafkatest.Fill(t, root, in, 1, learntest.Rings(300))
		cfg, _ := learntest.Config(ann, "m", in)
		cfg.Transactional = transactional
		learnAll(t, cfg)
	}
}
