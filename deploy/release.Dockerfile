# The image of a release, around the binary that goreleaser has built.
FROM debian:bookworm-slim AS files
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && mkdir -m 1777 /out-tmp

FROM scratch
ARG TARGETPLATFORM
COPY --from=files /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=files /out-tmp /tmp
COPY $TARGETPLATFORM/accrete /accrete
USER 65532:65532
EXPOSE 8080 8081
ENTRYPOINT ["/accrete"]
CMD ["--help"]
