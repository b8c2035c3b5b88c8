import { expect, test } from '@jest/globals';
import { secretFields } from '@strongroom/database-sdk';
import { compileTemplate } from '@strongroom/go-template';
import { PostgresqlConnection, postgresqlPlugin } from '../src/index.ts';
import { PASSWORD_CHANGE_DEFAULT, RENEW_DEFAULT } from '../src/plugin.ts';

const parameters: Record<string, unknown> = {
  connection_url: undefined,
  username: undefined,
  password: undefined,
  disable_escaping: false,
  max_open_connections: 4,
  max_idle_connections: undefined,
  max_connection_lifetime: '0s',
  username_template: undefined,
  password_authentication: 'password',
  tls_ca: undefined,
  tls_certificate: undefined,
  private_key: undefined,
};

test.each(Object.entries(parameters))('parameter %s: %p by default', (name, byDefault) => {
  const field = PostgresqlConnection.properties[name as keyof typeof PostgresqlConnection.properties] as {
    default?: unknown;
    description?: string;
  };
  expect(field.default).toEqual(byDefault);
  expect(field.description).toMatch(/\.$/);
});

test('there are no other parameters, and the secret ones are password, private_key', () => {
  expect(Object.keys(PostgresqlConnection.properties).sort()).toEqual(Object.keys(parameters).sort());
  expect(secretFields(PostgresqlConnection)).toEqual(['password', 'private_key']);
});

test.each([
  ['renew_statements', RENEW_DEFAULT, [`ALTER ROLE "{{name}}" VALID UNTIL '{{expiration}}';`]],
  ['rotation_statements, root_rotation_statements', PASSWORD_CHANGE_DEFAULT, [`ALTER ROLE "{{username}}" WITH PASSWORD '{{password}}';`]],
])('%s: without any, %j', (_, used, expected) => {
  expect(used).toEqual(expected);
});

test.each([
  {
    plugin: postgresqlPlugin,
    name: 'postgresql-database-plugin',
    usual: /^v-token-r-[A-Za-z0-9]{20}-1795250515$/,
    longest: /^v-d{8}-r{8}-[A-Za-z0-9]{20}-1795250515$/,
    limit: 63,
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
