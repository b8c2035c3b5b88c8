import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeWhere, findProgram } from '@strongroom/lab';
import { readConfiguration } from '@strongroom/server';
import { parse, parseAllDocuments } from 'yaml';

const CHART = join(fileURLToPath(new URL('../../../..', import.meta.url)), 'deploy', 'helm', 'strongroom');
const helm = findProgram('helm');

interface Kubernetes {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly [key: string]: any;
}

/** What `helm template` makes of the chart with these values; or why it refuses. */
function rendered(...values: string[]): { readonly objects: readonly Kubernetes[]; readonly refusal: string } {
  const words = ['template', 'vault', CHART, '--namespace=secrets', ...values.flatMap((value) => ['--set', value])];
  const { stdout, stderr, status } = spawnSync(helm!, words, { encoding: 'utf8' });
  if (status !== 0) return { objects: [], refusal: stderr };
  return {
    objects: parseAllDocuments(stdout)
      .map((document) => document.toJS() as Kubernetes)
      .filter(Boolean),
    refusal: '',
  };
}

const POSTGRESQL = [
  'storage.type=postgresql',
  'storage.postgresql.existingSecret=database',
  'seal.static.existingSecret=seal',
  'tls.existingSecret=tls',
];

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'strongroom-helm-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeWhere(helm === undefined ? 'helm is not installed' : undefined, 'the Helm chart', () => {
  const one = (objects: readonly Kubernetes[], kind: string): Kubernetes => objects.find((object) => object.kind === kind)!;
  const configurationOf = (objects: readonly Kubernetes[]): string => one(objects, 'ConfigMap')['data']['strongroom.hcl'] as string;

  test('has one server with a volume over LMDB, and several with a disruption budget over PostgreSQL', () => {
    const lmdb = rendered().objects;
    expect(one(lmdb, 'StatefulSet')['spec']['replicas']).toBe(1);
    expect(one(lmdb, 'StatefulSet')['spec']['volumeClaimTemplates']).toHaveLength(1);
    expect(one(lmdb, 'PodDisruptionBudget')).toBeUndefined();
    const many = rendered(...POSTGRESQL).objects;
    expect(one(many, 'StatefulSet')['spec']['replicas']).toBe(3);
    expect(one(many, 'StatefulSet')['spec']['volumeClaimTemplates']).toBeUndefined();
    expect(one(many, 'PodDisruptionBudget')['spec']['maxUnavailable']).toBe(1);
  });

  test.each([[[]], [POSTGRESQL], [['trustedProxies={10.0.0.0/8,::1}', 'logLevel=warn', 'audit.stdout=false']]])(
    'has a configuration that the server accepts with %j',
    async (values) => {
      const file = join(folder, 'strongroom.hcl');
      writeFileSync(file, configurationOf(rendered(...values).objects));
      const env = { STRONGROOM_CONNECTION_URL: 'postgresql://u:p@h/d' };
      const { notices, storage } = await readConfiguration([file], { env });
      expect(notices.filter((notice) => !notice.includes('/etc/strongroom-seal/key'))).toEqual([]);
      expect(storage.type).toBe(values === POSTGRESQL ? 'postgresql' : 'lmdb');
    },
  );

  test('runs without rights: no root, no capabilities, a root file system that is read-only', () => {
    const { spec } = one(rendered().objects, 'StatefulSet')['spec']['template'] as Kubernetes;
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(spec.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  test('does not restart a server that is sealed, and sends it no clients', () => {
    const { livenessProbe, readinessProbe } = (one(rendered().objects, 'StatefulSet')['spec']['template'] as Kubernetes)['spec']
      .containers[0];
    expect(livenessProbe.httpGet.path).toBe('/v1/sys/health?sealedcode=204&uninitcode=204&standbyok=true');
    expect(readinessProbe.httpGet.path).toBe('/v1/sys/health');
  });

  test('refuses values that cannot work, and says which', () => {
    expect(rendered('storage.type=floppy').refusal).toContain('storage');
    expect(rendered('storage.type=postgresql').refusal).toContain('existingSecret');
    expect(rendered('serviceMonitor.enabled=true').refusal).toContain('tokenSecret');
    expect(rendered('replicas=0').refusal).toContain('replicas');
  });

  test('has everything else on request', () => {
    const { objects } = rendered(
      'ingress.enabled=true',
      'networkPolicy.enabled=true',
      'serviceMonitor.enabled=true',
      'serviceMonitor.tokenSecret=metrics',
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
