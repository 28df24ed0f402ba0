# The image is the static binary, the certificates and an empty /tmp.
# There is no shell and no HTTP client in it, hence no HEALTHCHECK: whoever runs
# it asks /livez and /readyz of the learner (8080) and the scorer (8081), as
# Kubernetes does, or watches accrete_last_progress_timestamp_seconds.

FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION=
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w -X github.com/accrete-ml/accrete/cmd/accrete/internal/version.release=$VERSION" -o /out/accrete ./cmd/accrete
RUN mkdir -m 1777 /out/tmp

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/ /
USER 65532:65532
EXPOSE 8080 8081
ENTRYPOINT ["/accrete"]
CMD ["--help"]
