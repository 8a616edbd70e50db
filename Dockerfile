# The image runs `bot serve`: one process with its own Redis, which keeps its data in /data.
# compose.yaml runs `bot web` and `bot worker` from it, beside a Redis of their own.
# docs/operate.md says how to use both. Base images have no digests here; add those that you have checked.

FROM python:3.13-slim-trixie AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/bot
WORKDIR /src
COPY requirements.txt ./
RUN /opt/bot/bin/pip install --quiet --only-binary :all: --require-hashes -r requirements.txt
COPY pyproject.toml README.md LICENSE manifest.yml ./
COPY bot bot
COPY tools tools
# Compiled here: processes may write nothing on their read-only root.
RUN /opt/bot/bin/pip install --no-deps --no-build-isolation --no-index . \
    && /opt/bot/bin/python -m compileall -q /opt/bot/lib \
    && /opt/bot/bin/pip uninstall --quiet --yes hatchling pip

FROM python:3.13-slim-trixie
RUN groupadd --gid 10001 bot \
    && useradd --uid 10001 --gid bot --no-create-home --home-dir /tmp --shell /usr/sbin/nologin bot \
    && install -d -o bot -g bot -m 0700 /data
COPY --from=build /opt/bot /opt/bot
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
