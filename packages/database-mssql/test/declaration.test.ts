import { expect, test } from '@jest/globals';
import { secretFields } from '@strongroom/database-sdk';
import { compileTemplate } from '@strongroom/go-template';
import { MssqlConnection, mssqlPlugin } from '../src/index.ts';
import { CONTAINED_USERS, LOGINS } from '../src/users.ts';

const parameters: Record<string, unknown> = {
  connection_url: undefined,
  username: undefined,
  password: undefined,
  disable_escaping: false,
  max_open_connections: 4,
  max_idle_connections: undefined,
  max_connection_lifetime: '0s',
  username_template: undefined,
  contained_db: false,
  tls_ca: undefined,
};

test.each(Object.entries(parameters))('parameter %s: %p by default', (name, byDefault) => {
  const field = MssqlConnection.properties[name as keyof typeof MssqlConnection.properties] as { default?: unknown; description?: string };
  expect(field.default).toEqual(byDefault);
  expect(field.description).toMatch(/\.$/);
});

test('there are no other parameters, and the secret ones are password', () => {
  expect(Object.keys(MssqlConnection.properties).sort()).toEqual(Object.keys(parameters).sort());
  expect(secretFields(MssqlConnection)).toEqual(['password']);
});

test.each([
  ['rotation_statements, root_rotation_statements', LOGINS.passwordChange, [`ALTER LOGIN [{{username}}] WITH PASSWORD = '{{password}}'`]],
  ['rotation_statements with contained_db', CONTAINED_USERS.passwordChange, [`ALTER USER [{{username}}] WITH PASSWORD = '{{password}}'`]],
])('%s: without any, %j', (_, used, expected) => {
  expect(used).toEqual(expected);
});

test.each([
  {
    plugin: mssqlPlugin,
    name: 'mssql-database-plugin',
    usual: /^v-token-r-[A-Za-z0-9]{20}-1795250515$/,
    longest: /^v-d{20}-r{20}-[A-Za-z0-9]{20}-1795250515$/,
    limit: 128,
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
