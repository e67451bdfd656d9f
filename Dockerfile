# The operator's image, the same in content as what lab/images/operator.ts writes without Docker.
FROM node:24.21.0-bookworm AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm install --no-save
COPY lab lab
COPY src src
RUN node lab/build/main.ts bundle
WORKDIR /image/usr/local/bin
RUN strip --strip-all -o node /usr/local/bin/node \
 && install -m 0755 /build/dist/etcd-operator.cjs etcd-operator \
 && install -m 0755 /build/dist/etcd-worker.cjs etcd-worker \
 && ln -s etcd-operator etcd-backup-operator \
 && ln -s etcd-operator etcd-restore-operator

# The worker restores snapshots of every version with the newest etcdutl.
FROM golang:1.26-bookworm AS etcdutl
RUN CGO_ENABLED=0 go install -trimpath -ldflags "-s -w" go.etcd.io/etcd/etcdutl/v3@v3.7.3

# Distroless "cc" is glibc, libstdc++ and libgcc: what Node loads, and no shell.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /image/ /
COPY --from=etcdutl /go/bin/etcdutl /usr/local/bin/etcdutl
ENV NODE_ENV=production NODE_OPTIONS=--max-semi-space-size=1 MALLOC_ARENA_MAX=1
USER 65532:65532
WORKDIR /
ENTRYPOINT ["/usr/local/bin/etcd-operator"]
