import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { parseTag, sha256, tagOf } from '../../src/text/digest.js'
import { Document } from '../../src/text/document.js'
import { firstInvalid, isUnwritable, notText } from '../../src/text/utf8.js'
import { fileBytes, fileText } from './arbitraries.js'
import { linesOf, withoutMark } from './naive.js'

const hash = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')
const hashNormalized = (text: string): string =>
  withoutMark(text)
    .split('\n')
    .map((line) => line.replace(/[ \t\r]+$/, ''))
    .join('\n')
const lfText = (text: string): string => withoutMark(text).replaceAll('\r\n', '\n')

t.test('the tag of hello is BE03, whatever blanks, terminators and mark stand around it', async (t) => {
  for (const text of ['hello\n', 'hello \t\r\n', '\ufeffhello\n', '\ufeffhello\t\r\r\n'])
    t.equal(Document.fromText(text).tag, 'BE03')
  t.not(Document.fromText('hello').tag, 'BE03', 'a missing last LF is another text')
})

t.test('lines, terminators and texts equal those of a naive split', async () => {
  fc.assert(
    fc.property(fileText, (text) => {
      const document = Document.fromText(text)
      const naive = linesOf(text)
      assert.equal(document.lineCount, naive.length)
      naive.forEach(({ content, terminator }, i) => {
        assert.equal(document.text(i + 1), content)
        assert.equal(document.terminator(i + 1), terminator)
        assert.equal(document.trimmed(i + 1), content.replace(/[ \t\r]+$/, ''))
        const { start, end } = document.slice(i + 1)
        assert.equal(document.bytes.toString('utf8', start, end), content + terminator)
      })
      assert.deepEqual(
        document.trimmedLines(),
        naive.map(({ content }) => content.replace(/[ \t\r]+$/, '')),
      )
      assert.equal(document.rawText(), withoutMark(text))
      assert.equal(document.textBytes().toString(), lfText(text))
      assert.equal(document.textLength, document.textBytes().length)
      assert.throws(() => document.text(naive.length + 1), RangeError)
      assert.throws(() => document.text(0), RangeError)
    }),
    { numRuns: 2_000 },
  )
})

t.test('properties of a file equal naive counts', async () => {
  fc.assert(
    fc.property(fileText, (text) => {
      const document = Document.fromText(text)
      const naive = linesOf(text)
      const crlf = naive.filter((line) => line.terminator === '\r\n').length
      const lf = naive.filter((line) => line.terminator === '\n').length
      assert.equal(document.hasBom, text.startsWith('\ufeff'))
      assert.equal(document.endsWithNewline, naive.at(-1)?.terminator !== '')
      assert.equal(document.dominantTerminator, crlf > lf ? '\r\n' : '\n')
      assert.equal(document.lineEnding, crlf > 0 ? (lf > 0 ? 'mixed' : 'crlf') : lf > 0 ? 'lf' : 'none')
      assert.equal(document.index.lfCount, lf)
      assert.equal(document.index.crlfCount, crlf)
    }),
    { numRuns: 1_000 },
  )
})

t.test('digests equal those of naive normalizations', async () => {
  fc.assert(
    fc.property(fileText, (text) => {
      const document = Document.fromText(text)
      assert.equal(document.versionDigest, hash(hashNormalized(text)))
      assert.equal(document.textDigest, hash(lfText(text)))
      assert.equal(document.byteDigest, hash(text))
      assert.equal(document.tag, hash(hashNormalized(text)).slice(-4).toUpperCase())
    }),
    { numRuns: 2_000 },
  )
})

t.test('texts that differ in trailing blanks alone share a version and not a text', async () => {
  fc.assert(
    fc.property(fileText, fc.constantFrom(' ', '\t', '  \t'), (text, blanks) => {
      const spread = Document.fromText(text.replaceAll(/(?<!\r)\n/g, `${blanks}\n`))
      const document = Document.fromText(text)
      assert.equal(spread.versionDigest, document.versionDigest)
      if (document.index.lfCount > 0) assert.notEqual(spread.textDigest, document.textDigest)
    }),
  )
})

t.test('a document of 100,000 lines is indexed whole', async (t) => {
  const document = Document.fromText('\n'.repeat(100_000))
  t.equal(document.lineCount, 100_000)
  t.equal(document.text(100_000), '')
})

t.test('bytes are text when they are UTF-8 without a NUL near the start', async () => {
  const strict = new TextDecoder('utf-8', { fatal: true })
  const valid = (bytes: Buffer): boolean => {
    try {
      strict.decode(bytes)
      return true
    } catch {
      return false
    }
  }
  fc.assert(
    fc.property(fileBytes, fc.nat({ max: 30 }), (bytes, probe) => {
      const problem = notText(bytes, probe)
      const nul = bytes.subarray(0, probe).indexOf(0)
      if (problem === undefined) assert.ok(valid(bytes) && nul < 0)
      else if (problem.kind === 'binary') assert.equal(problem.offset, nul)
      else {
        assert.ok(!valid(bytes) || problem.encoding !== undefined)
        if (problem.encoding === undefined)
          assert.ok(valid(bytes.subarray(0, problem.offset)) && !valid(bytes.subarray(0, problem.offset + 4)))
      }
      assert.equal(Document.parse(bytes, probe) instanceof Document, problem === undefined)
    }),
    { numRuns: 2_000 },
  )
})

t.test('the first invalid byte is found wherever it stands', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', 'é', '漢', '😀'), { maxLength: 40 }),
      fc.constantFrom('80', 'c0af', 'e6bc', 'eda080', 'f4908080', 'ff'),
      fc.constantFrom('', 'tail', '漢'),
      (head, bad, tail) => {
        const before = Buffer.from(head.join(''))
        const bytes = Buffer.concat([before, Buffer.from(bad, 'hex'), Buffer.from(tail)])
        assert.equal(firstInvalid(bytes), before.length)
      },
    ),
    { numRuns: 2_000 },
  )
})

t.test('a foreign mark names the encoding', async (t) => {
  const rows: readonly [string, string][] = [
    ['fffe', 'UTF-16LE'],
    ['fffe6800', 'UTF-16LE'],
    ['feff0068', 'UTF-16BE'],
    ['fffe0000', 'UTF-32LE'],
    ['0000feff', 'UTF-32BE'],
  ]
  for (const [hex, encoding] of rows)
    t.strictSame(notText(Buffer.from(hex, 'hex'), 8_000), { kind: 'encoding', offset: 0, encoding })
})

t.test('a NUL decides before an invalid byte, and behind the probe it is content', async (t) => {
  t.strictSame(notText(Buffer.from('ff00', 'hex'), 8_000), { kind: 'binary', offset: 1 })
  t.strictSame(notText(Buffer.from('ff00', 'hex'), 1), { kind: 'encoding', offset: 0 })
  t.equal(notText(Buffer.from('aa\0'), 2), undefined)
})

t.test('tags as callers write them', async (t) => {
  t.equal(parseTag('be03'), 'BE03')
  t.equal(parseTag('BE03'), 'BE03')
  for (const text of ['', 'BE0', 'BE033', 'XYZW', ' BE03', 'BE03\n', '#BE03'])
    t.equal(parseTag(text), undefined, JSON.stringify(text))
  t.equal(tagOf(sha256('hello\n')), 'BE03')
})

t.test('texts that no file can hold', async (t) => {
  for (const text of ['a\0', '\ud800', 'a\udc00b', '\ud83d', '\udc00\ud800'])
    t.ok(isUnwritable(text), JSON.stringify(text))
  for (const text of ['', 'a😀b', '\ufffd', '\ufeff']) t.notOk(isUnwritable(text), JSON.stringify(text))
})
