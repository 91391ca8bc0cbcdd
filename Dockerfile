# The study server: docker build -t beholder . && docker run -p 8000:8000 -v "$PWD/my-study:/study" beholder
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
COPY --from=build /wheels /wheels
COPY constraints.txt /wheels/
RUN wheel="$(ls /wheels/*.whl)" \
 && pip install --no-cache-dir --constraint /wheels/constraints.txt "beholder[scale] @ file://$wheel" \
 && rm -rf /wheels \
 && useradd --create-home --uid 1000 beholder \
 && mkdir /study && chown beholder /study
USER beholder
VOLUME /study
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/api/health', timeout=4)"]
ENTRYPOINT ["beholder"]
CMD ["collect", "/study", "--host", "0.0.0.0"]
