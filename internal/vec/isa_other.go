//go:build !amd64 || purego

package vec

func native() []isa { return nil }
