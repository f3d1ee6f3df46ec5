# kgwalk without what GPUs need, on Debian's smallest image of Node. Its charts bring their font; data, models and runs lie in /data.
#   docker build -t kgwalk .
#   docker run --rm -it -v kgwalk:/data kgwalk quickstart --no-open
FROM node:24-bookworm-slim AS build
WORKDIR /source
COPY . .
RUN npm ci --no-audit --no-fund && npm run build && npm pack --pack-destination /tmp

FROM node:24-bookworm-slim
# Further packages, such as those of workers: bullmq ioredis @aws-sdk/client-s3
ARG WITH=""
WORKDIR /opt/kgwalk
COPY --from=build /tmp/kgwalk-*.tgz /tmp/kgwalk.tgz
# The compiled parts for this processor are optional packages, as are those for GPUs, which stay out.
RUN npm install --omit=optional --ignore-scripts --no-audit --no-fund /tmp/kgwalk.tgz $WITH \
  && npm install --omit=optional --ignore-scripts --no-audit --no-fund $(node --input-type=module --eval \
    "import { missingBinaries } from '/opt/kgwalk/node_modules/kgwalk/dist/src/run/environment.js'; \
    console.log(['node-llama-cpp', 'lmdb', '@napi-rs/canvas'].flatMap((name) => missingBinaries(name)).join(' '))") \
  && ln -s /opt/kgwalk/node_modules/.bin/kgwalk /usr/local/bin/kgwalk \
  && rm -rf /tmp/kgwalk.tgz /root/.npm \
  && install --directory --owner node /data
ENV KGWALK_HOME=/data/home
WORKDIR /data
VOLUME /data
USER node
ENTRYPOINT ["kgwalk"]
CMD ["--help"]
