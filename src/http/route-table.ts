/**
 * Which methods a path takes, for 405 and its Allow header. Filled from the routes as they are registered; decides nothing else.
 */
export class RouteTable {
  private readonly routes: { readonly segments: readonly string[]; readonly methods: string | readonly string[] }[] = []

  /** `pattern` as Fastify takes it: literal segments, `:name`, and a final `*`. */
  add(pattern: string, methods: string | readonly string[]): void {
    this.routes.push({ segments: pattern.split('/'), methods })
  }

  /** Sorted and without doubles; empty when no pattern fits. */
  methodsOf(path: string): readonly string[] {
    const segments = path.split('/')
    const found = this.routes.filter((route) => fits(route.segments, segments)).flatMap((route) => route.methods)
    return [...new Set(found)].sort()
  }
}

function fits(pattern: readonly string[], path: readonly string[]): boolean {
  const open = pattern.at(-1) === '*'
  if (open ? path.length < pattern.length : path.length !== pattern.length) return false
  return pattern.every((part, i) => part === '*' || (part.startsWith(':') ? path[i] !== '' : part === path[i]))
}
