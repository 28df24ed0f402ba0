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

// A process that may do everything but read the configuration of the model log refuses
// it, with the operation that has to be granted, and writes nothing.
func TestDeniedDescribeConfigsIsRefused(t *testing.T) {
	in := kafkatest.Name("rings")
	on := func(name string, operation kmsg.ACLOperation, allow bool) kfake.ACL {
		return kfake.ACL{Resource: kmsg.ACLResourceTypeTopic, Name: name, Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: operation, Allow: allow}
	}
	k, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "admin", "admin"),
		kfake.User("SCRAM-SHA-256", "ann", "pw", on("*", kmsg.ACLOperationAll, true), on(model.LogTopic("m."+in), kmsg.ACLOperationDescribeConfigs, false)))
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	as := func(s auth.Security) *ingest.Client {
		s.Protocol = "SASL_PLAINTEXT"
		return kafkatest.ClientOf(t, k.ListenAddrs()[0], func(c *ingest.Config) { c.Security = s })
	}
	root := as(auth.Security{Mechanism: "PLAIN", Username: "admin", Password: "admin"})
	kafkatest.Fill(t, root, in, 1, learntest.Rings(300))
	cfg, _ := learntest.Config(root, "m", in)
	learnAll(t, cfg)
	before := len(kafkatest.Read(t, root, model.LogTopic(cfg.Model)))

	cfg.Client = as(auth.Security{Mechanism: "SCRAM-SHA-256", Username: "ann", Password: "pw"})
	const want = "grant the operation DescribeConfigs on the topic"
	_, err = Open(t.Context(), cfg)
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
		k, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "admin", "admin"),
			kfake.User("SCRAM-SHA-256", "ann", "pw", may...))
		if err != nil {
			t.Fatal(err)
		}
		defer k.Close()
		as := func(s auth.Security) *ingest.Client {
			s.Protocol = "SASL_PLAINTEXT"
			return kafkatest.ClientOf(t, k.ListenAddrs()[0], func(c *ingest.Config) { c.Security = s })
		}
		kafkatest.Fill(t, as(auth.Security{Mechanism: "PLAIN", Username: "admin", Password: "admin"}), in, 1, learntest.Rings(300))
		cfg, _ := learntest.Config(as(auth.Security{Mechanism: "SCRAM-SHA-256", Username: "ann", Password: "pw"}), "m", in)
		cfg.Transactional = transactional
		learnAll(t, cfg)
	}
}
