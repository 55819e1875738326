import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { Document } from '../../src/text/document.js'
import type { ScanBounds, Scanned } from '../../src/text/scanner.js'
import { TextScanner, scanText } from '../../src/text/scanner.js'
import type { NotText } from '../../src/text/utf8.js'
import type { WindowAsk } from '../../src/text/window.js'
import { windowOf } from '../../src/text/window.js'
import { chunked, fileBytes, fileText } from './arbitraries.js'

const roomy: ScanBounds = { contentBytes: 262_144, lineChars: 16_384, probeBytes: 8_000 }
const head: WindowAsk = { offset: 1, limit: 2_000, raw: false }

/** What the same bytes give when they are held as a document. */
function held(bytes: Buffer, ask: WindowAsk, bounds: ScanBounds): Scanned | NotText {
  const document = Document.parse(bytes, bounds.probeBytes)
  if (!(document instanceof Document)) return document
  return {
    facts: {
      tag: document.tag,
      versionDigest: document.versionDigest,
      textDigest: document.textDigest,
      bytes: document.textLength,
      totalLines: document.lineCount,
    },
    window: windowOf(document, ask, bounds),
    fileBytes: bytes.length,
    dominantTerminator: document.dominantTerminator,
    bom: document.hasBom,
    endsWithNewline: document.endsWithNewline,
  }
}

function scan(chunks: readonly Buffer[], ask: WindowAsk, bounds: ScanBounds): Scanned | NotText {
  const scanner = new TextScanner(ask, bounds)
  for (const chunk of chunks) {
    const problem = scanner.push(chunk)
    if (problem) return problem
  }
  return scanner.finish()
}

const asks = fc.record({
  offset: fc.integer({ min: 1, max: 8 }),
  limit: fc.integer({ min: 1, max: 8 }),
  raw: fc.boolean(),
})
const tight: fc.Arbitrary<ScanBounds> = fc.record({
  contentBytes: fc.integer({ min: 1, max: 60 }),
  lineChars: fc.integer({ min: 1, max: 8 }),
  probeBytes: fc.integer({ min: 0, max: 30 }),
})
const cut = (bytes: Buffer): fc.Arbitrary<[Buffer, Buffer[]]> => chunked(bytes).map((chunks) => [bytes, chunks])

t.test('a scan in any chunks equals the document', async () => {
  fc.assert(
    fc.property(
      fc
        .oneof(
          fileBytes,
          fileText.map((text) => Buffer.from(text)),
        )
        .chain(cut),
      asks,
      tight,
      ([bytes, chunks], ask, bounds) => {
        assert.deepEqual(scan(chunks, ask, bounds), held(bytes, ask, bounds))
      },
    ),
    { numRuns: 4_000 },
  )
})

t.test('a scan byte by byte equals the document', async () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fileBytes,
        fileText.map((text) => Buffer.from(text)),
      ),
      asks,
      tight,
      (bytes, ask, bounds) => {
        const single = Array.from(bytes, (byte) => Buffer.from([byte]))
        assert.deepEqual(scan(single, ask, bounds), held(bytes, ask, bounds))
      },
    ),
    { numRuns: 1_000 },
  )
})

t.test('texts that are easily judged wrongly', async (t) => {
  const cases: Record<string, Buffer> = {
    'no byte': Buffer.alloc(0),
    'a mark alone': Buffer.from('efbbbf', 'hex'),
    'two marks': Buffer.from('efbbbfefbbbf0a', 'hex'),
    'a UTF-16 mark alone': Buffer.from('fffe', 'hex'),
    'UTF-32 with its NULs': Buffer.from('0000feff00000041', 'hex'),
    'a NUL behind an invalid byte': Buffer.from('ff4100', 'hex'),
    'a character that never ends': Buffer.from('41f09f98', 'hex'),
    'a CR at the end': Buffer.from('a\r'),
    'CRs before a CRLF': Buffer.from('a \r\r\r\n'),
    'blanks alone': Buffer.from(' \t \t'),
    'blanks over many lines': Buffer.from(' \n\t\r\n \t\n'),
  }
  for (const [name, bytes] of Object.entries(cases)) {
    for (let size = 1; size <= bytes.length + 1; size++) {
      const chunks: Buffer[] = []
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
      t.strictSame(scan(chunks, head, roomy), held(bytes, head, roomy), `${name} in chunks of ${size}`)
    }
  }
})

async function* repeated(chunk: Buffer, times: number, tail: Buffer): AsyncGenerator<Buffer> {
  for (let i = 0; i < times; i++) yield Buffer.from(chunk)
  yield tail
}

for (const [name, unit] of [
  ['letters', 'x'],
  ['blanks', ' '],
  ['carriage returns', '\r'],
  ['characters of three bytes', '漢'],
] as const) {
  t.test(`a line of 240 MB of ${name} holds no memory and is shown clipped`, async (t) => {
    const chunk = Buffer.from(unit.repeat(Math.floor(262_144 / Buffer.byteLength(unit))))
    const times = Math.ceil(240_000_000 / chunk.length)
    const before = process.memoryUsage().arrayBuffers
    let most = 0
    const watched = async function* (): AsyncGenerator<Buffer> {
      for await (const part of repeated(chunk, times, Buffer.from('\nend\n'))) {
        most = Math.max(most, process.memoryUsage().arrayBuffers)
        yield part
      }
    }
    const scanned = await scanText(watched(), head, roomy)
    if ('kind' in scanned) throw new Error(scanned.kind)
    t.equal(scanned.facts.totalLines, 2)
    t.equal(scanned.window.clippedRows, 1)
    t.equal(scanned.window.shown.toString(), '2')
    t.ok(scanned.window.content.endsWith('…\n2:end'))
    t.ok(most - before < 80 * 1024 * 1024, `array buffers grew by ${most - before} bytes`)
  })
}

t.test('whoever reads raw is not given a part of a line', async (t) => {
  const scanned = await scanText(
    repeated(Buffer.alloc(262_144, 'x'), 8, Buffer.from('\n')),
    { ...head, raw: true },
    roomy,
  )
  if ('kind' in scanned) throw new Error(scanned.kind)
  t.match(scanned.window, { content: '', lineCount: 0, budgetEnded: true })
})

t.test('chunks are not taken any more once the file is no text', async (t) => {
  let taken = 0
  const chunks = async function* (): AsyncGenerator<Buffer> {
    for (;;) {
      taken++
      yield Buffer.alloc(8_000, 0xff)
    }
  }
  t.match(await scanText(chunks(), head, roomy), { kind: 'encoding', offset: 0 })
  t.equal(taken, 1)
})

t.test('what the chunks throw is thrown on', async (t) => {
  const chunks = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.from('a\n')
    throw new Error('changed')
  }
  await t.rejects(scanText(chunks(), head, roomy), { message: 'changed' })
})
