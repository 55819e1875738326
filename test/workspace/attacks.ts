/**
 * Paths that attack a workspace, as data: what to put on the disk first, what to send, and what must come back (reading §8.4, §8.15).
 *
 * Each is meant for every field that takes a path, of every operation. Not a test itself; the tests of the port and of the HTTP interface play it.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** Stands in every file outside; no answer may ever hold it. */
export const secret = 'hush-f3b1c6'

export interface AttackGround {
  /** Absolute real path of the workspace. */
  readonly ws: string
  /** Absolute real path of a directory outside it that holds `secret.txt`. */
  readonly outside: string
}

export interface Attack {
  readonly kind: string
  readonly path: string
  /** The codes that an operation on an existing file may answer. */
  readonly wanted: readonly string[]
  /** A plain name that merely does not exist: an operation that creates files may create it inside the workspace. */
  readonly creatable: boolean
}

/** Puts the links, folders and special files on the disk that the attacks go for. `outside` gets its secret. */
export function plantAttackGround({ ws, outside }: AttackGround): void {
  mkdirSync(join(ws, 'sub/deep'), { recursive: true })
  mkdirSync(outside, { recursive: true })
  mkdirSync(`${ws}-sibling`, { recursive: true })
  for (const dir of [outside, `${ws}-sibling`]) writeFileSync(join(dir, 'secret.txt'), `${secret}\n`)
  writeFileSync(join(ws, 'ok.txt'), 'fine\n')
  writeFileSync(join(ws, 'sub/ok.txt'), 'fine\n')
  writeFileSync(join(ws, '\u00e9.txt'), 'composed\n')
  execFileSync('mkfifo', [join(ws, 'pipe')])
  const links: Record<string, string> = {
    'to-file': join(outside, 'secret.txt'),
    'to-dir': outside,
    'to-absent': join(outside, 'absent.txt'),
    'to-absent-dir': join(outside, 'absent/deep'),
    'to-sibling': `../${basename(ws)}-sibling`,
    'to-sibling-file': `${ws}-sibling/secret.txt`,
    'to-parent': '..',
    'to-grandparent': '../..',
    'to-root': '/',
    'to-proc': '/proc/self/environ',
    'to-proc-fd': '/proc/self/fd',
    'to-proc-cwd': '/proc/self/cwd',
    'to-proc-root': '/proc/self/root',
    'to-zero': '/dev/zero',
    'to-tty': '/dev/tty',
    'to-passwd': '/etc/passwd',
    'to-long-way': `sub/deep/../../../../${'x/../'.repeat(5)}etc/passwd`,
    'chain-1': 'to-file',
    'chain-2': 'chain-1',
    'chain-dir-1': 'to-dir',
    'chain-dir-2': './chain-dir-1/.',
    'sub/up': '../to-dir',
    'sub/up-file': '../../' + basename(ws) + '-sibling/secret.txt',
    'loop-a': 'loop-b',
    'loop-b': 'loop-a',
    'loop-self': 'loop-self',
    'loop-grows': 'loop-grows/x',
    'sub/loop-up': '../sub/loop-up/x',
    'to-file-as-dir': 'ok.txt/inner',
    'to-nowhere': 'no-such-dir/../../escape.txt',
  }
  for (const [name, to] of Object.entries(links)) symlinkSync(to, join(ws, name))
}

const OUT = 'PATH_OUTSIDE_WORKSPACE'
const BAD = 'INVALID_ARGUMENT'
const NONE = 'NOT_FOUND'

function outsideForms({ ws, outside }: AttackGround): readonly string[] {
  const up = '../'.repeat(30)
  const name = basename(ws)
  const dots = [
    '..',
    '../',
    '../..',
    '../../',
    './..',
    './/..//',
    'sub/../..',
    'sub/deep/../../..',
    'sub/../../',
    'nope/../..',
  ]
  const through = [
    '../',
    './../',
    'sub/../../',
    'sub//..//..//',
    'sub/deep/../../../',
    'ok.txt/../../',
    'nope/../../',
    `../${name}/../`,
    '..//',
    '.././',
  ]
  const ends = [
    `${name}-sibling/secret.txt`,
    `${name}-sibling`,
    'absent.txt',
    `${name}-sibling/../${name}-sibling/secret.txt`,
  ]
  const absolute = [
    '/', '//', '/.', '/..', '/etc/passwd', '//etc/passwd', '///etc///passwd', '/./etc/./passwd', '/etc/../etc/passwd', '/proc/self/environ', '/proc/self/root/etc/passwd',
    '/proc/1/environ', '/proc/self/cwd/package.json', '/proc/self/fd/0', '/dev/stdin', '/dev/zero', '/dev/null', '/dev/tty', '/tmp', '/nonexistent/file', '/root/.ssh/id_rsa',
    outside, `${outside}/`, `${outside}/secret.txt`, `${outside}/absent.txt`, `${outside}/secret.txt/`, `${ws}/../${basename(outside)}/secret.txt`, `${ws}-sibling/secret.txt`,
    `${ws}-sibling`, `${ws}-`, `${ws}.bak`, `${ws}/..`, `${ws}/../`, `${ws}/sub/../../${name}-sibling/secret.txt`, `/proc/self/root${outside}/secret.txt`, `/proc/self/cwd/../../..${outside}/secret.txt`,
  ] // prettier-ignore
  return [
    ...dots,
    ...through.flatMap((start) => ends.map((end) => start + end)),
    ...['etc/passwd', 'proc/self/environ', `${outside.slice(1)}/secret.txt`].flatMap((end) => [
      up + end,
      `sub/${up}${end}`,
      `./${up}${end}`,
    ]),
    ...absolute,
  ]
}

const linkForms = [
  ...['to-file', 'to-dir', 'to-absent', 'to-absent-dir', 'to-sibling', 'to-sibling-file', 'to-parent', 'to-grandparent', 'to-root', 'to-proc', 'to-proc-fd', 'to-proc-cwd'],
  ...['to-proc-root', 'to-zero', 'to-tty', 'to-passwd', 'to-long-way', 'chain-1', 'chain-2', 'chain-dir-1', 'chain-dir-2', 'sub/up', 'sub/up-file'],
  ...['to-dir/secret.txt', 'to-dir/absent.txt', 'to-dir/new/deep.txt', 'to-sibling/secret.txt', 'to-root/etc/passwd', 'to-root/nonexistent/x', 'to-parent/x.txt'],
  ...['to-proc-fd/0', 'to-proc-cwd/package.json', 'to-proc-root/etc/passwd', 'to-absent/x', 'to-file/x', 'chain-dir-2/secret.txt', 'sub/up/secret.txt', 'to-absent-dir/x'],
  ...['./to-file', 'sub/../to-file', 'to-dir/./secret.txt', 'to-dir//secret.txt', 'to-dir/../ok.txt', 'to-sibling/../ok.txt', 'to-file/', 'to-dir/', 'to-grandparent/etc/passwd'],
] // prettier-ignore

const loops = [
  'loop-a',
  'loop-b',
  'loop-self',
  'loop-grows',
  'sub/loop-up',
  'loop-a/x',
  'loop-self/../ok.txt/x',
  'to-file-as-dir',
]

/** What other systems and layers take for a step up: here plain names, so nothing is there. */
const encoded = ['..', '.', '%2e%2e', '%252e%252e', '%c0%ae%c0%ae', '%uff0e%uff0e', '\uff0e\uff0e', '\u2024\u2024', '\u2025', '..%00', '..;', '...', '....', '. .', '.. ', ' ..'].flatMap((dots) =>
  ['%2f', '%252f', '%5c', '\\', '%c0%af', '\u2215', '\uff0f', '\u2044', '\u29f8'].map((slash) => `${dots}${slash}${dots}${slash}etc${slash}passwd`),
) // prettier-ignore

const plainButAbsent = [
  ...['.../ok.txt', '..../ok.txt', '..;/ok.txt', '.. /ok.txt', '..\\ok.txt', 'sub\\..\\..\\ok.txt', '\\etc\\passwd', 'C:\\Windows\\win.ini', 'C:/Windows/win.ini', '\\\\server\\share'],
  ...['file:///etc/passwd', 'http://localhost/x', '~/.ssh/id_rsa', '~root/x', '$HOME/x', '${HOME}/x', '$(id)', '`id`', 'ok.txt;id', 'ok.txt|id', 'ok.txt&', "ok.txt'", 'ok.txt"'],
  ...['ok.txt.', 'ok.txt ', ' ok.txt', 'ok.txt\t', 'ok.txt\n', '\nok.txt', 'ok.txt\r', 'OK.TXT', 'ok.txt::$DATA', 'ok.txt~', 'ok\u200b.txt', '\u202eok.txt', '\ufeffok.txt'],
  ...['\u043ek.txt', 'o\u212a.txt', '\uff4f\uff4b.txt', 'e\u0301.txt', '\u00e9.txt\u0301', 'ok.t\u0445t', '[ok.txt#ABCD]', '[ok.txt', 'ok.txt#ABCD', 'ok.txt:1', 'ok.txt?x', 'ok.txt%00.png'],
  ...['*', '?k.txt', '**/ok.txt', '{ok,no}.txt', '[o]k.txt', '!ok.txt', '-', '-rf', '--help', '--', '@', '#', '%', '%00', '%n%s', '\u0001', '\u001b[2J', '\u007f', 'CON', 'nul', 'aux.txt'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__proto__/ok.txt', 'sub/__proto__', 'undefined', 'null', 'NaN', 'true', '0', '-0', '[object Object]'],
  ...['sub/absent.txt', 'absent/deep/er.txt', `${'d/'.repeat(100)}x.txt`, 'n'.repeat(255), `${'n'.repeat(251)}.txt`, '\u00e9'.repeat(127), '😀'.repeat(63), `${'a/'.repeat(40)}../x`],
] // prettier-ignore

const malformed = [
  ...['', '\0', 'ok.txt\0', '\0ok.txt', 'ok\0.txt', 'ok.txt\0.png', '../\0', 'sub/\0/ok.txt', '/etc/passwd\0.txt', '..\0/etc/passwd'],
  ...['\ud800', 'ok\udfff.txt', 'sub/\ud83d', '\ude00\ud83d', '../\udc00'],
  ...['n'.repeat(256), `sub/${'n'.repeat(256)}/x`, '\u00e9'.repeat(128), '😀'.repeat(64), 'n'.repeat(5_000), 'a/'.repeat(2_049), '../'.repeat(2_000), `${'./'.repeat(2_048)}ok.txt`, '/'.repeat(4_097), '\uffff'.repeat(1_366)],
  ...['ok.txt/', 'ok.txt//', 'ok.txt/.', 'ok.txt/./', 'sub/ok.txt/', 'ok.txt/x', 'ok.txt/x/y', 'ok.txt/x/../y/z', 'sub/ok.txt/..//ok.txt/x', 'pipe/', 'pipe/x'],
  ...['.', './', './/.', 'sub', 'sub/', 'sub/.', 'sub/..', 'sub/deep', 'sub/deep/..', 'pipe', './pipe', 'sub/../pipe', '.anchorline-abc.1.2-0123456789abcdef.tmp', 'sub/.anchorline-abc.1.2-0123456789abcdef.tmp'],
] // prettier-ignore

/** The corpus for a ground; more than 400 inputs, all of them distinct. */
export function attacks(ground: AttackGround): readonly Attack[] {
  const { ws } = ground
  const of = (
    kind: string,
    paths: readonly string[],
    wanted: readonly string[],
    creatable = false,
  ): readonly Attack[] => paths.map((path) => ({ kind, path, wanted, creatable }))
  const all = [
    ...of('outside', outsideForms(ground), [OUT]),
    ...of('links', linkForms, [OUT]),
    ...of('loops', loops, [BAD, NONE]),
    ...of('nowhere', ['to-nowhere'], [BAD, NONE, OUT]),
    ...of('encodings', encoded.filter((path) => !path.startsWith('../')), [NONE], true),
    ...of('plain', plainButAbsent, [NONE], true),
    ...of('plain, absolute', ['absent.txt', 'sub/absent.txt', '..%2fabsent'].map((path) => join(ws, path)), [NONE], true),
    ...of('malformed', malformed, [BAD, OUT]),
  ] // prettier-ignore
  return all.filter((attack, i) => all.findIndex((other) => other.path === attack.path) === i)
}
