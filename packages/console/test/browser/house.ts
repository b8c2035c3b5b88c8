import { motoMissing, slapdMissing, startMoto, startPostgres, startSlapd } from '@strongroom/lab';
import type { MotoServer, PostgresServer, Slapd } from '@strongroom/lab';
import { ConsoleServer } from './console-server.ts';

const TREE = 'dc=example,dc=org';
const PASSWORDS = ['correct-horse', 'battery-staple', 'tr0ub4dor'];
const PLAIN_VALUE = 'kept-in-a-secret';

/**
 * A server with something of everything, as a company has it after a year: secrets with versions, a database, a directory, AWS, copies, people, programs,
 * policies; and one rotation that fails. What a machine lacks (slapd, moto) is left out.
 */
export interface House {
  readonly server: ConsoleServer;
  readonly postgres: PostgresServer;
  readonly slapd: Slapd | undefined;
  readonly moto: MotoServer | undefined;
  /** What nobody may read who did not ask for it, by what it is. */
  readonly secrets: ReadonlyMap<string, string>;
  stop(): Promise<void>;
}

export async function buildHouse(): Promise<House> {
  const [server, postgres, slapd, moto] = await Promise.all([
    ConsoleServer.start(),
    startPostgres(),
    slapdMissing === undefined ? startSlapd() : undefined,
    motoMissing === undefined ? startMoto() : undefined,
  ]);
  await addSecrets(server);
  await addDatabase(server, postgres);
  if (slapd) await addDirectory(server, slapd);
  if (moto) await addCloud(server, moto);
  await addAccess(server);
  await addKeys(server);
  return {
    server,
    postgres,
    slapd,
    moto,
    secrets: await secretsOf(server, postgres, slapd),
    stop: async () => void (await Promise.all([server.stop(), postgres.stop(), slapd?.stop(), moto?.stop()])),
  };
}

async function secretsOf(server: ConsoleServer, postgres: PostgresServer, slapd: Slapd | undefined): Promise<Map<string, string>> {
  const secrets = new Map(PASSWORDS.map((password, at) => [`password in version ${at + 1}`, password]));
  secrets.set('key in a secret', 'tls-key-2-of-the-shop').set('value of other secrets', PLAIN_VALUE);
  secrets.set('password of the database', postgres.password).set('password of a person', 'ada-of-the-tests');
  const issued = { 'password of a static role': 'db/static-creds/report', 'password of a directory account': 'ldap/static-cred/billing' };
  for (const [name, path] of Object.entries(issued)) {
    const { data } = await server.ask('GET', path);
    if (typeof data['password'] === 'string') secrets.set(name, data['password']);
  }
  const { data: key } = await server.ask('GET', 'aws/static-creds/deployer');
  if (typeof key['secret_key'] === 'string') secrets.set('secret key of AWS', key['secret_key']);
  if (slapd) secrets.set('password of the directory', slapd.adminPassword);
  return secrets;
}

async function addSecrets(server: ConsoleServer): Promise<void> {
  for (const [at, password] of PASSWORDS.entries()) {
    const data = { username: 'shop', password, port: 5432, tls: { key: `tls-key-${at}-of-the-shop` } };
    await server.set('POST', 'secret/data/shop/database', { data });
  }
  await server.set('POST', 'secret/metadata/shop/database', { custom_metadata: { owner: 'payments' } });
  for (const name of ['shop/api', 'shop/mail', 'team/wiki', 'deploy-key'])
    await server.set('POST', `secret/data/${name}`, { data: { value: PLAIN_VALUE } });
  await server.set('POST', 'sys/mounts/old', { type: 'kv', options: { version: '1' }, description: 'secrets without versions' });
  await server.set('POST', 'old/legacy', { value: PLAIN_VALUE });
}

const CREATION = `CREATE ROLE "{{name}}" LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}'`;

async function addDatabase(server: ConsoleServer, postgres: PostgresServer): Promise<void> {
  for (const name of ['report', 'gone']) await postgres.query(`CREATE ROLE ${name} LOGIN PASSWORD 'before'`);
  await server.set('POST', 'sys/mounts/db', { type: 'database', description: 'users of the shop database' });
  await server.set('POST', 'db/config/prod', {
    plugin_name: 'postgresql-database-plugin',
    connection_url: postgres.url,
    allowed_roles: '*',
  });
  await server.set('POST', 'db/roles/reader', { db_name: 'prod', creation_statements: CREATION, default_ttl: '1h', max_ttl: '24h' });
  for (const name of ['report', 'gone']) {
    await server.set('POST', `db/static-roles/${name}`, { db_name: 'prod', username: name, rotation_period: '24h' });
  }
  for (let count = 0; count < 3; count += 1) await server.set('GET', 'db/creds/reader');
  await postgres.query('DROP ROLE gone');
  await server.ask('POST', 'db/rotate-role/gone');
}

async function addDirectory(server: ConsoleServer, slapd: Slapd): Promise<void> {
  const manager = { url: slapd.url, binddn: slapd.adminDn, bindpass: slapd.adminPassword };
  await server.set('POST', 'sys/mounts/ldap', { type: 'ldap', description: 'service accounts' });
  await server.set('POST', 'ldap/config', { ...manager, userdn: `ou=svc,${TREE}`, userattr: 'uid' });
  await server.set('POST', 'ldap/static-role/billing', { username: 'svc1', rotation_period: '24h' });
  const entry = `dn: uid={{.Username}},ou=svc,${TREE}\n`;
  await server.set('POST', 'ldap/role/report', {
    creation_ldif: `${entry}objectClass: inetOrgPerson\nuid: {{.Username}}\ncn: {{.Username}}\nsn: x\nuserPassword: {{.Password}}\n`,
    deletion_ldif: `${entry}changetype: delete\n`,
  });
  await server.set('POST', 'ldap/library/batch', { service_account_names: ['svc2', 'svc3'], ttl: '1h', max_ttl: '8h' });
  await server.set('POST', 'ldap/library/batch/check-out', {});
  await server.set('POST', 'sys/auth/ldap', { type: 'ldap' });
  await server.set('POST', 'sys/auth/ldap/tune', { listing_visibility: 'unauth' });
  const people = { userdn: `ou=people,${TREE}`, userattr: 'uid', groupdn: `ou=groups,${TREE}`, groupfilter: '(member={{.UserDN}})' };
  await server.set('POST', 'auth/ldap/config', { ...manager, ...people });
  await server.set('POST', 'auth/ldap/groups/eng', { policies: 'default' });
  await server.set('POST', 'auth/ldap/users/user7', { policies: 'default' });
}

async function addCloud(server: ConsoleServer, moto: MotoServer): Promise<void> {
  await iam(moto, 'CreateUser', { UserName: 'svc' });
  await iam(moto, 'CreateUser', { UserName: 'deployer' });
  const made = await iam(moto, 'CreateAccessKey', { UserName: 'svc' });
  const key = {
    access_key: /<AccessKeyId>([^<]+)/.exec(made)![1]!,
    secret_key: /<SecretAccessKey>([^<]+)/.exec(made)![1]!,
  };
  await server.set('POST', 'sys/mounts/aws', { type: 'aws' });
  await server.set('POST', 'aws/config/root', { ...key, region: 'us-east-1', iam_endpoint: moto.endpoint, sts_endpoint: moto.endpoint });
  const document = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: 's3:GetObject', Resource: '*' }] };
  await server.set('POST', 'aws/roles/reader', { credential_type: 'iam_user', policy_document: JSON.stringify(document) });
  await server.set('POST', 'aws/static-roles/deployer', { username: 'deployer', rotation_period: '24h' });
  const destination = { access_key_id: key.access_key, secret_access_key: key.secret_key, region: 'us-east-1', endpoint: moto.endpoint };
  await server.set('POST', 'sys/sync/destinations/aws-sm/prod', {
    ...destination,
    sts_endpoint: moto.endpoint,
    allowed_ipv4_addresses: '127.0.0.1/32',
    allowed_ports: [Number(new URL(moto.endpoint).port)],
  });
  await server.set('POST', 'sys/sync/destinations/aws-sm/prod/associations/set', { mount: 'secret', secret_name: 'shop/database' });
}

/** A call of IAM as moto takes it: it reads the service from the credential's scope and checks no signature. */
async function iam(moto: MotoServer, action: string, parameters: Readonly<Record<string, string>>): Promise<string> {
  const response = await fetch(moto.endpoint, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      Authorization: 'AWS4-HMAC-SHA256 Credential=AKIAOPERATOR/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=none',
    },
    body: new URLSearchParams({ Action: action, Version: '2010-05-08', ...parameters }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${action}: ${response.status} ${text}`);
  return text;
}

async function addAccess(server: ConsoleServer): Promise<void> {
  await server.set('POST', 'sys/policies/acl/shop', { policy: 'path "secret/data/shop/*" {\n  capabilities = ["read", "update"]\n}\n' });
  await server.set('POST', 'sys/policies/password/long', {
    policy: 'length = 24\nrule "charset" {\n  charset = "abcdefghijklmnopqrstuvwxyz0123456789"\n}\n',
  });
  await server.set('POST', 'sys/auth/userpass', { type: 'userpass' });
  await server.set('POST', 'sys/auth/userpass/tune', { listing_visibility: 'unauth' });
  await server.set('POST', 'auth/userpass/users/ada', { password: 'ada-of-the-tests', token_policies: ['shop'] });
  await server.set('POST', 'sys/auth/approle', { type: 'approle' });
  await server.set('POST', 'auth/approle/role/ci', { token_policies: ['shop'], token_ttl: '20m' });
  await server.set('POST', 'identity/entity/name/ada', { policies: ['shop'], metadata: { team: 'payments' } });
  const { data: entity } = await server.set('GET', 'identity/entity/name/ada');
  await server.set('POST', 'identity/group/name/payments', { policies: ['shop'], member_entity_ids: [entity.id] });
  await server.set('POST', 'auth/token/roles/deploy', { allowed_policies: ['shop'] });
}

/** Engines without pages of their own. */
async function addKeys(server: ConsoleServer): Promise<void> {
  for (const type of ['totp', 'transit']) await server.set('POST', `sys/mounts/${type}`, { type });
  await server.set('POST', 'totp/keys/ada', { generate: true, issuer: 'Acme', account_name: 'ada' });
  await server.set('POST', 'transit/keys/app', {});
}
