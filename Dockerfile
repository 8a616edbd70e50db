# The image runs `bot serve`: one process with its own Redis, which keeps its data in /data.
# compose.yaml runs `bot web` and `bot worker` from it, beside a Redis of their own.
# docs/operate.md says how to use both. Base images have no digests here; add those that you have checked.

FROM python:3.13-slim-trixie AS libraries
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /src
RUN python -m venv --without-pip /opt/bot
COPY requirements.txt ./
# Without the tests of the largest libraries. Compiled here: processes may write nothing on their read-only root.
RUN python -m pip --python /opt/bot/bin/python install --quiet --only-binary :all: --require-hashes -r requirements.txt \
    && find /opt/bot/lib/*/site-packages/matplotlib /opt/bot/lib/*/site-packages/pandas \
        /opt/bot/lib/*/site-packages/scipy /opt/bot/lib/*/site-packages/sklearn /opt/bot/lib/*/site-packages/statsmodels \
        -type d -name tests -prune -exec rm -r {} + \
    && /opt/bot/bin/python -m compileall -q /opt/bot/lib

FROM libraries AS build
COPY pyproject.toml README.md CHANGELOG.md LICENSE manifest.yml ./
COPY docs docs
COPY bot bot
COPY tools tools
RUN python -m pip --python /opt/bot/bin/python install --no-deps --no-build-isolation --no-index --prefix /opt/new . \
    && /opt/bot/bin/python -m compileall -q /opt/new/lib

FROM python:3.13-slim-trixie
RUN groupadd --gid 10001 bot \
    && useradd --uid 10001 --gid bot --no-create-home --home-dir /tmp --shell /usr/sbin/nologin bot \
    && install -d -o bot -g bot -m 0700 /data
# Two layers: an upgrade that keeps the libraries loads only the second.
COPY --from=libraries /opt/bot /opt/bot
COPY --from=build /opt/new /opt/bot
ENV PATH=/opt/bot/bin:$PATH HOME=/tmp \
    PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    BOT_DATA_DIR=/data BOT_METRICS_PORT=9090 BOT_LOG_FORMAT=json
USER 10001:10001
# bot.toml and tools of your own are read from here.
WORKDIR /etc/bot
VOLUME /data
# 8080: Slack's events, if they come over HTTP. 9090: /healthz, /readyz and /metrics; keep it internal.
EXPOSE 8080 9090
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['BOT_METRICS_PORT'] + '/healthz', timeout=4)"]
CMD ["bot", "serve"]
