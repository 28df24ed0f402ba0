package registry

import (
	"context"
	"encoding/base64"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Proto compiles a schema in the language of Protocol Buffers, with the files that it imports,
// to the format of a decode.Writer: a FileDescriptorSet in base64. imports has the text of
// files by path.
func Proto(ctx context.Context, text string, imports map[string]string) (string, error) {
	if set := described(text); set != "" {
		return set, nil
	}
	const name = "schema.proto"
	files := map[string]string{name: text}
	for path, text := range imports {
		files[path] = text
	}
	c := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(files)}),
		MaxParallelism: 1,
	}
	made, err := c.Compile(ctx, name)
	if err != nil {
		return "", err
	}
	var set descriptorpb.FileDescriptorSet
	seen := map[string]bool{}
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		set.File = append(set.File, protodesc.ToFileDescriptorProto(f))
	}
	add(made[0])
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(&set)
	return base64.StdEncoding.EncodeToString(b), err
}

// described returns the FileDescriptorSet, in base64, for a text that is a FileDescriptorProto in
// base64. Serializers for Python register schemas in this format, and some registries return
// them unchanged. described returns "" for other texts, and for files with imports.
func described(text string) string {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	f := new(descriptorpb.FileDescriptorProto)
	if proto.Unmarshal(b, f) != nil || len(f.MessageType) == 0 || len(f.Dependency) > 0 {
		return ""
	}
	if b, err = (proto.MarshalOptions{Deterministic: true}).Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{f}}); err != nil {
		return ""
	}
	return base64.StdEncoding.EncodeToString(b)
}
