/**
 * The OpenAPI document and Swagger UI, which works offline. Only here are pages served, so only here stand the headers that pages need.
 */
import helmet from '@fastify/helmet'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { documentInfo, nameSchemas } from './openapi-document.js'
import type { App } from './provider.js'

/** Before the routes, because the plugin collects them as they are registered. */
export async function addDocument(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: documentInfo,
    transformObject: (made) =>
      'openapiObject' in made
        ? (nameSchemas(JSON.parse(JSON.stringify(made.openapiObject)) as never) as never)
        : made.swaggerObject,
  })
}

/**
 * The page is its own origin and asks nobody else. Swagger UI brings a style element; `upgrade-insecure-requests` is left out, since the service speaks plain HTTP
 * and the page would then ask for its own parts in vain.
 */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export async function docsRoutes(app: App): Promise<void> {
  let document: string | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send((document ??= JSON.stringify(app.swagger()))),
  )
  await app.register(async (scope) => {
    await scope.register(helmet, {
      contentSecurityPolicy: false,
      // The service speaks plain HTTP; whoever terminates TLS in front of it sets this.
      strictTransportSecurity: false,
    })
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: pagePolicy,
      uiConfig: { deepLinking: true, displayRequestDuration: true, docExpansion: 'list', tryItOutEnabled: true },
      theme: { title: 'Anchorline' },
    })
  })
}
