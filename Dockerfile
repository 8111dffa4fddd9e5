# The service in a container: production dependencies only, no embedded database, no root, a read-only file system.
FROM node:24-slim AS build
WORKDIR /build
# npm leaves out a workspace that is not here: the lab.
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/
RUN npm ci --ignore-scripts
COPY prisma prisma
COPY prisma.config.ts tsconfig.json tsconfig.build.json openapi.json ./
COPY assembly assembly
COPY catalogue catalogue
COPY src src
COPY console console
RUN npm run build
# Removes files that the container does not need at run time: development packages (npm install goes by the lock file), type
# declarations, source maps, and the query compilers of other databases.
RUN npm pkg delete devDependencies && npm install --ignore-scripts --omit=dev --omit=peer \
 && find node_modules/@prisma/client -name '*.wasm-base64*' ! -name '*postgresql*' -delete \
 && find node_modules -name '*.map' -delete \
 && find node_modules -name '*.d.ts' -delete -o -name '*.d.mts' -delete -o -name '*.d.cts' -delete

FROM node:24-slim
# Threads for names of hosts: each whose name server does not answer holds one (docs/operating.md, "Tune").
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 UV_THREADPOOL_SIZE=32
WORKDIR /app
COPY --from=build /build/package.json ./
COPY openapi.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY --from=build /build/console/dist console/dist
COPY prisma prisma
COPY scripts scripts
# Where DATA_DIR may be mounted: a new volume takes over the owner of what stands here. OpenShift runs any user of group 0.
RUN mkdir /data && chown node:0 /data && chmod 775 /data
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Applies missing migrations, then serves; SIGTERM drains. More room for short-lived objects: V8 copies fewer of them
# (docs/performance.md, "V8 options").
CMD ["node", "--max-semi-space-size=32", "scripts/serve.mjs"]
