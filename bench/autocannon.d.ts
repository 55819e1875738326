/** What the load test uses of autocannon 9, which ships no types. */
declare module 'autocannon' {
  export interface Request {
    readonly method: 'POST'
    readonly setupRequest: (request: object) => object
    readonly onResponse: (status: number, body: string) => void
  }
  export interface Client {
    readonly opts: { readonly origin: string }
    setRequests(requests: readonly Request[]): void
  }
  export interface Options {
    readonly url: readonly string[]
    readonly connections: number
    /** Seconds. */
    readonly duration: number
    readonly maxOverallRequests: number
    /** Seconds. */
    readonly timeout: number
    readonly setupClient: (client: Client) => void
  }
  export interface Result {
    readonly errors: number
    readonly timeouts: number
  }
  export default function autocannon(options: Options): PromiseLike<Result>
}
