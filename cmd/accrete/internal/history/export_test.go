package history

import (
	"strings"
	"testing"
)

// No message about the source of a snapshot asks for what another one refuses.
func TestExportNamesWhatGoesTogether(t *testing.T) {
	for _, test := range []struct {
		of   Export
		want string
	}{
		{Export{Model: "a.snap"}, "add --mlflow or --onnx"},
		{Export{Model: "a.snap", Snapshot: true}, "add --mlflow or --onnx"},
		{Export{Model: "a.snap", ONNX: true, Version: "3"}, "want one of them"},
		{Export{Version: "3"}, "add --snapshot, --mlflow or --onnx"},
	} {
		if err := test.of.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.of, err, test.want)
		}
	}
}
