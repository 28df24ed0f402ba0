#!/bin/sh
# Runs the tests of the arithmetic on other processors, small cases only: their
# golden values say that the bits are the same. qemu-user runs arm64 and s390x
# (a Debian package of that name); 386 needs none on amd64. Exits with 69 if
# there is no qemu.
#
#   internal/vec/foreign.sh [arm64] [s390x] [386]
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for arch in ${*:-arm64 s390x 386}; do
	case $arch in
	arm64) run=qemu-aarch64 ;;
	s390x) run=qemu-s390x ;;
	386) run= ;;
	*) echo "no emulator is known for $arch" >&2; exit 2 ;;
	esac
	if [ -n "$run" ] && ! command -v "$run" >/dev/null; then
		echo "$arch: there is no $run" >&2
		exit 69
	fi
	for package in internal/vec features; do
		CGO_ENABLED=0 GOARCH=$arch go test -c -o "$tmp/test" "./$package"
		(cd "$package" && $run "$tmp/test" -test.short)
		echo "$arch: $package has the same bits"
	done
done
for system in linux darwin windows; do
	for arch in amd64 arm64; do
		CGO_ENABLED=0 GOOS=$system GOARCH=$arch go build ./internal/vec/... ./features/...
	done
done
go test -count=1 -tags purego ./internal/vec ./features
for isa in generic avx2; do
	if [ $isa = generic ] || grep -q avx2 /proc/cpuinfo; then
		ACCRETE_ISA=$isa go test -count=1 ./internal/vec ./features
	fi
done
