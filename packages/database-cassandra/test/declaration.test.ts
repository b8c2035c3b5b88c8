import { expect, test } from '@jest/globals';
import { secretFields } from '@strongroom/database-sdk';
import { compileTemplate } from '@strongroom/go-template';
import { PASSWORD_CHANGE_DEFAULT, REVOCATION_DEFAULT } from '../src/default-statements.ts';
import { CassandraConnection, cassandraPlugin } from '../src/index.ts';

const parameters: Record<string, unknown> = {
  hosts: undefined,
  port: 9042,
  username: undefined,
  password: undefined,
  tls: false,
  insecure_tls: false,
  tls_server_name: undefined,
  tls_min_version: 'tls12',
  pem_bundle: undefined,
  pem_json: undefined,
  skip_verification: false,
  protocol_version: undefined,
  connect_timeout: '5s',
  socket_keep_alive: '0s',
  local_datacenter: undefined,
  consistency: undefined,
  username_template: undefined,
};

test.each(Object.entries(parameters))('parameter %s: %p by default', (name, byDefault) => {
  const field = CassandraConnection.properties[name as keyof typeof CassandraConnection.properties] as {
    default?: unknown;
    description?: string;
  };
  expect(field.default).toEqual(byDefault);
  expect(field.description).toMatch(/\.$/);
});

test('there are no other parameters, and the secret ones are password, pem_bundle, pem_json', () => {
  expect(Object.keys(CassandraConnection.properties).sort()).toEqual(Object.keys(parameters).sort());
  expect(secretFields(CassandraConnection)).toEqual(['password', 'pem_bundle', 'pem_json']);
});

test.each([
  ['rotation_statements, root_rotation_statements', PASSWORD_CHANGE_DEFAULT, [`ALTER USER '{{username}}' WITH PASSWORD '{{password}}';`]],
  ['revocation_statements', REVOCATION_DEFAULT, [`DROP USER IF EXISTS '{{username}}';`]],
])('%s: without any, %j', (_, used, expected) => {
  expect(used).toEqual(expected);
});

test('creation_statements: without any, a user who may do nothing', () => {
  const credential = { type: 'password', password: 'p' } as const;
  expect(cassandraPlugin.preview!({ username: 'u', credential, statements: { commands: [] }, expiresAt: new Date() })).toEqual([
    `CREATE USER 'u' WITH PASSWORD 'p' NOSUPERUSER`,
  ]);
});

test.each([
  {
    plugin: cassandraPlugin,
    name: 'cassandra-database-plugin',
    usual: /^v_token_r_[a-z0-9]{20}_1795250515$/,
    longest: /^v_d{15}_r{15}_[a-z0-9]{20}_1795250515$/,
    limit: undefined,
  },
])('$name: username_template gives $usual by default, of long parts $longest', ({ plugin, name, usual, longest, limit }) => {
  expect(plugin).toMatchObject({ kind: 'database', name, apiVersion: 1 });
  const template = compileTemplate(plugin.usernameTemplate, { fields: ['DisplayName', 'RoleName'] });
  const render = (DisplayName: string, RoleName: string) =>
    template.render({ DisplayName, RoleName }, { now: () => new Date(1_795_250_515_000), randomBytes: (count) => Buffer.alloc(count, 1) });
  expect(render('token', 'r')).toMatch(usual);
  expect(render('d'.repeat(40), 'r'.repeat(40))).toMatch(longest);
  expect(plugin.usernameMaxLength).toBe(limit);
});
