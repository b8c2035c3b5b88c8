import { expect, test } from '@jest/globals';
import { secretFields } from '@strongroom/database-sdk';
import { compileTemplate } from '@strongroom/go-template';
import { PASSWORD_CHANGE_DEFAULT, REVOCATION_DEFAULT } from '../src/default-statements.ts';
import { InfluxdbConnection, influxdbPlugin } from '../src/index.ts';

const parameters: Record<string, unknown> = {
  host: undefined,
  port: 8086,
  username: undefined,
  password: undefined,
  tls: false,
  insecure_tls: false,
  tls_min_version: 'tls12',
  pem_bundle: undefined,
  pem_json: undefined,
  connect_timeout: '5s',
  username_template: undefined,
};

test.each(Object.entries(parameters))('parameter %s: %p by default', (name, byDefault) => {
  const field = InfluxdbConnection.properties[name as keyof typeof InfluxdbConnection.properties] as {
    default?: unknown;
    description?: string;
  };
  expect(field.default).toEqual(byDefault);
  expect(field.description).toMatch(/\.$/);
});

test('there are no other parameters, and the secret ones are password, pem_bundle, pem_json', () => {
  expect(Object.keys(InfluxdbConnection.properties).sort()).toEqual(Object.keys(parameters).sort());
  expect(secretFields(InfluxdbConnection)).toEqual(['password', 'pem_bundle', 'pem_json']);
});

test.each([
  ['rotation_statements, root_rotation_statements', PASSWORD_CHANGE_DEFAULT, [`SET PASSWORD FOR "{{username}}" = '{{password}}';`]],
  ['revocation_statements', REVOCATION_DEFAULT, ['DROP USER "{{username}}";']],
])('%s: without any, %j', (_, used, expected) => {
  expect(used).toEqual(expected);
});

test('creation_statements: without any, a user who may do nothing', () => {
  const credential = { type: 'password', password: 'p' } as const;
  expect(influxdbPlugin.preview!({ username: 'u', credential, statements: { commands: [] }, expiresAt: new Date() })).toEqual([
    `CREATE USER "u" WITH PASSWORD 'p'`,
  ]);
});

test.each([
  {
    plugin: influxdbPlugin,
    name: 'influxdb-database-plugin',
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
