/**
 * Rewrites the linking section of older grammar files so that the current runtime loads them.
 *
 * Files built by older toolchains open with a custom section `dylink` of five numbers: memory size and alignment, table size and alignment, needed libraries.
 * The runtime wants the same numbers in a section `dylink.0`, inside a sub-section of kind 1. Nothing else in the file is touched, and a file that
 * needs libraries is refused. Called when a grammar is loaded.
 */
const customSection = 0
const memoryInfo = 1
/** `\0asm` and the version. */
const headerBytes = 8

/** The same file, with a `dylink.0` section in place of a leading `dylink` one; a file without that comes back as it is. */
export function withCurrentDylink(wasm: Uint8Array): Uint8Array {
  const reader = new Reader(wasm, headerBytes)
  if (reader.number() !== customSection) return wasm
  const size = reader.number()
  const end = reader.at + size
  if (reader.name() !== 'dylink') return wasm
  const layout = [reader.number(), reader.number(), reader.number(), reader.number()]
  if (reader.number() !== 0) throw new Error('the grammar needs other libraries')
  const info = layout.flatMap(leb128)
  const payload = [...nameBytes('dylink.0'), memoryInfo, ...leb128(info.length), ...info]
  const section = [customSection, ...leb128(payload.length), ...payload]
  return Buffer.concat([wasm.subarray(0, headerBytes), Buffer.from(section), wasm.subarray(end)])
}

class Reader {
  constructor(
    private readonly bytes: Uint8Array,
    public at: number,
  ) {}

  /** An unsigned LEB128 number of at most 32 bits. */
  number(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.bytes[this.at++] ?? 0
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw new Error('a number in the linking section is too long')
  }

  name(): string {
    const length = this.number()
    this.at += length
    return Buffer.from(this.bytes.subarray(this.at - length, this.at)).toString()
  }
}

function leb128(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; ;) {
    const low = rest % 128
    rest = Math.floor(rest / 128)
    if (rest === 0) return [...bytes, low]
    bytes.push(low | 0x80)
  }
}

function nameBytes(name: string): number[] {
  return [...leb128(name.length), ...Buffer.from(name)]
}
