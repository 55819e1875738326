# The service as an image: built with everything, run with production dependencies only.
#
# Runs as user 1000 on a read-only root file system; only the two volumes are written. The service keeps its own defaults: it listens on loopback until
# HOST and tokens are given (docs/operations.md).
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY grammars grammars
COPY src src
RUN npm run build

FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-bookworm-slim
ENV NODE_ENV=production WORKSPACES_DIR=/workspaces SCRATCH_DIR=/scratch
RUN install -d -o 1000 -g 1000 /workspaces /scratch
WORKDIR /app
COPY package.json ./
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
# Read where they are written: one script per file.
COPY --from=build /app/src/sessions/scripts src/sessions/scripts
VOLUME ["/workspaces", "/scratch"]
USER 1000:1000
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/readyz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/src/main.js"]
