# aoe-reports in an image that runs as nobody in particular, on a root filesystem that is read only (docs/containers.md).
# Bases by tag: whoever wants the same bytes again gives them with their digests, --build-arg PYTHON_IMAGE=…@sha256:… and RUST_IMAGE
ARG PYTHON_IMAGE=docker.io/library/python:3.13-slim-trixie
# with a C library no newer than that of the base
ARG RUST_IMAGE=docker.io/library/rust:1-slim-trixie

FROM ${RUST_IMAGE} AS reader
WORKDIR /build
COPY native native
RUN cargo build --release --offline --locked --manifest-path native/Cargo.toml

FROM ${PYTHON_IMAGE} AS build
# which lock file is installed: `runtime`, or `fleet` with Dask for reading on many machines
ARG LOCK=runtime
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ONLY_BINARY=:all: PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
COPY requirements requirements
RUN python3 -m venv tools \
    && python3 -m venv --without-pip /opt/aoe-reports \
    && tools/bin/pip install --require-hashes --requirement requirements/build.txt \
    && tools/bin/pip --python /opt/aoe-reports/bin/python install --require-hashes --requirement "requirements/${LOCK}.txt"
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY schemas schemas
COPY src src
COPY --from=reader /build/native/target/release/libreader.so reader/
RUN AOE_REPORTS_READER=reader/libreader.so tools/bin/hatchling build --target wheel --directory wheel \
    && tools/bin/pip --python /opt/aoe-reports/bin/python install --no-index --no-deps wheel/*.whl

FROM ${PYTHON_IMAGE}
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="aoe-reports" \
      org.opencontainers.image.description="Reads the files of msprof and the Ascend Optimization Engine: what got slower, since when, and what tuning gained" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
RUN useradd --uid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin reports
COPY --from=build /opt/aoe-reports /opt/aoe-reports
# all that is written beside what a command is told to write goes to /tmp: temporary files, matplotlib's list of fonts
ENV PATH=/opt/aoe-reports/bin:$PATH HOME=/tmp MPLCONFIGDIR=/tmp/matplotlib \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
WORKDIR /data
USER 10001:10001
# Ctrl-C is what commands know: as process 1, Python ignores SIGTERM
STOPSIGNAL SIGINT
ENTRYPOINT ["aoe-reports"]
CMD ["--help"]
