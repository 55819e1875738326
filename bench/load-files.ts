/**
 * The files of the load test: source text of a given size that stays valid whatever single line is replaced. Deterministic; no I/O.
 */

/** Numbers in [0, 1) from a seed, so that two runs ask the same. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const blockLines = 6
/** Every so many functions one carries the word that searches look for. */
const needleEvery = 40

/** Lines of a source file of about `bytes` bytes; `revision` makes two texts of one size differ. */
export function sourceLines(bytes: number, revision: number): string[] {
  const lines: string[] = []
  for (let size = 0, at = 0; size < bytes; at++) {
    const block = [
      `/** Step ${at} of the calculation${at % needleEvery === 0 ? ', the needle' : ''}. */`,
      `export function step${at}(value: number): number {`,
      statement(at, revision),
      `  if (scaled > ${at + 100}) return scaled - ${at}`,
      '  return scaled',
      '}',
    ]
    lines.push(...block)
    size += block.reduce((sum, line) => sum + line.length + 1, 0)
  }
  return lines
}

/** A 1-based line that may be replaced by any `statement`. */
export function editableLine(totalLines: number, random: () => number): number {
  return Math.floor(random() * Math.floor(totalLines / blockLines)) * blockLines + 3
}

export function statement(at: number, revision: number): string {
  return `  const scaled = value * ${at + 2} + ${revision}`
}

/** Bytes of the files of one agent, from 2 to 200 KB, many small and few large, as in real projects. */
export const fileSizes: readonly number[] = [2, 3, 5, 9, 16, 28, 50, 90, 140, 200].map((kb) => kb * 1_000)
