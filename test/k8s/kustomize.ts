/**
 * Builds the few features of kustomize that `k8s/` uses: resources, components, a ConfigMap of literals with its digest in the name, JSON patches, the namespace
 * and images. Anything else is an error, so that what a test looks at is what `kubectl apply -k` applies.
 */
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { loadAll } from 'js-yaml'

export type Json = null | boolean | number | string | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json
}

export interface Manifest extends JsonObject {
  apiVersion: string
  kind: string
  metadata: JsonObject & { name: string }
}

/** The objects of a folder with a kustomization.yaml, in the order of its resources. */
export function build(folder: string): Manifest[] {
  return accumulate(folder).map((manifest, _at, all) => renamed(manifest, generatedNames(all)))
}

/** Every document of a YAML file. */
export function manifestsOf(path: string): Manifest[] {
  return loadAll(readFileSync(path, 'utf8')).map((each) => {
    if (!isManifest(each)) throw new Error(`${path}: not a manifest`)
    return each
  })
}

interface Layer {
  readonly apiVersion: string
  readonly kind: 'Kustomization' | 'Component'
  readonly resources?: readonly string[]
  readonly components?: readonly string[]
  readonly namespace?: string
  readonly images?: readonly { readonly name: string; readonly newName: string; readonly newTag: string }[]
  readonly configMapGenerator?: readonly {
    readonly name: string
    readonly behavior?: 'merge'
    readonly literals: readonly string[]
  }[]
  readonly patches?: readonly {
    readonly path: string
    readonly target: { readonly kind: string; readonly name: string }
  }[]
}
const known = ['apiVersion', 'kind', 'resources', 'components', 'namespace', 'images', 'configMapGenerator', 'patches']

function accumulate(folder: string): Manifest[] {
  const path = join(folder, 'kustomization.yaml')
  const [layer] = loadAll(readFileSync(path, 'utf8')) as [Layer]
  for (const key of Object.keys(layer)) if (!known.includes(key)) throw new Error(`${path}: ${key} is not known here`)
  const made = [...(layer.resources ?? []), ...(layer.components ?? [])].flatMap((each) => {
    const at = join(folder, each)
    return statSync(at).isDirectory() ? accumulate(at) : manifestsOf(at)
  })
  for (const generator of layer.configMapGenerator ?? []) generate(made, generator)
  for (const { path: file, target } of layer.patches ?? []) {
    const found = made.filter(({ kind, metadata }) => kind === target.kind && metadata.name === target.name)
    if (found.length !== 1) throw new Error(`${file}: ${found.length} objects fit its target`)
    const [operations] = loadAll(readFileSync(join(folder, file), 'utf8')) as [readonly Operation[]]
    for (const operation of operations) for (const object of found) patch(object, operation)
  }
  for (const manifest of made) {
    if (layer.namespace !== undefined && manifest.kind !== 'Namespace') manifest.metadata['namespace'] = layer.namespace
    for (const image of layer.images ?? []) replaceImage(manifest, image)
  }
  return made
}

function generate(
  made: Manifest[],
  { name, behavior, literals }: NonNullable<Layer['configMapGenerator']>[number],
): void {
  const data: JsonObject = {}
  for (const literal of literals) {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(literal) ?? []
    if (key === undefined || value === undefined) throw new Error(`${literal} is not KEY=value`)
    data[key] = value
  }
  const before = made.find((each) => each.kind === 'ConfigMap' && each.metadata.name === name)
  if ((before !== undefined) !== (behavior === 'merge'))
    throw new Error(`ConfigMap ${name}: behavior ${behavior ?? 'create'} does not fit`)
  if (before) before['data'] = { ...(before['data'] as JsonObject), ...data }
  else made.push({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })
}

interface Operation {
  readonly op: string
  readonly path: string
  readonly value: Json
}

/** RFC 6902, of which only `add` and `replace` are used. */
function patch(object: Manifest, { op, path, value }: Operation): void {
  const keys = path
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  const last = keys.pop()
  const parent = keys.reduce<Json | undefined>((at, key) => member(at, key), object)
  if (last === undefined || typeof parent !== 'object' || parent === null) throw new Error(`${path}: no such place`)
  const isThere = member(parent, last) !== undefined
  if (op !== 'add' && op !== 'replace') throw new Error(`${op} is not known here`)
  // Every `add` here is meant to add: one that replaces has lost touch with the base.
  if (isThere !== (op === 'replace')) throw new Error(`${op} ${path}: ${isThere ? 'it is there' : 'it is not there'}`)
  if (!Array.isArray(parent)) parent[last] = value
  else if (last === '-') parent.push(value)
  else throw new Error(`${path}: only the end of a list is known here`)
}

const member = (value: Json | undefined, key: string): Json | undefined =>
  typeof value === 'object' && value !== null ? (value as JsonObject)[key] : undefined

function replaceImage(value: Json, image: NonNullable<Layer['images']>[number]): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, each] of Object.entries(value)) {
    if (key === 'image' && each === image.name) (value as JsonObject)[key] = `${image.newName}:${image.newTag}`
    else replaceImage(each, image)
  }
}

/** ConfigMaps and the names they get. */
function generatedNames(all: readonly Manifest[]): ReadonlyMap<string, string> {
  return new Map(
    all
      .filter(({ kind }) => kind === 'ConfigMap')
      .map(({ metadata: { name }, data }) => [
        name,
        `${name}-${suffix({ data: sorted(data as JsonObject), kind: 'ConfigMap', name })}`,
      ]),
  )
}

const sorted = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))

const letters: Readonly<Record<string, string>> = { '0': 'g', '1': 'h', '3': 'k', a: 'm', e: 't' }

/** As kustomize makes it: ten hex digits, those replaced that could spell a word. */
function suffix(content: Json): string {
  const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 10)
  return digest.replace(/[013ae]/g, (digit) => letters[digit] ?? digit)
}

function renamed(manifest: Manifest, names: ReadonlyMap<string, string>): Manifest {
  if (manifest.kind === 'ConfigMap')
    return {
      ...manifest,
      metadata: { ...manifest.metadata, name: names.get(manifest.metadata.name) ?? manifest.metadata.name },
    }
  return referring(manifest, names) as Manifest
}

function referring(value: Json, names: ReadonlyMap<string, string>, key = ''): Json {
  if (Array.isArray(value)) return value.map((each) => referring(each, names))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      key === 'configMapRef' && name === 'name'
        ? ((typeof each === 'string' ? names.get(each) : undefined) ?? each)
        : referring(each, names, name),
    ]),
  )
}

export function isManifest(value: unknown): value is Manifest {
  if (typeof value !== 'object' || value === null) return false
  const { apiVersion, kind, metadata } = value as Record<string, unknown>
  return (
    typeof apiVersion === 'string' &&
    typeof kind === 'string' &&
    typeof metadata === 'object' &&
    metadata !== null &&
    'name' in metadata
  )
}
