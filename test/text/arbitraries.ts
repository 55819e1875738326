/**
 * Random texts and bytes for the property tests of the text model: every kind of terminator, blank, mark and end that files have.
 */
import fc from 'fast-check'

/** Content of one line: never an LF; CR, blanks, U+2028 and characters of every UTF-8 length. Short, so that lines repeat. */
export const lineContent = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('', 'a', 'b', 'ab', '}', '\t', ' ') },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.constantFrom('a', 'é', '漢', '😀', ' ', '\t', '\r', '\f', '\v', '\u0085', '\u2028', '\ufeff', '\0'), {
        maxLength: 8,
      })
      .map((parts) => parts.join('')),
  },
)

export const terminator = fc.constantFrom<'\n' | '\r\n'>('\n', '\r\n')

/** A text file: a byte order mark or none, lines with mixed terminators, the last one terminated or not. */
export const fileText = fc
  .record({
    bom: fc.boolean(),
    lines: fc.array(fc.tuple(lineContent, terminator), { maxLength: 12 }),
    last: fc.option(lineContent, { nil: '' }),
  })
  .map(({ bom, lines, last }) => `${bom ? '\ufeff' : ''}${lines.map(([text, end]) => text + end).join('')}${last}`)

/** Bytes that are mostly text: pieces of UTF-8, of broken UTF-8, marks, NUL, terminators and blanks in any order. */
export const fileBytes = fc
  .array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc
          .constantFrom('a', 'bc', '\n', '\r\n', '\r', ' ', '\t', 'é', '漢', '😀', '\ufeff')
          .map((s) => Buffer.from(s)),
      },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom(
            '00',
            '80',
            'c3',
            'e6bc',
            'f09f98',
            'ff',
            'fffe',
            'feff',
            'fffe0000',
            '0000feff',
            'eda080',
            'c080',
          )
          .map((hex) => Buffer.from(hex, 'hex')),
      },
    ),
    { maxLength: 24 },
  )
  .map((parts) => Buffer.concat(parts))

/** `bytes` cut into chunks at random places, empty chunks included. */
export const chunked = (bytes: Buffer): fc.Arbitrary<Buffer[]> =>
  fc.array(fc.nat({ max: bytes.length }), { maxLength: 8 }).map((cuts) => {
    const at = [0, ...cuts.sort((a, b) => a - b), bytes.length]
    return at.slice(1).map((end, i) => bytes.subarray(at[i], end))
  })
