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

// Proto returns a schema in the language of Protocol Buffers, and what it imports, as a
// decode.Writer has it: a FileDescriptorSet in base64.
func Proto(ctx context.Context, text string, imports map[string]string) (string, error) {
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
