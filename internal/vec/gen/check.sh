#!/bin/sh
# Fails if the committed assembly is not what the generator writes.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/gen"
cp gen/*.go gen/go.mod gen/go.sum "$tmp/gen"
(cd "$tmp/gen" && go run . -out ../kernel_amd64.s -stubs ../kernel_amd64.go -pkg vec)
diff -q "$tmp/kernel_amd64.s" kernel_amd64.s
diff -q "$tmp/kernel_amd64.go" kernel_amd64.go
