/**
 * Holds manifests against the published Kubernetes schemas, as the package `kubernetes-models` carries them: its validators, generated from the OpenAPI document of
 * Kubernetes, find wrong types and missing fields; its types, put before the TypeScript compiler, also find fields that do not exist.
 */
import ts from 'typescript'
import { packageRoot } from '../../src/package-root.js'
import type { Manifest } from './kustomize.js'

/** One line per problem; empty when there is none. */
export async function problemsOf(manifests: readonly Manifest[]): Promise<string[]> {
  const invalid = await Promise.all(manifests.map(invalidities))
  return [...invalid.flat(), ...typeProblems(manifests)]
}

function moduleOf({ apiVersion, kind }: Manifest): string {
  const source = apiVersion.startsWith('monitoring.coreos.com/')
    ? '@kubernetes-models/prometheus-operator'
    : 'kubernetes-models'
  return `${source}/${apiVersion}/${kind}`
}

type Model = new (data: Manifest) => { validate(): void }

async function invalidities(manifest: Manifest): Promise<string[]> {
  const loaded = (await import(moduleOf(manifest))) as Record<string, Model | undefined>
  const Model = loaded[manifest.kind]
  if (Model === undefined) return [`${manifest.kind}: no such kind in ${manifest.apiVersion}`]
  try {
    new Model(manifest).validate()
    return []
  } catch (error) {
    return [`${manifest.kind}: ${error instanceof Error ? error.message : String(error)}`]
  }
}

/** The manifests as literals of their types: a literal may have no property that its type does not know. */
function typeProblems(manifests: readonly Manifest[]): string[] {
  const root = packageRoot(import.meta.url)
  const file = `${root}/manifests-under-test.ts`
  const source = manifests
    .flatMap((manifest, at) => [
      `import type { I${manifest.kind} as T${at} } from '${moduleOf(manifest)}'`,
      `export const m${at}: T${at} = ${JSON.stringify(manifest)}`,
    ])
    .join('\n')
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es2022.d.ts'],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  }
  const host = ts.createCompilerHost(options)
  const disk = ts.createCompilerHost(options)
  host.fileExists = (path) => path === file || disk.fileExists(path)
  host.readFile = (path) => (path === file ? source : disk.readFile(path))
  host.getSourceFile = (path, version, ...rest) =>
    path === file ? ts.createSourceFile(path, source, version) : disk.getSourceFile(path, version, ...rest)
  const program = ts.createProgram([file], options, host)
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}
