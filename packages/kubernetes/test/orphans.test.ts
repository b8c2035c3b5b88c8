import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountedEngine, READS_PODS, type MountedEngine } from './kubernetes-mount.ts';

interface Found {
  readonly usernames: readonly string[];
  readonly accounts: readonly { readonly creation: string; readonly objects: readonly string[]; readonly known_by: string }[];
}

describe('orphans', () => {
  let mount: MountedEngine;
  beforeEach(async () => {
    mount = await mountedEngine();
    await mount.write('roles/pods', READS_PODS);
  });
  afterEach(async () => mount.stop());

  const create = async (): Promise<string> => {
    const { data } = await mount.write('creds/pods', { kubernetes_namespace: 'prod' });
    const { service_account_namespace, service_account_name } = data as Record<string, string>;
    return `${service_account_namespace}/${service_account_name}`;
  };
  const drop = async (): Promise<void> => {
    mount.api.watch(({ method }) => (method === 'DELETE' ? 403 : undefined));
    await mount.call('update', 'sys/leases/revoke-force/kubernetes/creds', {});
    mount.api.watch(() => undefined);
  };
  const find = async (): Promise<Found> => (await mount.read('orphans')).data as unknown as Found;
  const refused = async (data: Record<string, unknown>): Promise<string> => {
    const { status, errors } = await mount.call('update', 'kubernetes/orphans', { data });
    return `${status} ${errors?.join()}`;
  };
  /** An account with the label of the mount and a creation that it does not know, as after a restored backup. */
  const lose = async (name: string): Promise<void> => {
    const path = '/api/v1/namespaces/prod/serviceaccounts';
    const { data } = await mount.call('read', 'sys/mounts', {});
    const { uuid } = (data as Record<string, { uuid: string }>)['kubernetes/']!;
    const labels = { 'strongroom.io/mount': uuid, 'strongroom.io/creation': `of-${name}` };
    mount.api.objects.answer(
      'POST',
      path,
      JSON.stringify({ kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name, namespace: 'prod', labels } }),
    );
  };

  test('are none where each object has its lease, and no object of a lease can be removed as one', async () => {
    const username = await create();
    const { data, warnings } = await mount.read('orphans');
    expect(data).toEqual({ usernames: [], accounts: [] });
    expect(warnings).toBeNull();
    expect(await refused({ usernames: [username] })).toMatch(
      /^400 [^]* is no orphan: either this mount did not make it, or it is still in use/,
    );
    expect(await refused({})).toMatch(/^400 give either usernames/);
    expect(await refused({ usernames: [username], all: true })).toMatch(/^400 give either usernames/);
    expect(mount.left()).toHaveLength(3);
  });

  test('are what a lease that was revoked by force has left, and what only the labels know; a copy of the server is warned of', async () => {
    const dropped = await create();
    await drop();
    const kept = await create();
    await lose('lost');
    const { warnings } = await mount.read('orphans');
    expect(warnings).toEqual([expect.stringMatching(/^a copy of this server, .* marks its objects alike; remove objects by name/)]);
    const { usernames, accounts } = await find();
    expect(usernames).toEqual(['prod/lost', dropped].sort());
    expect(accounts.find(({ creation }) => creation === 'of-lost')).toMatchObject({
      known_by: 'label',
      objects: ['ServiceAccount prod/lost'],
    });
    expect(accounts.find(({ known_by }) => known_by === 'record')!.objects).toEqual([
      `ServiceAccount ${dropped}`,
      `Role ${dropped}`,
      `RoleBinding ${dropped}`,
    ]);
    expect((await mount.write('orphans', { usernames: ['prod/lost', 'prod/nobody'] })).data).toEqual({
      removed: ['prod/lost'],
      gone: ['prod/nobody'],
      pending: {},
    });
    expect((await mount.write('orphans', { all: true })).data).toEqual({ removed: [dropped], gone: [], pending: {} });
    expect(mount.left()).toEqual([`ServiceAccount ${kept}`, `Role ${kept}`, `RoleBinding ${kept}`]);
  });

  test('that cannot be removed now are pending, with the reason, and are removed by the journal', async () => {
    const username = await create();
    await drop();
    mount.api.watch(({ method }) => (method === 'DELETE' ? 403 : undefined));
    expect((await mount.write('orphans', { all: true })).data).toEqual({
      removed: [],
      gone: [],
      pending: { [username]: expect.stringContaining('the Kubernetes API server refuses to delete the RoleBinding') },
    });
    mount.api.watch(() => undefined);
    // In steps that are shorter than the deadline of a call.
    for (let i = 0; i < 40; i += 1) await mount.advance('9s');
    expect(mount.left()).toEqual([]);
    expect(await find()).toEqual({ usernames: [], accounts: [] });
  });

  test('are for operators with the capability sudo alone', async () => {
    const tokenWith = async (name: string, capabilities: string): Promise<string> => {
      await mount.call('update', `sys/policies/acl/${name}`, {
        data: { policy: `path "kubernetes/orphans" { capabilities = [${capabilities}] }` },
      });
      return (await mount.call('update', 'auth/token/create', { data: { policies: [name] } })).auth!.client_token;
    };
    const plain = await tokenWith('plain', '"create", "read", "update", "delete"');
    for (const operation of ['read', 'update', 'delete'] as const) {
      expect((await mount.call(operation, 'kubernetes/orphans', { token: plain, data: { all: true } })).status).toBe(403);
    }
    expect((await mount.call('read', 'kubernetes/orphans', { token: await tokenWith('mighty', '"read", "sudo"') })).status).toBe(200);
  });
});
