# The same image as "make image", for those who have a container engine. There is no image
# by default: push it to a registry of yours, and set controller.image.repository of the chart.
#   docker build --build-arg VERSION=v1.2.3 -t REGISTRY/controller:v1.2.3 .
# The images of releases are made by "make release", with the notices of what is linked.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X spokeshave.dev/controller/app.Version=$VERSION" \
    -o /spokeshave-controller ./cmd/spokeshave-controller

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /src/LICENSE /src/controller/cloud/catalog/data/NOTICE /usr/share/doc/spokeshave/
COPY --from=build /spokeshave-controller /spokeshave-controller
USER 65532:65532
ENTRYPOINT ["/spokeshave-controller"]
