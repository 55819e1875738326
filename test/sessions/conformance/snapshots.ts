/** Histories, seen lines, texts and every bound on them (contract §4, reading §2). */
import type { Test } from 'tap'
import type { MakeStore } from './harness.js'
import { facts, opened, paths, publish, recording, shown, sketch, textOf } from './harness.js'

export function snapshots(t: Test, make: MakeStore): void {
  t.test('two reads of one text are one version with all lines of both', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    const text = 'line\n'.repeat(3_600)
    t.equal(await store.record(s, recording('/a', text, '1-2000'), 'display'), 'recorded')
    t.equal(await store.record(s, recording('/a', text, '1800-3600'), 'display'), 'recorded')
    const [version, ...more] = await store.history(s, '/a')
    t.match(version, { ...facts(text), retained: true })
    t.equal(shown(version!.seen), '1-3600')
    t.same(more, [])
  })

  t.test('a known text is promoted to the head', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    for (const [text, lines] of [
      ['a\n', '1'],
      ['b\n', ''],
      ['a\n', ''],
    ] as const)
      await store.record(s, recording('/a', text, lines), 'display')
    t.same(sketch(await store.history(s, '/a')), [`${facts('a\n').tag}:1`, `${facts('b\n').tag}:`])
  })

  t.test('two texts under one tag are two versions', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    await store.record(s, recording('/a', 'a\nb\n', '1', 'AAAA'), 'display')
    await store.record(s, recording('/a', 'c\nd\n', '2', 'AAAA'), 'display')
    t.same(sketch(await store.history(s, '/a')), ['AAAA:2', 'AAAA:1'])
  })

  t.test('texts that differ in trailing blanks alone are two versions of one versionDigest', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    await store.record(s, recording('/a', 'a\nb\n', '1'), 'display')
    await store.record(s, recording('/a', 'a \nb\n', '2'), 'display')
    const [head, older] = await store.history(s, '/a')
    t.equal(head!.versionDigest, older!.versionDigest)
    t.not(head!.textDigest, older!.textDigest)
    t.same(sketch([head!, older!]), [`${head!.tag}:2`, `${head!.tag}:1`])
  })

  t.test('unknown provenance absorbs sets, before and after', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    await store.record(s, recording('/a', 'x\ny\n', '1'), 'display')
    await store.record(s, recording('/a', 'x\ny\n', 'unknown'), 'display')
    t.equal(shown((await store.history(s, '/a'))[0]!.seen), 'unknown')
    await store.record(s, recording('/a', 'x\ny\n', '2'), 'display')
    t.equal(shown((await store.history(s, '/a'))[0]!.seen), 'unknown')
  })

  t.test('an empty set is nothing seen, which is not unknown', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    await store.record(s, recording('/a', 'x\n', ''), 'search')
    const [version] = await store.history(s, '/a')
    t.not(version!.seen, 'unknown')
    t.equal(shown(version!.seen), '')
  })

  t.test('scattered lines keep their numbers through many unions', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    const text = 'l\n'.repeat(100)
    for (const lines of ['5', '1-2,90-100', '4,6,50-60', '3', '55-95', '7'])
      await store.record(s, recording('/a', text, lines), 'search')
    t.equal(shown((await store.history(s, '/a'))[0]!.seen), '1-7,50-100')
  })

  t.test('ranges of seen lines are bounded; what was shown last stays', async (t) => {
    const { store, close } = await make({ seenRangesPerVersion: 4 })
    t.teardown(close)
    const s = await opened(store)
    const text = 'l\n'.repeat(100)
    await store.record(s, recording('/a', text, '1,3,5,7'), 'display')
    await store.record(s, recording('/a', text, '50,60'), 'display')
    const [version] = await store.history(s, '/a')
    t.equal(shown(version!.seen), '1,3,50,60')
  })

  t.test('the fifth version drops the oldest', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    const texts = ['1\n', '2\n', '3\n', '4\n', '5\n']
    for (const text of texts) await store.record(s, recording('/d/a', text), 'display')
    t.same(
      (await store.history(s, '/d/a')).map((v) => v.tag),
      texts
        .slice(1)
        .reverse()
        .map((x) => facts(x).tag),
    )
    t.equal(await store.text(s, facts('1\n').textDigest), undefined)
    t.same(await store.pathsWith(s, 'a', facts('1\n').tag), [])
    t.same(await store.pathsWith(s, 'a', facts('2\n').tag), ['/d/a'])
    t.match(await store.usage(s), { paths: 1, versions: 4, retainedBytes: 8 })
  })

  t.test('the path that was recorded longest ago goes when a 65th comes', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    for (let i = 0; i < 64; i++) await store.record(s, recording(`/p${i}`, `${i}\n`), 'display')
    await store.record(s, recording('/p0', '0\n'), 'display')
    await store.history(s, '/p1')
    await store.text(s, facts('1\n').textDigest)
    await store.record(s, recording('/p64', '64\n'), 'display')
    t.same(await store.history(s, '/p1'), [], 'looking refreshes nothing')
    t.equal((await store.history(s, '/p0')).length, 1)
    t.equal(await store.text(s, facts('1\n').textDigest), undefined)
    t.same(await store.pathsWith(s, 'p1', facts('1\n').tag), [])
    t.match(await store.usage(s), { paths: 64, versions: 64 })
    t.equal((await paths(store, s))[0], '/p64', 'snapshots are listed hottest first')
  })

  t.test('retained bytes evict whole paths, coldest first', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    const mib = 1024 * 1024
    for (let i = 0; i < 8; i++) await store.record(s, recording(`/p${i}`, textOf(mib, i)), 'display')
    t.match(await store.usage(s), { paths: 8, retainedBytes: 8 * mib })
    await store.record(s, recording('/more', textOf(mib + 1, 'more')), 'display')
    t.match(await store.usage(s), { paths: 7, retainedBytes: 7 * mib + 1 })
    t.same((await paths(store, s)).sort(), ['/more', '/p2', '/p3', '/p4', '/p5', '/p6', '/p7'])
  })

  t.test('a file over the single-file bound is recorded without its text', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    const bound = 2 * 1024 * 1024
    await store.record(s, recording('/fits', textOf(bound, 'fits')), 'display')
    const over = recording('/over', textOf(bound + 1, 'over'))
    await store.record(s, { ...over, text: () => t.fail('asked for a text that is not kept') as never }, 'display')
    t.match(await store.history(s, '/fits'), [{ retained: true }])
    t.match(await store.history(s, '/over'), [{ retained: false, bytes: bound + 1 }])
    t.equal(await store.text(s, over.facts.textDigest), undefined)
    t.same(await store.pathsWith(s, 'over', over.facts.tag), ['/over'])
    t.match(await store.usage(s), { paths: 2, versions: 2, retainedBytes: bound })
  })

  t.test('one text at two paths is kept once and outlives either', async (t) => {
    const { store, close } = await make({ pathsPerSession: 2 })
    t.teardown(close)
    const s = await opened(store)
    await store.record(s, recording('/a', 'same\n'), 'display')
    await store.record(
      s,
      { ...recording('/b', 'same\n'), text: () => t.fail('the text was asked for again') as never },
      'display',
    )
    t.match(await store.usage(s), { paths: 2, retainedBytes: 5 })
    await store.record(s, recording('/c', 'other\n'), 'display')
    t.match(await store.usage(s), { paths: 2, retainedBytes: 11 })
    t.equal(Buffer.from((await store.text(s, facts('same\n').textDigest))!).toString(), 'same\n')
    await store.record(s, recording('/d', 'third\n'), 'display')
    t.equal(await store.text(s, facts('same\n').textDigest), undefined)
  })

  t.test('a text is asked for only when it is not kept', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    let asked = 0
    const counted = { ...recording('/a', 'a\n'), text: () => (asked++, Buffer.from('a\n')) }
    await store.record(s, counted, 'display')
    await store.record(s, counted, 'display')
    await store.recordAll(s, [counted, counted], 'search')
    t.equal(asked, 1)
  })

  t.test('a text of another size than announced is a fault and is not recorded', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    await t.rejects(
      store.record(s, { ...recording('/a', 'a\n'), text: () => Buffer.from('abc') }, 'display'),
      RangeError,
    )
  })

  t.test('texts come back byte for byte', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    for (const text of ['', 'é\u{1F600}\n', '\uFEFFx', 'a\rb\u2028c\n', 'x'.repeat(100_000), textOf(300, 'r')]) {
      await store.record(s, recording('/a', text), 'display')
      const kept = await store.text(s, facts(text).textDigest)
      t.equal(kept && Buffer.from(kept).toString(), text)
    }
  })

  t.test('a search never evicts a path that was displayed', async (t) => {
    const { store, close } = await make({ pathsPerSession: 3 })
    t.teardown(close)
    const s = await opened(store)
    for (const p of ['/a', '/b']) await store.record(s, recording(p, `${p}\n`), 'display')
    t.equal(await store.record(s, recording('/s1', 's1\n', ''), 'search'), 'recorded')
    t.equal(
      await store.record(s, recording('/s2', 's2\n', ''), 'search'),
      'recorded',
      'one search makes room for another',
    )
    t.same((await paths(store, s)).sort(), ['/a', '/b', '/s2'])
    await store.record(s, recording('/s2', 's2\n'), 'display')
    t.equal(await store.record(s, recording('/s3', 's3\n', ''), 'search'), 'noRoom', '/s2 was displayed since')
    t.equal(await store.record(s, recording('/a', 'a2\n', ''), 'search'), 'recorded', 'a path that is kept takes more')
    t.same((await paths(store, s)).sort(), ['/a', '/b', '/s2'])
  })

  t.test('a display evicts what only searches recorded before what was displayed', async (t) => {
    const { store, close } = await make({ pathsPerSession: 3 })
    t.teardown(close)
    const s = await opened(store)
    await store.record(s, recording('/a', 'a\n'), 'display')
    for (const p of ['/s1', '/s2']) await store.record(s, recording(p, `${p}\n`, ''), 'search')
    await store.record(s, recording('/b', 'b\n'), 'display')
    t.same((await paths(store, s)).sort(), ['/a', '/b', '/s2'])
  })

  t.test('a search that finds no room for its text is recorded without it', async (t) => {
    const { store, close } = await make({ retainedBytesPerSession: 10, retainedBytesPerFile: 8 })
    t.teardown(close)
    const s = await opened(store)
    await store.record(s, recording('/a', '1234567\n'), 'display')
    t.equal(await store.record(s, recording('/s', 'abc\n', '1'), 'search'), 'recorded')
    t.match(await store.history(s, '/s'), [{ retained: false }])
    t.match(await store.history(s, '/a'), [{ retained: true }])
    await store.record(s, recording('/s', 'abc\n', '1'), 'display')
    t.match(await store.history(s, '/s'), [{ retained: true }], 'a display makes room')
    t.same(await paths(store, s), ['/s'])
  })

  t.test('when one path alone is over the bound its older texts go', async (t) => {
    const { store, close } = await make({ retainedBytesPerSession: 10, retainedBytesPerFile: 8 })
    t.teardown(close)
    const s = await opened(store)
    for (const text of ['1\n', '22\n', '333333\n']) await store.record(s, recording('/a', text), 'display')
    t.match(await store.history(s, '/a'), [{ retained: true }, { retained: true }, { retained: false }])
    t.match(await store.usage(s), { versions: 3, retainedBytes: 10 })
  })

  t.test('several recordings keep their order and get an answer each', async (t) => {
    const { store, close } = await make({ pathsPerSession: 2 })
    t.teardown(close)
    const s = await opened(store)
    await store.record(s, recording('/a', 'a\n'), 'display')
    await store.record(s, recording('/b', 'b\n'), 'display')
    t.same(
      await store.recordAll(s, [recording('/c', 'c\n'), recording('/a', 'a2\n'), recording('/b', 'b2\n')], 'search'),
      ['noRoom', 'recorded', 'recorded'],
    )
    t.same(await store.recordAll(s, [], 'search'), [])
    t.same(await paths(store, s), ['/b', '/a'])
  })

  t.test('paths are found by basename and tag, ties included', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    for (const path of ['/w/x/f.ts', '/w/y/f.ts', '/w/f.ts.bak'])
      await store.record(s, recording(path, 'f\n'), 'display')
    await store.record(s, recording('/w/x/f.ts', 'g\n'), 'display')
    t.same(await store.pathsWith(s, 'f.ts', facts('f\n').tag), ['/w/x/f.ts', '/w/y/f.ts'])
    t.same(await store.pathsWith(s, 'f.ts', facts('g\n').tag), ['/w/x/f.ts'])
    t.same(await store.pathsWith(s, 'f', facts('f\n').tag), [])
    t.same(await store.pathsWith(s, 'f.ts', '0000'), [])
  })

  t.test('any path is only a key', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    const odd = [
      '/__proto__',
      '/constructor',
      '/a b#1[2]{x}\t',
      '/é\u{1F600}',
      `/${'n'.repeat(255)}`,
      '/a:b\n0',
      '/-1',
      '/%s',
    ]
    for (const path of odd) await store.record(s, recording(path, `${path}\n`), 'display')
    for (const path of odd) {
      t.equal((await store.history(s, path)).length, 1, path)
      t.same(await store.pathsWith(s, path.slice(1), facts(`${path}\n`).tag), [path])
    }
    t.same(new Set(await paths(store, s)), new Set(odd))
  })

  t.test('a removed path loses its history, a moved one takes it along', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    await store.record(s, recording('/from', 'old\n', '1'), 'display')
    await store.record(s, recording('/to', 'gone\n'), 'display')
    await store.record(s, recording('/rem', 'rem\n'), 'display')
    await publish(store, s, {
      forget: ['/rem'],
      moves: [{ from: '/from', to: '/to' }],
      recordings: [recording('/to', 'new\n')],
    })
    t.same(await store.history(s, '/rem'), [])
    t.same(await store.history(s, '/from'), [])
    t.same(
      (await store.history(s, '/to')).map((v) => [v.tag, v.retained]),
      [
        [facts('new\n').tag, true],
        [facts('old\n').tag, true],
      ],
    )
    t.same(await store.pathsWith(s, 'from', facts('old\n').tag), [])
    t.same(await store.pathsWith(s, 'to', facts('old\n').tag), ['/to'])
    t.same(await store.pathsWith(s, 'to', facts('gone\n').tag), [])
    t.match(await store.usage(s), { paths: 1, versions: 2, retainedBytes: 8 })
  })

  t.test('a text whose path is forgotten and recorded in one step stays', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    await store.record(s, recording('/a', 'same\n', '1'), 'display')
    await publish(store, s, { forget: ['/a'], recordings: [recording('/a', 'same\n', '')] })
    t.match(await store.history(s, '/a'), [{ retained: true }])
    t.equal(shown((await store.history(s, '/a'))[0]!.seen), '')
    t.equal(Buffer.from((await store.text(s, facts('same\n').textDigest))!).toString(), 'same\n')
  })
}
