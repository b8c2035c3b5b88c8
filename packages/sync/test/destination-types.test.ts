import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { GOOGLE_KEY, REAL_TYPES, realDestinations, type RealType } from './real-types.ts';
import { checked, syncMount, type Data, type SyncMount } from './sync-mount.ts';

jest.setTimeout(60_000);

interface Shown {
  readonly connection_details: Data;
  readonly options: Data;
  readonly name: string;
  readonly type: string;
}

let sync: SyncMount;
beforeEach(async () => {
  sync = await syncMount({ plugins: realDestinations });
});
afterEach(async () => sync.close());

const at = (type: string): string => `sys/sync/destinations/${type}/prod`;
const typeOf = (neutral: string): RealType => REAL_TYPES.find((candidate) => candidate.neutral === neutral)!;

async function written(neutral: string, change: Data = {}): Promise<Shown> {
  await checked(sync.ask('update', at(neutral), { ...typeOf(neutral).body, ...change }));
  return (await checked(sync.ask('read', at(typeOf(neutral).type)))).data as Shown;
}

async function refused(neutral: string, body: Data): Promise<string> {
  const { status, errors } = await sync.ask('update', at(neutral), body);
  expect(status).toBe(400);
  expect((await sync.ask('read', at(neutral))).status).toBe(404);
  return (errors ?? []).join('; ');
}

function without(neutral: string, field: string): Data {
  const { [field]: _left, ...rest } = typeOf(neutral).body;
  return rest;
}

describe.each(REAL_TYPES)('destinations of type $neutral ($type)', ({ neutral, type, body }) => {
  test.each([neutral, type])('POST, GET, LIST and DELETE /sys/sync/destinations/%s/:name', async (variant) => {
    const made = await sync.ask('update', at(variant), body);
    expect(made).toMatchObject({ status: 200, data: { name: 'prod', type } });
    for (const other of [neutral, type]) {
      expect((await sync.ask('read', at(other))).data).toEqual(made.data);
      expect((await sync.ask('list', `sys/sync/destinations/${other}`)).data).toEqual({ keys: ['prod'], total_destinations: 1 });
    }
    expect((await sync.ask('list', 'sys/sync/destinations')).data).toMatchObject({ key_info: { [`${type}/`]: ['prod'] } });
    expect((await sync.ask('delete', at(variant))).status).toBe(204);
    expect((await sync.ask('read', at(variant))).status).toBe(404);
    expect((await sync.ask('delete', at(variant))).status).toBe(204);
  });

  test('POST updates what it sends and keeps the rest', async () => {
    const before = await written(neutral);
    const template = 'app-{{ .SecretPath }}-{{ .SecretKey }}';
    await checked(sync.ask('update', at(neutral), { secret_name_template: template }));
    expect((await sync.ask('read', at(type))).data).toEqual({ ...before, options: { ...before.options, secret_name_template: template } });
  });

  test('name comes from the path, whatever the body says, and has no blanks or slashes', async () => {
    expect((await checked(sync.ask('update', at(neutral), { ...body, name: 'other' }))).data).toMatchObject({ name: 'prod' });
    expect((await sync.ask('update', `sys/sync/destinations/${neutral}/a b`, body)).status).toBe(404);
    expect((await sync.ask('list', `sys/sync/destinations/${neutral}`)).data).toMatchObject({ keys: ['prod'] });
  });

  test.each([neutral, type])('associations, associations/set and associations/remove answer below %s', async (variant) => {
    await written(neutral);
    await sync.ask('patch', 'sys/sync/config', { disabled: true });
    await sync.put('web', { A: '1' });
    const secret = { mount: 'kv', secret_name: 'web' };
    const set = await checked(sync.ask('update', `${at(variant)}/associations/set`, secret));
    expect(set.data).toMatchObject({ store_name: 'prod', store_type: type });
    const entries = Object.values((set.data as { associated_secrets: object }).associated_secrets);
    expect(entries).toEqual([expect.objectContaining({ secret_name: 'web', sync_status: 'PENDING' })]);
    expect((await checked(sync.ask('read', `${at(variant)}/associations`))).data).toEqual(set.data);
    expect((await sync.ask('delete', at(variant))).errors?.join()).toContain('still manages associations');
    const removed = await checked(sync.ask('update', `${at(variant)}/associations/remove`, { mount: 'kv', name: 'web' }));
    expect(removed.data).toMatchObject({ store_name: 'prod', store_type: type });
  });
});

describe('cloud1-sm', () => {
  test.each(['access_key_id', 'secret_access_key'])('%s is obfuscated', async (field) => {
    expect((await written('cloud1-sm')).connection_details[field]).toBe('*****');
  });

  test('region is shown', async () => {
    expect((await written('cloud1-sm')).connection_details).toMatchObject({ region: 'eu-central-1' });
  });

  test('access_key_id, secret_access_key and region may all be left out, and are not there then', async () => {
    await checked(sync.ask('update', at('cloud1-sm'), {}));
    const { connection_details } = (await checked(sync.ask('read', at('cloud1-sm')))).data as Shown;
    expect(connection_details).toEqual({ recovery_window_in_days: 7 });
  });
});

describe('cloud2-kv', () => {
  test.each(['key_vault_uri', 'client_id', 'tenant_id'])('%s is required, and shown', async (field) => {
    expect(await refused('cloud2-kv', without('cloud2-kv', field))).toBe(`missing required field "${field}"`);
    expect((await written('cloud2-kv')).connection_details[field]).toBe(typeOf('cloud2-kv').body[field]);
  });

  test("client_secret is obfuscated; it may be left out for Azure's own chain", async () => {
    expect((await written('cloud2-kv')).connection_details['client_secret']).toBe('*****');
    await sync.ask('delete', at('cloud2-kv'));
    const { status, data } = await sync.ask('update', at('cloud2-kv'), without('cloud2-kv', 'client_secret'));
    expect(status).toBe(200);
    expect((data as Shown).connection_details).not.toHaveProperty('client_secret');
  });

  test('cloud is "cloud" unless another one is named', async () => {
    expect((await written('cloud2-kv')).connection_details['cloud']).toBe('cloud');
    const china = await written('cloud2-kv', { cloud: 'china', key_vault_uri: 'https://shop.vault.azure.cn' });
    expect(china.connection_details['cloud']).toBe('china');
    expect((await sync.ask('update', at('cloud2-kv'), { cloud: 'moon' })).errors?.join()).toContain('cloud must be one of cloud');
  });
});

describe('cloud3-sm', () => {
  test('credentials are the contents of the file, and are obfuscated', async () => {
    expect((await written('cloud3-sm')).connection_details).toEqual({ credentials: '*****' });
  });

  test('credentials written as @ and a path are read by the command line, and never by the server', async () => {
    expect(await refused('cloud3-sm', { credentials: '@/etc/key.json' })).toContain('"@file" is for command lines');
  });

  test('credentials that are no key are refused, without being shown', async () => {
    const text = await refused('cloud3-sm', { credentials: GOOGLE_KEY.slice(10) });
    expect(text).toBe('credentials must be the JSON text of a service account key');
  });

  test('credentials left out come from the application default credentials', async () => {
    expect(await sync.ask('update', at('cloud3-sm'), { project_id: 'my-project-123' })).toMatchObject({
      status: 200,
      data: { connection_details: { project_id: 'my-project-123' } },
    });
  });
});

describe('codehost', () => {
  test('access_token is required, and obfuscated', async () => {
    expect(await refused('codehost', without('codehost', 'access_token'))).toContain(
      'access_token, or app_name and installation_id, is required',
    );
    expect((await written('codehost')).connection_details['access_token']).toBe('*****');
  });

  test('repository_owner is required, and shown', async () => {
    expect(await refused('codehost', without('codehost', 'repository_owner'))).toContain('repository_owner is required');
    expect((await written('codehost')).connection_details['repository_owner']).toBe('acme');
  });

  test.each(['repisitory_name', 'repository_name'])('%s is required, and shown as repository_name', async (variant) => {
    const rest = without('codehost', 'repisitory_name');
    expect(await refused('codehost', rest)).toContain('repository_name is required');
    await checked(sync.ask('update', at('codehost'), { ...rest, [variant]: 'shop' }));
    const { connection_details } = (await sync.ask('read', at('gh'))).data as Shown;
    expect(connection_details['repository_name']).toBe('shop');
    expect(connection_details).not.toHaveProperty('repisitory_name');
  });
});

describe('webhost-project', () => {
  test.each(['access_token', 'project_id', 'deployment_environments'])('%s is required', async (field) => {
    expect(await refused('webhost-project', without('webhost-project', field))).toContain(`missing required field "${field}"`);
  });

  test('access_token is obfuscated; project_id and team_id are shown', async () => {
    expect((await written('webhost-project')).connection_details).toMatchObject({
      access_token: '*****',
      project_id: 'prj_1',
      team_id: 'team_1',
    });
  });

  test('team_id is empty unless it is sent', async () => {
    await checked(sync.ask('update', at('webhost-project'), without('webhost-project', 'team_id')));
    expect(((await sync.ask('read', at('webhost-project'))).data as Shown).connection_details).not.toHaveProperty('team_id');
  });

  test('deployment_environments takes development, preview and production, as a text or as a list', async () => {
    const all = ['development', 'preview', 'production'];
    expect((await written('webhost-project')).connection_details['deployment_environments']).toEqual(all);
    expect((await written('webhost-project', { deployment_environments: all })).connection_details['deployment_environments']).toEqual(all);
    const { status, errors } = await sync.ask('update', at('webhost-project'), { deployment_environments: 'staging' });
    expect([status, errors?.join()]).toEqual([400, expect.stringContaining('takes development, preview, production')]);
  });
});

describe('fields of later releases are kept and shown', () => {
  const role = 'arn:aws:iam::123456789012:role/sync';
  const google = (location: string): string => `projects/my-project-123/locations/${location}/keyRings/ring/cryptoKeys/key`;
  test.each<[type: string, field: string, value: unknown, more?: Data, shown?: unknown]>([
    ['cloud1-sm', 'role_arn', role],
    ['cloud1-sm', 'external_id', 'ext-1', { role_arn: role }],
    ['cloud1-sm', 'kms_key_id', 'alias/sync'],
    ['cloud1-sm', 'replica_regions', { 'us-east-1': '', 'us-west-2': 'alias/west' }],
    ['cloud3-sm', 'project_id', 'other-project-1'],
    ['cloud3-sm', 'service_account_email', 'sync@other-project-1.iam.gserviceaccount.com'],
    ['cloud3-sm', 'kms_key_id', google('global')],
    ['cloud3-sm', 'replica_regions', { 'europe-west1': google('europe-west1'), 'europe-west4': google('europe-west4') }],
    ['cloud3-sm', 'replication_locations', 'europe-west1,europe-west4', {}, ['europe-west1', 'europe-west4']],
    ['cloud3-sm', 'global_kms_key', google('global')],
    ['cloud3-sm', 'locational_kms_keys', { 'europe-west1': google('europe-west1') }, { replication_locations: 'europe-west1' }],
    ['codehost', 'environment_name', 'production'],
    ['codehost', 'enterprise_url', 'https://github.acme.example'],
    ['codehost', 'secrets_location', 'repository'],
  ])('%s: %s', async (neutral, field, value, more = {}, shown = value) => {
    expect((await written(neutral, { [field]: value, ...more })).connection_details[field]).toEqual(shown);
  });

  test('codehost: organization_name, organization_visibility and selected_repository_names, with secrets_location organization', async () => {
    const organization = {
      access_token: 'github_pat_1',
      secrets_location: 'organization',
      organization_name: 'acme',
      organization_visibility: 'selected',
      selected_repository_names: 'shop,web',
    };
    expect((await checked(sync.ask('update', at('codehost'), organization))).data).toMatchObject({
      connection_details: { ...organization, access_token: '*****', selected_repository_names: ['shop', 'web'] },
    });
  });
});

describe('sys/sync/github-apps/:name', () => {
  const app = 'sys/sync/github-apps/sync-app';

  test('app_id and private_key make an app; LIST, GET and DELETE, which is refused while app_name of a destination names it', async () => {
    expect((await sync.ask('update', app, { app_id: 123_456 })).errors).toEqual(['missing required field "private_key"']);
    const { private_key } = JSON.parse(GOOGLE_KEY) as { private_key: string };
    const made = await checked(sync.ask('update', app, { app_id: 123_456, private_key }));
    expect(made.data).toEqual({ name: 'sync-app', app_id: 123_456, private_key: '*****', fingerprint: expect.stringMatching(/^SHA256:/) });
    expect((await sync.ask('read', app)).data).toEqual(made.data);
    expect((await sync.ask('list', 'sys/sync/github-apps')).data).toEqual({ keys: ['sync-app'] });
    const place = { repository_owner: 'acme', repository_name: 'shop' };
    const unknown = await sync.ask('update', at('gh'), { ...place, app_name: 'nobody', installation_id: 7 });
    expect(unknown.errors?.join()).toContain('app_name: there is no "nobody" in sys/sync/github-apps');
    await checked(sync.ask('update', at('gh'), { ...place, app_name: 'sync-app', installation_id: 7 }));
    expect((await sync.ask('delete', app)).errors).toEqual(['github-apps/sync-app is used by the destination gh/prod']);
    await checked(sync.ask('delete', at('gh')));
    expect((await sync.ask('delete', app)).status).toBe(204);
    expect((await sync.ask('list', 'sys/sync/github-apps')).status).toBe(404);
  });
});
