/**
 * What `kubectl apply -k` would apply: valid by the published schemas, coherent, and as strict as the service needs.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { configOf } from '../src/config.js'
import { EnvironmentSchema } from '../src/environment.js'
import { packageRoot } from '../src/package-root.js'
import type { Json, JsonObject, Manifest } from './k8s/kustomize.js'
import { build, manifestsOf } from './k8s/kustomize.js'
import { problemsOf } from './k8s/schemas.js'

const folder = join(packageRoot(import.meta.url), 'k8s')
const templates = [
  ...manifestsOf(join(folder, 'secret.template.yaml')),
  ...manifestsOf(join(folder, 'overlays/scaled/redis-secret.template.yaml')),
]
const overlays = {
  'single-node': build(join(folder, 'overlays/single-node')),
  scaled: build(join(folder, 'overlays/scaled')),
}

/** The value at a path of keys; undefined when there is none. */
function at(value: Json | undefined, path: string): Json | undefined {
  return path
    .split(/(?<!\\)\./)
    .map((key) => key.replace('\\.', '.'))
    .reduce<Json | undefined>((each, key) => {
      if (typeof each !== 'object' || each === null) return undefined
      return (each as JsonObject)[key]
    }, value)
}
/** The string at a path; empty when there is none. */
const textAt = (value: Json | undefined, path: string): string => {
  const found = at(value, path)
  return typeof found === 'string' ? found : ''
}
const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? (value as JsonObject[]) : [])

function only(manifests: readonly Manifest[], kind: string): Manifest {
  const found = manifests.filter((each) => each.kind === kind)
  if (found.length !== 1) throw new Error(`${found.length} objects of kind ${kind}`)
  return found[0]!
}

const pod = (manifests: readonly Manifest[]): Json => at(only(manifests, 'Deployment'), 'spec.template.spec')!
const container = (manifests: readonly Manifest[]): Json => at(pod(manifests), 'containers.0')!

t.test(
  'every object fits the published schema of its kind, and has no field that the schema does not know',
  async (t) => {
    t.same(await problemsOf([...overlays['single-node'], ...overlays.scaled, ...templates]), [])
  },
)

t.test('the check finds a wrong type, a missing field and a misspelled one', async (t) => {
  const broken = (change: (deployment: Manifest) => void): Manifest => {
    const copy = structuredClone(only(overlays.scaled, 'Deployment'))
    change(copy)
    return copy
  }
  const found = await problemsOf([
    broken((each) => ((each['spec'] as JsonObject)['revisionHistoryLimit'] = 'five')),
    broken((each) => delete (each['spec'] as JsonObject)['selector']),
    broken((each) => ((at(each, 'spec.template.spec.securityContext') as JsonObject)['runAsNonroot'] = true)),
    broken((each) => ((at(each, 'spec.template.spec.containers.0.readinessProbe') as JsonObject)['periodSecond'] = 5)),
  ])
  for (const word of [/revisionHistoryLimit/, /selector/, /runAsNonroot/, /periodSecond/])
    t.ok(
      found.some((each) => word.test(each)),
      `${String(word)} is named`,
    )
})

for (const [name, manifests] of Object.entries(overlays)) {
  t.test(`${name}: what is named exists`, async (t) => {
    const secrets = templates.map(({ metadata }) => metadata.name)
    const claims = manifests.filter(({ kind }) => kind === 'PersistentVolumeClaim').map(({ metadata }) => metadata.name)
    const volumes = list(at(pod(manifests), 'volumes'))
    const mounts = list(at(container(manifests), 'volumeMounts'))
    t.same(
      mounts.map((each) => each['name']).sort(),
      volumes.map((each) => each['name']).sort(),
      'every volume is mounted, and every mount has its volume',
    )
    const claimed = volumes
      .map((each) => at(each, 'persistentVolumeClaim.claimName'))
      .filter((each) => each !== undefined)
    t.same(claimed.sort(), claims.sort())
    for (const volume of volumes) if (volume['secret']) t.ok(secrets.includes(textAt(volume, 'secret.secretName')))
    for (const variable of list(at(container(manifests), 'env')))
      if (at(variable, 'valueFrom.secretKeyRef'))
        t.ok(secrets.includes(textAt(variable, 'valueFrom.secretKeyRef.name')))
    t.equal(at(container(manifests), 'envFrom.0.configMapRef.name'), only(manifests, 'ConfigMap').metadata.name)
    t.equal(at(pod(manifests), 'serviceAccountName'), only(manifests, 'ServiceAccount').metadata.name)
    const labels = at(only(manifests, 'Deployment'), 'spec.template.metadata.labels')
    t.same(at(only(manifests, 'Deployment'), 'spec.selector.matchLabels'), labels)
    t.same(at(only(manifests, 'Service'), 'spec.selector'), labels)
    t.same(at(only(manifests, 'PodDisruptionBudget'), 'spec.selector.matchLabels'), labels)
    t.same(at(only(manifests, 'NetworkPolicy'), 'spec.podSelector.matchLabels'), labels)
    for (const each of manifests)
      if (each.kind !== 'Namespace')
        t.equal(each.metadata['namespace'], only(manifests, 'Namespace').metadata.name, each.kind)
    t.notMatch(JSON.stringify(manifests), /:latest"/)
  })

  t.test(`${name}: the configuration is one that the service takes`, async (t) => {
    const data = at(only(manifests, 'ConfigMap'), 'data') as Record<string, string>
    for (const key of Object.keys(data))
      t.ok(key in EnvironmentSchema.properties, `${key} is a variable of the service`)
    const secret = (name: string, key: string): string =>
      textAt(templates.find(({ metadata }) => metadata.name === name)?.['stringData'], key)
    const variables: Record<string, string> = Object.fromEntries(
      list(at(container(manifests), 'env')).map((each) => [
        textAt(each, 'name'),
        secret(textAt(each, 'valueFrom.secretKeyRef.name'), textAt(each, 'valueFrom.secretKeyRef.key')),
      ]),
    )
    const config = configOf(
      { ...data, ...variables },
      {
        cwd: '/app',
        tmpDir: '/tmp',
        uid: 1000,
        pid: 1,
        readFile: () => secret('anchorline-tokens', 'tokens\\.json'),
        isDirectory: () => true,
      },
    )
    const mounted = (path: string): boolean =>
      list(at(container(manifests), 'volumeMounts')).some((each) => path === each['mountPath'])
    t.ok(mounted(config.workspacesDir))
    t.ok(mounted(config.scratchDir))
    t.ok(data['TOKENS_FILE']?.startsWith('/etc/anchorline/') && mounted('/etc/anchorline'))
    t.equal(config.port, at(container(manifests), 'ports.0.containerPort'))
    t.equal(config.store.kind, name === 'scaled' ? 'redis' : 'memory')
    const preStop = Number(at(container(manifests), 'lifecycle.preStop.exec.command.1'))
    t.ok(
      Number(at(pod(manifests), 'terminationGracePeriodSeconds')) >= preStop + config.shutdownGraceMs / 1000 + 5,
      'calls in flight may finish',
    )
  })

  t.test(`${name}: runs without privileges and says what it needs`, async (t) => {
    t.match(at(pod(manifests), 'securityContext'), {
      runAsNonRoot: true,
      runAsUser: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    t.match(at(container(manifests), 'securityContext'), {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    t.equal(at(pod(manifests), 'automountServiceAccountToken'), false)
    t.equal(only(manifests, 'ServiceAccount')['automountServiceAccountToken'], false)
    t.equal(
      only(manifests, 'Namespace').metadata['labels']?.['pod-security.kubernetes.io/enforce' as never],
      'restricted',
    )
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
      t.match(at(container(manifests), `${probe}.httpGet`), { port: 'http' })
    t.equal(at(container(manifests), 'readinessProbe.httpGet.path'), '/readyz')
    t.equal(at(container(manifests), 'livenessProbe.httpGet.path'), '/livez')
    t.ok(at(container(manifests), 'resources.requests.cpu'))
    t.ok(at(container(manifests), 'resources.limits.memory'))
    t.same(at(only(manifests, 'NetworkPolicy'), 'spec.policyTypes'), ['Ingress', 'Egress'])
    for (const rule of list(at(only(manifests, 'NetworkPolicy'), 'spec.ingress')))
      t.ok(list(rule['from']).length > 0, 'no rule lets everybody in')
  })
}

t.test('a single node runs one process on a volume of its own', async (t) => {
  const manifests = overlays['single-node']
  t.match(only(manifests, 'Deployment')['spec'], { replicas: 1, strategy: { type: 'Recreate' } })
  t.same(at(only(manifests, 'PersistentVolumeClaim'), 'spec.accessModes'), ['ReadWriteOnce'])
  t.same(at(only(manifests, 'NetworkPolicy'), 'spec.egress'), [], 'it calls nobody')
  t.notOk(manifests.some(({ kind }) => kind === 'HorizontalPodAutoscaler'))
})

t.test('replicas share their files and leave their number to the autoscaler', async (t) => {
  const manifests = overlays.scaled
  t.equal(at(only(manifests, 'Deployment'), 'spec.replicas'), undefined)
  const scaler = only(manifests, 'HorizontalPodAutoscaler')
  t.match(at(scaler, 'spec.scaleTargetRef'), { kind: 'Deployment', name: only(manifests, 'Deployment').metadata.name })
  t.ok(Number(at(scaler, 'spec.minReplicas')) > 1)
  for (const claim of manifests.filter(({ kind }) => kind === 'PersistentVolumeClaim'))
    t.same(at(claim, 'spec.accessModes'), ['ReadWriteMany'], claim.metadata.name)
  t.ok(list(at(pod(manifests), 'topologySpreadConstraints')).length > 0)
  t.equal(
    at(only(manifests, 'ServiceMonitor'), 'spec.endpoints.0.port'),
    at(only(manifests, 'Service'), 'spec.ports.0.name'),
  )
  t.same(
    at(only(manifests, 'ServiceMonitor'), 'spec.selector.matchLabels'),
    only(manifests, 'Service').metadata['labels'],
  )
})

t.test('no secret is part of what is applied', async (t) => {
  for (const manifests of Object.values(overlays)) t.notOk(manifests.some(({ kind }) => kind === 'Secret'))
  t.notMatch(readFileSync(join(folder, 'base/kustomization.yaml'), 'utf8'), /secretGenerator/)
})
