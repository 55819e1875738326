/**
 * The architecture as data: who may import whom, who may touch the world, and what no file may do. The table is that of docs/architecture.md.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { packageRoot } from '../src/package-root.js'

const root = packageRoot(import.meta.url)

interface Import {
  /** Path of a file of ours without extension, from the root; or the name of a package. */
  readonly target: string
  readonly own: boolean
  readonly typeOnly: boolean
}

interface SourceFile {
  /** From the root, without extension: `src/http/tools`. */
  readonly name: string
  /** The folder below src, or the name of a file directly in it. */
  readonly layer: string
  readonly tree: ts.SourceFile
  readonly imports: readonly Import[]
}

/** What each layer may import of ours, beside itself. `types:` allows types only. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  text: ['errors', 'limits'],
  errors: ['text', 'limits'],
  limits: [],
  schemas: ['text', 'errors', 'limits'],
  patch: ['text', 'errors', 'limits'],
  engine: ['patch', 'text', 'errors', 'limits'],
  syntax: ['text', 'errors', 'limits', 'package-root', 'grammars'],
  workspace: ['text', 'errors', 'limits'],
  sessions: ['text', 'errors', 'limits', 'package-root'],
  tools: [
    'engine',
    'patch',
    'schemas',
    'text',
    'errors',
    'limits',
    'types:syntax',
    'types:workspace',
    'types:sessions',
  ],
  random: [],
  http: ['tools', 'schemas', 'errors', 'limits', 'random'],
  app: ['http', 'schemas', 'errors', 'limits', 'types:tools'],
  environment: ['schemas', 'limits'],
  config: ['environment', 'schemas', 'sessions', 'types:app', 'types:http', 'types:tools', 'types:workspace'],
  readiness: ['types:http'],
  tracing: ['errors', 'types:http', 'types:tools'],
  openapi: ['app', 'config', 'environment', 'http', 'package-root', 'types:tools'],
  main: ['*'],
  'package-root': [],
  'build-assets': ['*'],
  grammars: ['syntax'],
}

/** The files of the ports that tools may name. */
const ports = [
  'src/sessions/store',
  'src/syntax/port',
  'src/workspace/port',
  'src/workspace/search-port',
  'src/workspace/hooks-port',
]

/** Packages and modules of Node that each layer may import; `*` is any. */
const packages: Readonly<Record<string, readonly string[]>> = {
  text: ['node:buffer', 'node:crypto'],
  errors: [],
  limits: [],
  schemas: ['@sinclair/typebox'],
  patch: [],
  engine: [],
  tools: ['node:crypto', 'node:buffer', 'node:path'],
  environment: ['@sinclair/typebox', 'ajv'],
  config: ['@sinclair/typebox', 'ajv', 'node:net', 'node:path'],
  readiness: [],
}

/** Packages that one file alone may name, so that nothing is loaded unless it is. */
const tracingPackages = /^@opentelemetry\//

/** What only ports may touch. */
const worldly = [
  'node:fs',
  'node:fs/promises',
  'node:child_process',
  'node:worker_threads',
  'ioredis',
  'piscina',
  'web-tree-sitter',
  'diff',
  '@vscode/ripgrep',
]

const pure = ['text', 'errors', 'limits', 'schemas', 'patch', 'engine']

const files = [...sources('src'), ...sources('grammars')]
const byName = new Map(files.map((file) => [file.name, file]))

function sources(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .map((path) => {
      const name = posix.join(folder, path.replaceAll('\\', '/')).replace(/\.ts$/, '')
      const tree = ts.createSourceFile(
        name,
        readFileSync(join(root, folder, path), 'utf8'),
        ts.ScriptTarget.ES2023,
        true,
      )
      return { name, layer: layerOf(name), tree, imports: importsOf(tree, name) }
    })
}

function layerOf(name: string): string {
  const [folder, first = ''] = name.split('/')
  return folder === 'src' ? first : (folder ?? '')
}

function importsOf(tree: ts.SourceFile, name: string): Import[] {
  const found: Import[] = []
  const add = (specifier: ts.Node | undefined, typeOnly: boolean): void => {
    if (!specifier || !ts.isStringLiteral(specifier)) return
    const own = specifier.text.startsWith('.')
    const target = own ? relative('.', join(dirname(name), specifier.text)).replace(/\.js$/, '') : specifier.text
    found.push({ target, own, typeOnly })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnly(node.importClause))
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly)
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false)
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true
  const { name, namedBindings } = clause
  return (
    !name &&
    !!namedBindings &&
    ts.isNamedImports(namedBindings) &&
    namedBindings.elements.every((each) => each.isTypeOnly)
  )
}

function walk(tree: ts.Node, look: (node: ts.Node) => void): void {
  look(tree)
  ts.forEachChild(tree, (child) => walk(child, look))
}

const everyImport = (): (Import & { readonly file: SourceFile })[] =>
  files.flatMap((file) => file.imports.map((each) => ({ ...each, file })))

const shown = ({ file, target, typeOnly }: Import & { readonly file: SourceFile }): string =>
  `${file.name} imports ${typeOnly ? 'types of ' : ''}${target}`

/** Every `a.b` in a file. */
function accesses(tree: ts.SourceFile): string[] {
  const found: string[] = []
  walk(tree, (node) => {
    if (ts.isPropertyAccessExpression(node)) found.push(`${node.expression.getText(tree)}.${node.name.text}`)
  })
  return found
}

t.test('the tracing library is named by one file, which main alone loads, and only when it is needed', async (t) => {
  const naming = files.filter(({ imports }) => imports.some(({ target }) => tracingPackages.test(target)))
  t.same(
    naming.map(({ name }) => name),
    ['src/tracing'],
  )
  const loading = files.filter(({ imports }) =>
    imports.some(({ target, typeOnly }) => target === 'src/tracing' && !typeOnly),
  )
  t.same(
    loading.map(({ name }) => name),
    ['src/main'],
  )
  for (const { tree } of loading) t.notMatch(tree.text, /^import (?!type )[^']*'\.\/tracing\.js'/m, 'no static import')
})

t.test('every layer is in the table', async (t) => {
  const layers = [...new Set(files.map((file) => file.layer))]
  t.same(
    layers.filter((layer) => !(layer in allowed)),
    [],
  )
  t.ok(files.length > 100, `${files.length} files are looked at`)
})

t.test('nobody imports a layer that the table does not allow', async (t) => {
  const wrong = everyImport().filter(({ file, target, own, typeOnly }) => {
    const may = allowed[file.layer] ?? []
    const to = layerOf(target)
    return (
      own && !(to === file.layer || may.includes('*') || may.includes(to) || (typeOnly && may.includes(`types:${to}`)))
    )
  })
  t.same(wrong.map(shown), [])
})

t.test('tools name ports by their interfaces', async (t) => {
  const wrong = everyImport().filter(
    ({ file, target, own }) =>
      own &&
      file.layer === 'tools' &&
      ['syntax', 'workspace', 'sessions'].includes(layerOf(target)) &&
      !ports.includes(target),
  )
  t.same(wrong.map(shown), [])
})

t.test('every import of ours leads to a file', async (t) => {
  t.same(
    everyImport()
      .filter(({ target, own }) => own && !byName.has(target))
      .map(shown),
    [],
  )
})

t.test('no file imports itself, however many files lie between', async (t) => {
  const done = new Set<string>()
  const path: string[] = []
  const cycles: string[] = []
  const visit = (name: string): void => {
    const at = path.indexOf(name)
    if (at >= 0) cycles.push([...path.slice(at), name].join(' → '))
    if (at >= 0 || done.has(name)) return
    path.push(name)
    for (const { target, own } of byName.get(name)?.imports ?? []) if (own) visit(target)
    path.pop()
    done.add(name)
  }
  for (const { name } of files) visit(name)
  t.same(cycles, [])
})

t.test('only ports touch the world, and each layer only the packages that it needs', async (t) => {
  const mayTouch = ['syntax', 'workspace', 'sessions', 'main', 'openapi', 'package-root', 'build-assets']
  const wrong = everyImport().filter(
    ({ file, target, own }) =>
      !own &&
      ((!mayTouch.includes(file.layer) && worldly.includes(target)) ||
        packages[file.layer]?.includes(target) === false),
  )
  t.same(wrong.map(shown), [])
})

t.test('only main reads the environment', async (t) => {
  const readers = files.filter(({ tree }) => accesses(tree).includes('process.env'))
  t.same(
    readers.map((file) => file.name),
    ['src/main'],
  )
})

t.test('pure layers have no state of their own, no clock, no chance, and never await', async (t) => {
  const wrong: string[] = []
  for (const { name, layer, tree } of files) {
    if (!pure.includes(layer)) continue
    for (const statement of tree.statements)
      if (ts.isVariableStatement(statement) && !(statement.declarationList.flags & ts.NodeFlags.Const))
        wrong.push(`${name} has a variable`)
    for (const access of accesses(tree))
      if (['Date.now', 'Math.random', 'performance.now', 'process.hrtime'].includes(access))
        wrong.push(`${name} uses ${access}`)
    walk(tree, (node) => {
      if (ts.isNewExpression(node) && node.expression.getText(tree) === 'Date' && !node.arguments?.length)
        wrong.push(`${name} asks the clock`)
      if (ts.isAwaitExpression(node)) wrong.push(`${name} awaits`)
    })
  }
  t.same(wrong, [])
})

t.test('no file is a barrel or has a default export, and none is longer than 400 lines', async (t) => {
  const wrong: string[] = []
  for (const { name, tree } of files) {
    if (tree.statements.some((each) => ts.isExportDeclaration(each) && !each.exportClause))
      wrong.push(`${name} is a barrel`)
    if (tree.statements.some((each) => ts.isExportAssignment(each))) wrong.push(`${name} has a default export`)
    const lines = tree.getLineAndCharacterOfPosition(tree.end).line
    if (lines > 400) wrong.push(`${name} has ${lines} lines`)
  }
  t.same(wrong, [])
})

t.test('every file opens with what it is for', async (t) => {
  t.same(
    files.filter(({ tree }) => !/^(#!.*\n)?\/\*\*/.test(tree.text)).map((file) => file.name),
    [],
  )
})

t.test('the table of the documentation names the same folders', async (t) => {
  const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
  for (const layer of [
    'text',
    'errors',
    'limits',
    'schemas',
    'patch',
    'engine',
    'syntax',
    'workspace',
    'sessions',
    'tools',
    'http',
  ])
    t.match(text, new RegExp(`^\\|[^|]*\\b${layer}\\b[^|]*\\|`, 'm'), layer)
})
