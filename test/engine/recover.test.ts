/** Drift recovery, case by case: what is proven, what declines and with which words. */
import t from 'tap'
import type { Document } from '../../src/text/document.js'
import { LineRange } from '../../src/text/line-range.js'
import { LineSet } from '../../src/text/line-set.js'
import { lineMap } from '../../src/text/line-map.js'
import { declineText } from '../../src/errors/declines.js'
import { place, proveAnchors } from '../../src/engine/recover.js'
import { declined, document, documentOf, recover, recovers, resolve, shown } from './recover-notation.js'

t.test('a harmless change elsewhere moves the edit along', async (t) => {
  recovers(t, 'a b c d', 'X a b c d', 'PUT 2.=3: B', 'X a B d')
  recovers(t, 'a b c d', 'X Y Z a b c d', 'CUT 2.=3', 'X Y Z a d')
  recovers(t, 'a b c d e f', 'c d e f', 'PUT 5.=5: E', 'c d E f')
  recovers(t, 'a b c d', 'a b c d X', 'PUT 2.=2: B', 'a B c d X')
  recovers(t, 'a b c d e', 'A b c d E', 'PUT 3.=3: C', 'A b C d E')
  recovers(t, 'a b c d e f g', 'a X Y d e f G', 'PUT 4.=5: D', 'a X Y D f G')
  recovers(t, 'a b c d e f g h', 'N a b c d e f g h', 'PUT 2.=2: B | CUT 4.=5 | PUT >7: G', 'N a B c f g G h')
})

t.test('a change at an anchor declines and names the line', async (t) => {
  recovers(t, 'a b c d', 'a X c d', 'PUT 2.=2: B', declined('line 2 changed since'))
  recovers(t, 'a b c d', 'a b d', 'CUT 2.=3', declined('line 3 changed since'))
  recovers(t, 'a b c d e f', 'a b c X e f', 'CUT 2.=5', declined('line 4 changed since'))
  recovers(t, 'a b c d', 'a X c d', 'PUT >2: Q', declined('line 2 changed since'))
  recovers(t, 'a b c d', '', 'PUT 2.=2: B', declined('line 2 changed since'))
})

t.test('something inserted into a range declines and says between which lines', async (t) => {
  recovers(t, 'a b c d', 'a b X c d', 'PUT 2.=3: B', declined('between lines 2 and 3'))
  recovers(t, 'a b c d e f', 'N a b c d X X e f', 'CUT 2.=5', declined('between lines 4 and 5'))
  recovers(t, 'a b c d', 'a X b c d', 'PUT >1: Q | PUT 2.=2: B', declined('between lines 1 and 2'))
})

t.test('anchors that moved by different amounts decline together', async (t) => {
  recovers(t, 'a b c d e f', 'a b c X d e f', 'PUT 2.=2: B | PUT 5.=5: E', declined('lines 2 and 5 moved by different'))
  recovers(t, 'a b c d e f', 'a b d e f', 'PUT 1.=1: A | PUT >5: Q', declined('lines 1 and 5 moved by different'))
})

t.test('anchors that no single map keeps together decline, though each of them alone is proven', async (t) => {
  const before = 'w x m1 m2 m3 n1 n2 n3 y z'
  const after = 'n1 n2 n3 w x p q r s t u y z m1 m2 m3'
  recovers(t, before, after, 'PUT 2.=2: X', 'n1 n2 n3 w X p q r s t u y z m1 m2 m3')
  recovers(t, before, after, 'PUT 9.=9: Y', 'n1 n2 n3 w x p q r s t u Y z m1 m2 m3')
  recovers(t, before, after, 'PUT 2.=2: X | PUT 9.=9: Y', declined('lines 2 and 9'))
})

t.test('a unique line needs one neighbour, above or below', async (t) => {
  recovers(t, 'a b c d', 'X b c d', 'PUT 2.=2: B', 'X B c d')
  recovers(t, 'a b c d', 'a b X d', 'PUT 2.=2: B', 'a B X d')
  recovers(t, 'a b c d e', 'a X b c d Y e', 'PUT 2.=4: Q', declined('the lines around line 2 changed'))
  recovers(t, 'a b c d e', 'a X c Y e', 'PUT 3.=3: C', declined('the lines around line 3 changed'))
})

t.test('a repeated line needs both neighbours', async (t) => {
  recovers(t, 'a x b c x d', 'N a x b c x d', 'PUT 2.=2: X', 'N a X b c x d')
  recovers(t, 'a x b c x d', 'a x B c x d', 'PUT 2.=2: X', declined('line 2 occurs more than once'))
  recovers(t, 'a x b c x d', 'A x b c x d', 'PUT 2.=2: X', declined('line 2 occurs more than once'))
  recovers(t, 'a x b', 'a x B x', 'PUT 2.=2: X', declined('line 2 occurs more than once'), {})
  recovers(t, 'o p q } r }', 'N o p q } r }', 'PUT 2.=4: P', 'N o P r }')
  recovers(t, 'o p q } r }', 'o p q } X r }', 'PUT 2.=4: P', declined('line 4 occurs more than once'))
  recovers(t, 'p q } r }', 'N p q } r }', 'PUT 1.=3: P', declined('line 3 occurs more than once'))
})

t.test('the neighbours are those of the whole run of anchors', async (t) => {
  const before = 'a if one } if2 two } last'
  recovers(t, before, `N ${before}`, 'PUT 2.=6: both {', 'N a both { } last')
  recovers(t, 'a x b x c', 'N a x b x c', 'PUT 2.=2: X | PUT 3.=3: B | PUT 4.=4: Y', 'N a X B Y c')
})

t.test('an end of the file is a neighbour only at the same end', async (t) => {
  recovers(t, 'a b', 'a b c', 'PUT 1.=1: A', 'A b c')
  recovers(t, 'a', 'a x', 'PUT 1.=1: A', 'A x')
  recovers(t, 'a', 'x a', 'PUT 1.=1: A', 'x A')
  recovers(t, 'a', 'x a y', 'PUT 1.=1: A', declined('around line 1'))
  recovers(t, 'a b', 'x a y b', 'PUT 2.=2: B', 'x a y B')
  recovers(t, 'a b', 'x a y b z', 'PUT 2.=2: B', declined('around line 2'))
  recovers(t, '} a }', '} a } }', 'PUT 1.=1: {', '{ a } }')
  recovers(t, '} a }', 'N } a }', 'PUT 3.=3: {', 'N } a {')
  recovers(t, '} a }', 'N } a }', 'PUT 1.=1: {', declined('line 1 occurs more than once'))
})

t.test('a gap belongs to the line it names', async (t) => {
  recovers(t, 'a b c', 'a b X c', 'PUT >2: Q', 'a b Q X c')
  recovers(t, 'a b c', 'a b X c', 'PUT <3: Q', 'a b X Q c')
  recovers(t, 'a b c', 'a X b c', 'PUT <2: Q', 'a X Q b c')
  recovers(t, 'a } c }', 'a } X c }', 'PUT >2: Q', declined('line 2 occurs more than once'))
  recovers(t, 'a b', 'a b X', 'PUT >2: Q', 'a b Q X')
  recovers(t, 'a b c', 'a X Y c', 'PUT >1: Q', 'a Q X Y c')
})

t.test('head and tail ops beside anchored ones stand at the live ends', async (t) => {
  recovers(t, 'a b c', 'X a b c Y', 'PUT <1: H | PUT 2.=2: B | PUT >$: T', 'H X a B c Y T')
  recovers(t, 'a b c d', 'a b', 'PUT >2: Q | PUT >$: T', 'a b Q T')
  recovers(t, 'a b c d', 'c d', 'PUT <1: H | PUT <3: Q', 'H Q c d')
  recovers(t, 'a b c', 'X a b c', 'PUT >$: T | PUT 3.=3: C | PUT <1: H', 'H X a b C T')
})

t.test('no edit moves onto a look-alike', async (t) => {
  recovers(t, 's 1 e s 2 e', 's 9 e s 1 e', 'PUT 2.=2: 5', declined('line 2 changed since'))
  recovers(t, 's l e P Q s l e', 's l e', 'PUT 2.=2: L', declined('lines 2 and 7 read the same'))
  recovers(t, 's l e P Q s l e', 's l e', 'PUT 7.=7: L', declined('lines 7 and 2 read the same'))
  recovers(t, 'a x b P a x b', 'a X b P a x b', 'CUT 2.=2', declined('line 2 changed since'))
  recovers(
    t,
    'a x b',
    'a x b a x b',
    'PUT 2.=2: X',
    declined('it may be line 2 of the file as it is now as well as line 5'),
  )
  recovers(t, 'a x b', 'N a x b P a x b', 'PUT 2.=2: X', declined('as well as'))
  recovers(t, 'a x b c a q x r b', 'F c a x b', 'PUT 2.=2: X', declined('line 2'))
  recovers(t, 'A B C D 1 2 3', '1 2 3 A B C D', 'PUT 6.=6: T', declined('line 6 changed since'))
})

t.test('equal regions are no obstacle while every longest map keeps them apart', async (t) => {
  recovers(t, 'a x b P Q a x b', 'N a x b P Q a x b', 'PUT 2.=2: X', 'N a X b P Q a x b')
  recovers(t, 'a x b P Q a x b', 'N a x b P Q a x b', 'PUT 7.=7: X', 'N a x b P Q a X b')
  recovers(t, 'a x b P a x b Q a x b', 'a x b P a x b Q2 a x b', 'CUT 6.=6', 'a x b P a b Q2 a x b')
})

t.test(
  'a change whose borders can be drawn in several ways stops no line that occurs once, and every other one it can reach',
  async (t) => {
    const before = 'f } _ g }'
    const after = 'f } _ h } _ g }'
    for (const op of ['PUT <2: Q', 'PUT >2: Q', 'PUT <3: Q']) recovers(t, before, after, op, declined('as well as'))
    recovers(t, before, after, 'PUT <4: Q', 'f } _ h } _ Q g }')
    recovers(t, before, after, 'PUT 4.=5: G', 'f } _ h } _ G')
    recovers(t, before, after, 'PUT 1.=2: F', 'F _ h } _ g }')
    recovers(t, after, before, 'PUT <2: Q', declined('line'))
    recovers(t, after, before, 'PUT <5: Q', declined('line 5'))
    // Named together with a line that occurs once, in one unchanged run with it.
    recovers(t, before, after, 'PUT 1.=1: F | PUT >2: Q', 'F } Q _ h } _ g }')
    recovers(t, before, after, 'PUT <3: Q | PUT >4: R', 'f } _ h } Q _ g R }')
    // Two ops, each beside a change of its own that the chosen map may draw over it.
    recovers(t, 'e } _ f x g } _ h', 'e } _ k } _ f y g } _ h', 'PUT <4: Q | PUT >7: R', 'e } _ k } _ Q f y g } R _ h')
  },
)

t.test('a look-alike that came, went or changed places is never taken for the line', async (t) => {
  const item = (name: string): string => `${name} port tls`
  // Behind the last one, between two, in front; each edit names a line that all items have.
  recovers(t, item('x'), `${item('x')} _ ${item('n')}`, 'PUT 3.=3: Q', declined('line 3'))
  recovers(t, `${item('x')} ${item('b')}`, `${item('x')} ${item('n')} ${item('b')}`, 'PUT 3.=3: Q', declined('line 3'))
  recovers(t, `${item('x')} ${item('b')}`, `${item('x')} ${item('n')} ${item('b')}`, 'PUT 2.=3: Q', declined('line 2'))
  recovers(
    t,
    `${item('x')} ${item('b')}`,
    `${item('n')} ${item('x')} ${item('b')}`,
    'PUT 2.=2: Q',
    'n port tls x Q tls b port tls',
  )
  recovers(
    t,
    `${item('x')} ${item('a')} ${item('b')}`,
    `${item('x')} ${item('b')}`,
    'PUT 6.=6: Q',
    declined('lines 6 and 3'),
  )
  recovers(t, `${item('x')} ${item('a')} ${item('b')}`, `${item('x')} ${item('b')}`, 'PUT >3: Q', declined('line 3'))
  // Twins that changed places, and one that was renamed.
  const fn = (name: string): string => `${name} x y return } _`
  recovers(t, `${fn('a')} ${fn('b')}`, `${fn('b')} ${fn('a')}`, 'PUT 3.=3: Q', declined('line 3'))
  recovers(t, `${fn('a')} ${fn('b')}`, `${fn('b')} ${fn('a')}`, 'PUT 9.=9: Q', declined('line 9'))
  recovers(
    t,
    `${fn('a')} ${fn('b')} c`,
    `${fn('a2')} ${fn('b')} c`,
    'PUT 3.=3: Q',
    'a2 x Q return } _ b x y return } _ c',
  )
  // With its name it is certain.
  recovers(
    t,
    `${item('x')} ${item('b')}`,
    `${item('x')} ${item('n')} ${item('b')}`,
    'PUT 4.=5: Q',
    'x port tls n port tls Q tls',
  )
})

t.test('lines are compared without trailing blanks and terminators, and kept lines keep theirs', async (t) => {
  recovers(t, 'a b c d', 'N a b· c d', 'PUT 3.=3: C', 'N a b· C d')
  recovers(t, 'a b· c d', 'N a b c·· d', 'CUT 3.=3', 'N a b d')
  const tagged = documentOf(['a', 'b', 'c'])
  const live = documentOf(['x', 'a', 'b', 'c'], '\r\n')
  const outcome = recover(tagged, live, resolve('PUT 2.=2: B', tagged))
  t.equal(typeof outcome === 'string' ? outcome : outcome.result.rawText(), 'x\r\na\r\nB\r\nc\r\n')
})

t.test('a line that was never shown declines before anything else', async (t) => {
  const seen = LineSet.parse('1-2')
  recovers(t, 'a b c d', 'X a b c d', 'PUT 2.=2: B', 'X a B c d', { seen })
  recovers(t, 'a b c d', 'X a b c d', 'PUT 2.=3: B', declined('line 3 was never shown'), { seen })
  recovers(t, 'a b c d', 'X a b Y d', 'PUT 3.=3: B', declined('line 3 was never shown'), { seen })
  recovers(t, 'a b c d', 'X a b c d', 'PUT >4: B', declined('line 4 was never shown'), { seen: LineSet.empty })
})

t.test('blocks move as a whole; an insert behind one binds its first and last line', async (t) => {
  const before = 'h f a } z'
  const blocks = { 2: [2, 4] } as const
  recovers(t, before, `N ${before}`, 'PUT 2*: F', 'N h F z', { blocks })
  recovers(t, before, 'h f a new } z', 'PUT 2*: F', declined('between lines 3 and 4'), { blocks })
  recovers(t, before, 'N h f a } z', 'PUT >2*: Q', 'N h f a } Q z', { blocks })
  recovers(t, before, 'h f A } z', 'PUT >2*: Q', 'h f A } Q z', { blocks })
  recovers(t, 'h f a b c } z', 'h f a B c } z', 'PUT >2*: Q', 'h f a B c } Q z', { blocks: { 2: [2, 6] } })
  recovers(t, 'h f a b c } z', 'h f a b b2 c } z', 'PUT >2*: Q', declined('lines 2 and 6'), { blocks: { 2: [2, 6] } })
})

t.test('what repair took as restated must still stand beside the range', async (t) => {
  const tagged = document('a b c d e')
  const [op] = resolve('PUT 3.=3: C d', tagged)
  if (!op) throw new Error('no op')
  const repaired = { ...op, replacements: [{ range: op.range, rows: ['C'] }], echoes: [LineRange.inclusive(4, 4)] }
  const outcome = (live: string): string => {
    const text = document(live)
    const map = lineMap(tagged.trimmedLines(), text.trimmedLines(), { maxEdits: 100, timeMs: 1_000 })
    const proof = proveAnchors({ tagged, live: text, ops: [op], seen: 'unknown', map })
    if (!proof.proven) return declineText(proof.reason)
    const placed = place(proof, [repaired])
    return 'reason' in placed ? declineText(placed.reason) : shown(placed.edit.apply(text))
  }
  t.equal(outcome('N a b c d e'), 'N a b C d e')
  t.match(outcome('a b c X d e'), /the lines beside line 3 changed/)
  t.match(outcome('a b c'), /the lines beside line 3 changed/)
})

t.test('after a recovered edit the session has seen what it was shown and what it wrote', async (t) => {
  const seenAfter = (tagged: string, live: string, ops: string, seen: LineSet | 'unknown'): string => {
    const text = document(tagged)
    const outcome = recover(text, document(live), resolve(ops, text), seen)
    return typeof outcome === 'string' ? outcome : outcome.seen.toString()
  }
  t.equal(seenAfter('a b c d e', 'X a b c d e', 'PUT 3.=3: C1 C2', LineSet.parse('2-4')), '3-6')
  t.equal(seenAfter('a b c d e', 'X a b c Y e', 'PUT 2.=2: B', LineSet.parse('1-5')), '2-4,6')
  t.equal(seenAfter('a b c d e', 'X a b c d e Y', 'PUT 2.=2: B', 'unknown'), '2-6', 'a foreign line is never seen')
  t.equal(seenAfter('a b c d e', 'a b c d e X', 'CUT 2.=3', LineSet.parse('2-3')), '')
})

t.test('the proof names where the anchors are now', async (t) => {
  const tagged = document('a b c d e f g')
  const live = document('X Y a b c d e f g')
  const outcome = recover(tagged, live, resolve('PUT 2.=4: B | PUT >6: Q', tagged))
  if (typeof outcome === 'string') throw new Error(outcome)
  t.equal(outcome.proof.offset, 2)
  t.strictSame(outcome.proof.anchors, [
    { from: 2, to: 4 },
    { from: 4, to: 6 },
    { from: 6, to: 8 },
  ])
})

t.test('a map that gave up proves nothing', async (t) => {
  const tagged = document('a b')
  const reasons = {
    maxEdits: 'too different',
    time: 'not mapped in time',
    'parser-lost': 'not mapped in time',
  } as const
  for (const gaveUp of ['maxEdits', 'time', 'parser-lost'] as const) {
    const ops = resolve('PUT 2.=2: B', tagged)
    const proof = proveAnchors({ tagged, live: tagged, ops, seen: 'unknown', map: { gaveUp } })
    t.strictSame(proof, { proven: false, reason: { kind: reasons[gaveUp] } })
  }
})

t.test(
  'wholly different files of 50,000 lines decline quickly, and so does one made of nothing but blank lines',
  async (t) => {
    const text = (word: string): Document =>
      documentOf(Array.from({ length: 50_000 }, (_, i) => (i % 3 === 0 ? '' : `${word} ${i}`)))
    const tagged = text('old')
    const started = performance.now()
    t.type(recover(tagged, text('new'), resolve('PUT 2.=2: x', tagged)), 'string')
    const blank = documentOf(new Array<string>(50_000).fill(''))
    t.type(recover(blank, documentOf(new Array<string>(50_700).fill('')), resolve('CUT 100.=40000', blank)), 'string')
    t.ok(performance.now() - started < 5_000)
  },
)
