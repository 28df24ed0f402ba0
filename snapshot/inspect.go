package snapshot

// Summary describes a file for a caller that sends it in chunks.
type Summary struct {
	Model      string
	Seq        int64
	Step       int64
	Chain      Hash
	Lineage    Hash
	ConfigHash Hash
	Config     []byte
	StateHash  Hash

	Size        int64 // of the file
	SHA256      Hash  // of the file
	ServingSize int64 // of its serving part, seal included
	Seal        Hash  // of the serving part
}

// Inspect reads the layout, the header and the serving part of a file. It does not verify hashes.
// Its errors are those of DecodeServing.
func Inspect(file []byte) (*Summary, error) {
	f, err := open(file, int64(len(file)))
	if err != nil {
		return nil, err
	}
	s, err := f.read(f.sections[:f.first])
	if err != nil {
		return nil, err
	}
	return &Summary{
		Model: s.Model, Seq: s.Seq, Step: s.Step,
		Chain: s.Chain, Lineage: s.Lineage, ConfigHash: s.ConfigHash, Config: s.Config, StateHash: f.state,
		Size: f.fileLen, SHA256: sha(file),
		ServingSize: f.serving, Seal: Hash(file[f.serving-SealSize : f.serving]),
	}, nil
}
