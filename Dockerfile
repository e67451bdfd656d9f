# The operator's image, the same in content as what lab/images/operator.ts writes without Docker. Where other images stand for
# these three, as in a registry of one's own, they are named by --build-arg.
ARG BUILD_IMAGE=node:24.21.0-bookworm
ARG GO_IMAGE=golang:1.26-bookworm
ARG BASE_IMAGE=gcr.io/distroless/cc-debian12:nonroot

# Node of the release in package.json, with npm and strip.
FROM ${BUILD_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
# tsconfig.json makes the bundles strict code.
COPY tsconfig.json ./
COPY lab lab
COPY src src
RUN node lab/build/main.ts bundle
WORKDIR /image/usr/local/bin
RUN strip --strip-all -o node /usr/local/bin/node \
 && install -m 0755 /build/dist/etcd-operator.cjs etcd-operator \
 && install -m 0755 /build/dist/etcd-worker.cjs etcd-worker \
 && ln -s etcd-operator etcd-backup-operator \
 && ln -s etcd-operator etcd-restore-operator

# The worker restores snapshots of every version with the newest etcdutl. Not by `go install …@v3.7.3`: Go refuses that for a
# module with replace directives.
FROM ${GO_IMAGE} AS etcdutl
WORKDIR /build
RUN go mod init image \
 && go get go.etcd.io/etcd/etcdutl/v3@v3.7.3 \
 && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /image/usr/local/bin/etcdutl go.etcd.io/etcd/etcdutl/v3

# Distroless "cc" is glibc, libstdc++ and libgcc: what Node loads, and no shell.
FROM ${BASE_IMAGE}
COPY --from=build /image/ /
COPY --from=etcdutl /image/ /
ENV NODE_ENV=production NODE_OPTIONS=--max-semi-space-size=1 MALLOC_ARENA_MAX=1
USER 65532:65532
WORKDIR /
ENTRYPOINT ["/usr/local/bin/etcd-operator"]
