import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeWhere, findProgram } from '@strongroom/lab';
import { readConfiguration, type Configuration } from '@strongroom/server';
import { parse, parseAllDocuments } from 'yaml';

const CHART = join(fileURLToPath(new URL('../../../..', import.meta.url)), 'deploy', 'helm', 'strongroom');
const helm = findProgram('helm');

interface Kubernetes {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** What `helm template` makes of the chart with these values; or why it refuses. */
function rendered(...values: string[]): { readonly objects: readonly Kubernetes[]; readonly refusal: string } {
  const words = [
    'template',
    'vault',
    CHART,
    '--namespace=secrets',
    '--kube-version=1.33.0',
    ...values.flatMap((value) => ['--set', value]),
  ];
  const { stdout, stderr, status } = spawnSync(helm!, words, { encoding: 'utf8' });
  if (status !== 0) return { objects: [], refusal: stderr };
  return { objects: objectsOf(stdout), refusal: '' };
}

const POSTGRESQL = [
  'storage.type=postgresql',
  'storage.postgresql.existingSecret=database',
  'seal.static.existingSecret=seal',
  'tls.existingSecret=tls',
];

const ETCD = [
  'storage.type=etcd',
  'storage.etcd.address={https://etcd-0.etcd.data.svc:2379,https://etcd-1.etcd.data.svc:2379,https://etcd-2.etcd.data.svc:2379}',
  'storage.etcd.existingSecret=etcd-user',
  'storage.etcd.tlsSecret=etcd-tls',
  'seal.static.existingSecret=seal',
  'tls.existingSecret=tls',
];

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'strongroom-helm-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What stands at a place such as `spec.template`. */
const at = (object: unknown, place: string): unknown =>
  place.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], object);

const one = (objects: readonly Kubernetes[], kind: string): Kubernetes => objects.find((object) => object.kind === kind)!;

function objectsOf(text: string): Kubernetes[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Kubernetes)
    .filter(Boolean);
}

/** The configuration that the server reads from a ConfigMap. */
async function accepted(objects: readonly Kubernetes[]): Promise<Configuration> {
  const file = join(folder, 'strongroom.hcl');
  writeFileSync(file, (at(one(objects, 'ConfigMap'), 'data') as Record<string, string>)['strongroom.hcl']!);
  const configuration = await readConfiguration([file], {
    env: { STRONGROOM_CONNECTION_URL: 'postgresql://u:p@h/d', ETCD_USERNAME: 'u', ETCD_PASSWORD: 'p' },
  });
  // The key of the seal is mounted where the server runs.
  expect(configuration.notices.filter((notice) => !notice.includes('/etc/strongroom-seal/key'))).toEqual([]);
  return configuration;
}

describe('the manifests, as the Helm chart makes them', () => {
  const committed = (name: string): readonly Kubernetes[] => objectsOf(readFileSync(join(CHART, '..', '..', 'kubernetes', name), 'utf8'));
  const lmdb = committed('lmdb.yaml');
  const postgresql = committed('postgresql.yaml');
  const etcd = committed('etcd.yaml');

  test('have one server with a volume over LMDB, and several with a disruption budget over PostgreSQL and etcd', () => {
    expect(at(one(lmdb, 'StatefulSet'), 'spec.replicas')).toBe(1);
    expect(at(one(lmdb, 'StatefulSet'), 'spec.volumeClaimTemplates')).toHaveLength(1);
    expect(one(lmdb, 'PodDisruptionBudget')).toBeUndefined();
    for (const objects of [postgresql, etcd]) {
      expect(at(one(objects, 'StatefulSet'), 'spec.replicas')).toBe(3);
      expect(at(one(objects, 'StatefulSet'), 'spec.volumeClaimTemplates')).toBeUndefined();
      expect(at(one(objects, 'PodDisruptionBudget'), 'spec.maxUnavailable')).toBe(1);
    }
  });

  test.each([
    ['lmdb', lmdb],
    ['postgresql', postgresql],
    ['etcd', etcd],
  ])('have a configuration for %s that the server accepts', async (type, objects) => {
    expect((await accepted(objects)).storage.type).toBe(type);
  });

  test('run without rights: no root, no capabilities, a root file system that is read-only', () => {
    for (const objects of [lmdb, postgresql, etcd]) {
      const spec = at(one(objects, 'StatefulSet'), 'spec.template.spec');
      expect(at(spec, 'securityContext')).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      expect(at(spec, 'containers.0.securityContext')).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  test('do not restart a server that is sealed, and send it no clients', () => {
    const container = at(one(lmdb, 'StatefulSet'), 'spec.template.spec.containers.0');
    expect(at(container, 'livenessProbe.httpGet.path')).toBe('/v1/sys/health?sealedcode=204&uninitcode=204&standbyok=true');
    expect(at(container, 'readinessProbe.httpGet.path')).toBe('/v1/sys/health');
  });

  test('hold no secret, but name where it is', () => {
    expect([...lmdb, ...postgresql, ...etcd].some(({ kind }) => kind === 'Secret')).toBe(false);
    expect(at(one(postgresql, 'StatefulSet'), 'spec.template.spec.containers.0.env')).toContainEqual({
      name: 'STRONGROOM_CONNECTION_URL',
      valueFrom: { secretKeyRef: { name: 'database', key: 'url' } },
    });
    expect(at(one(etcd, 'StatefulSet'), 'spec.template.spec.containers.0.env')).toContainEqual({
      name: 'ETCD_PASSWORD',
      valueFrom: { secretKeyRef: { name: 'etcd-user', key: 'password' } },
    });
  });
});

describeWhere(helm === undefined ? 'helm is not installed' : undefined, 'the Helm chart', () => {
  test('makes the manifests that are committed', () => {
    for (const [name, values] of [
      ['lmdb.yaml', []],
      ['postgresql.yaml', POSTGRESQL],
      ['etcd.yaml', ETCD],
    ] as const) {
      const text = readFileSync(join(CHART, '..', '..', 'kubernetes', name), 'utf8');
      expect(rendered(...values).objects).toEqual(objectsOf(text));
    }
  });

  test('has a configuration that the server accepts with other values', async () => {
    await accepted(rendered('trustedProxies={10.0.0.0/8,::1}', 'logLevel=warn', 'audit.stdout=false').objects);
    await accepted(rendered(...ETCD, 'storage.etcd.existingSecret=', 'storage.etcd.clientCertificate=true').objects);
  });

  test('refuses values that cannot work, and says which', () => {
    expect(rendered('storage.type=floppy').refusal).toContain('storage');
    expect(rendered('storage.type=postgresql').refusal).toContain('existingSecret');
    expect(rendered('storage.type=etcd').refusal).toContain('address');
    expect(rendered(...ETCD, 'storage.etcd.address={http://etcd:2379}').refusal).toContain('address');
    expect(rendered(...ETCD, 'storage.etcd.tlsSecret=', 'storage.etcd.clientCertificate=true').refusal).toContain('tlsSecret');
    expect(rendered('serviceMonitor.enabled=true').refusal).toContain('tokenSecret');
    expect(rendered('replicas=0').refusal).toContain('replicas');
  });

  test('has everything else on request', () => {
    const { objects } = rendered(
      'ingress.enabled=true',
      'networkPolicy.enabled=true',
      'serviceMonitor.enabled=true',
      'serviceMonitor.tokenSecret=m',
    );
    expect(objects.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['Ingress', 'NetworkPolicy', 'ServiceMonitor', 'ClusterRoleBinding', 'ServiceAccount']),
    );
  });
});

describe('the values of the Helm chart', () => {
  test('are all declared in its schema or free', () => {
    const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as Record<string, unknown>;
    const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as {
      required: string[];
      properties: Record<string, unknown>;
    };
    for (const key of [...schema.required, ...Object.keys(schema.properties)]) expect(Object.keys(values)).toContain(key);
  });
});
