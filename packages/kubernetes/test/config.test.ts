import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest } from '@strongroom/engine-testkit';
import { startKubernetesApi } from '@strongroom/lab';
import { kubernetesEngineWith } from '../src/index.ts';
import { mountedEngine, READS_PODS, type MountedEngine } from './kubernetes-mount.ts';

describe('the configuration and the roles', () => {
  let mount: MountedEngine;
  beforeEach(async () => {
    mount = await mountedEngine();
  });
  afterEach(async () => mount.stop());

  const write = async (path: string, data: Record<string, unknown>): Promise<string> => {
    const { status, errors } = await mount.call('update', `kubernetes/${path}`, { data });
    return `${status} ${errors?.join() ?? ''}`.trim();
  };

  test('a read shows everything but the token', async () => {
    const { data } = await mount.read('config');
    expect(data).toEqual({ kubernetes_host: mount.api.url, kubernetes_ca_cert: mount.api.ca, disable_local_ca_jwt: false });
  });

  test.each([
    [{ kubernetes_host: 'ftp://x' }, /^400 kubernetes_host: "ftp:\/\/x" is not the URL/],
    [{ kubernetes_ca_cert: 'nonsense' }, /^400 kubernetes_ca_cert: not a certificate/],
    [{ service_account_jwt: 'a b' }, /^400 service_account_jwt: not a token/],
  ])('%j is refused', async (data, expected) => {
    expect(await write('config', data)).toMatch(expected);
  });

  test('config/test tells a server that is not there from one that shows another certificate, and keeps the stored token to its own server', async () => {
    const steps = async (data: Record<string, unknown>): Promise<unknown> => (await mount.write('config/test', data)).data;
    const elsewhere = { kubernetes_host: 'https://127.0.0.1:1', service_account_jwt: 'sent' };
    expect(await steps(elsewhere)).toMatchObject({ ok: false, steps: [{ step: 'connect', ok: false, fault: true }] });
    const other = await startKubernetesApi();
    try {
      expect(await steps({ kubernetes_host: other.url, service_account_jwt: 'sent' })).toMatchObject({
        ok: false,
        steps: [
          { step: 'connect', ok: true },
          { step: 'tls', ok: false, fault: true },
        ],
      });
      expect(await write('config/test', { kubernetes_host: other.url })).toMatch(
        /^400 kubernetes_host: a new value sends the stored service_account_jwt to another address/,
      );
    } finally {
      await other.stop();
    }
    expect(await write('config/test', { role: 'none' })).toBe('400 role: there is no role "none"');
    expect(await write('config/test', { kubernetes_host: 'ftp://x' })).toMatch(/^400 kubernetes_host/);
  });

  test('outside a pod, check names what is missing', async () => {
    const { status, errors } = await mount.call('read', 'kubernetes/check', {});
    expect([status, errors]).toEqual([400, ['Missing environment variables: KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT_HTTPS']]);
  });

  test.each([
    [{}, /one \(at least\) of allowed_kubernetes_namespaces or allowed_kubernetes_namespace_selector must be set/],
    [{ allowed_kubernetes_namespaces: 'a' }, /one \(and only one\) of service_account_name, kubernetes_role_name or generated_role_rules/],
    [{ ...READS_PODS, service_account_name: 'x' }, /one \(and only one\)/],
    [{ ...READS_PODS, kubernetes_role_type: 'x' }, /kubernetes_role_type must be either 'Role' or 'ClusterRole'/],
    [{ ...READS_PODS, generated_role_rules: '[oops' }, /failed to parse 'generated_role_rules' as k8s.io\/api\/rbac\/v1\/Policy object/],
    [{ ...READS_PODS, generated_role_rules: 'rules: [{verb: [get]}]' }, /failed to parse 'generated_role_rules'.*rule 1/],
    [{ ...READS_PODS, token_default_ttl: '2h', token_max_ttl: '1h' }, /token_default_ttl 7200s cannot be greater than token_max_ttl 3600s/],
    [{ ...READS_PODS, name_template: '{{.Oops' }, /unable to initialize name template/],
    [{ ...READS_PODS, name_template: '{{.RoleName}}_x' }, /name_template gives "r_x", which is no name of Kubernetes/],
    [{ ...READS_PODS, allowed_kubernetes_namespace_selector: '{oops' }, /invalid "allowed_kubernetes_namespace_selector" configured/],
    [{ ...READS_PODS, extra_labels: { 'strongroom.io/mount': 'x' } }, /extra_labels: strongroom.io\/mount is set by this server/],
    [{ ...READS_PODS, extra_labels: { team: 'a b' } }, /extra_labels: the value "a b" of team is not a label/],
  ])('a role of %j is refused', async (data, expected) => {
    expect(await write('roles/r', data)).toMatch(expected);
  });

  test('a role reads back as it was written', async () => {
    await mount.write('roles/r', READS_PODS);
    expect((await mount.read('roles/r')).data).toEqual({
      name: 'r',
      allowed_kubernetes_namespaces: ['default', 'prod'],
      allowed_kubernetes_namespace_selector: '',
      token_max_ttl: 0,
      token_default_ttl: 0,
      token_default_audiences: null,
      service_account_name: '',
      kubernetes_role_name: '',
      kubernetes_role_type: 'Role',
      generated_role_rules: READS_PODS.generated_role_rules,
      name_template: '',
      extra_labels: null,
      extra_annotations: null,
    });
  });
});

describe('in a pod', () => {
  let mount: MountedEngine;
  let folder: string;
  beforeEach(async () => {
    mount = await mountedEngine();
    folder = await mkdtemp(join(tmpdir(), 'pod-'));
    await writeFile(join(folder, 'ca.crt'), mount.api.ca);
  });
  afterEach(async () => {
    await mount.stop();
    await rm(folder, { recursive: true });
  });

  test('an empty configuration uses the pod, whose token is read again when it is replaced', async () => {
    await writeFile(join(folder, 'token'), mount.api.issue({ namespace: 'kube-system', name: 'gone', expires: -1 }));
    const environment = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT_HTTPS: new URL(mount.api.url).port };
    const own = await mountForTest(kubernetesEngineWith({ podFolder: folder, environment }), { path: 'pod' });
    try {
      expect((await own.call('read', 'pod/check', {})).status).toBe(204);
      await own.write('config', {});
      await own.write('roles/pods', READS_PODS);
      const wish = { data: { kubernetes_namespace: 'prod' } };
      expect((await own.call('update', 'pod/creds/pods', wish)).status).toBe(500);
      await writeFile(join(folder, 'token'), mount.api.manager);
      await own.advance('1m');
      expect((await own.call('update', 'pod/creds/pods', wish)).status).toBe(200);
    } finally {
      await own.close();
    }
  });
});
