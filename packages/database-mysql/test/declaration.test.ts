import { expect, test } from '@jest/globals';
import { secretFields } from '@strongroom/database-sdk';
import { compileTemplate } from '@strongroom/go-template';
import { MysqlConnection, mysqlAuroraPlugin, mysqlLegacyPlugin, mysqlPlugin, mysqlRdsPlugin } from '../src/index.ts';
import { PASSWORD_CHANGE_DEFAULT } from '../src/plugins.ts';
import { DROP_DEFAULT, REVOKE_DEFAULT } from '../src/users.ts';

const parameters: Record<string, unknown> = {
  connection_url: undefined,
  username: undefined,
  password: undefined,
  disable_escaping: false,
  max_open_connections: 4,
  max_idle_connections: undefined,
  max_connection_lifetime: '0s',
  username_template: undefined,
  tls_ca: undefined,
  tls_certificate_key: undefined,
  tls_server_name: undefined,
  tls_skip_verify: false,
};

test.each(Object.entries(parameters))('parameter %s: %p by default', (name, byDefault) => {
  const field = MysqlConnection.properties[name as keyof typeof MysqlConnection.properties] as { default?: unknown; description?: string };
  expect(field.default).toEqual(byDefault);
  expect(field.description).toMatch(/\.$/);
});

test('there are no other parameters, and the secret ones are password, tls_certificate_key', () => {
  expect(Object.keys(MysqlConnection.properties).sort()).toEqual(Object.keys(parameters).sort());
  expect(secretFields(MysqlConnection)).toEqual(['password', 'tls_certificate_key']);
});

test.each([
  [
    'rotation_statements, root_rotation_statements',
    PASSWORD_CHANGE_DEFAULT,
    [`ALTER USER '{{username}}'@'%' IDENTIFIED BY '{{password}}';`],
  ],
  [
    'revocation_statements',
    [REVOKE_DEFAULT, DROP_DEFAULT],
    [`REVOKE ALL PRIVILEGES, GRANT OPTION FROM '{{name}}'@'%';`, `DROP USER '{{name}}'@'%';`],
  ],
])('%s: without any, %j', (_, used, expected) => {
  expect(used).toEqual(expected);
});

test.each([
  {
    plugin: mysqlPlugin,
    name: 'mysql-database-plugin',
    usual: /^v-token-r-[A-Za-z0-9]{20}-1$/,
    longest: /^v-d{10}-r{10}-[A-Za-z0-9]{8}$/,
    limit: 32,
  },
  {
    plugin: mysqlAuroraPlugin,
    name: 'mysql-aurora-database-plugin',
    usual: /^v-r-[A-Za-z0-9]{12}$/,
    longest: /^v-r{4}-[A-Za-z0-9]{9}$/,
    limit: 32,
  },
  {
    plugin: mysqlRdsPlugin,
    name: 'mysql-rds-database-plugin',
    usual: /^v-r-[A-Za-z0-9]{12}$/,
    longest: /^v-r{4}-[A-Za-z0-9]{9}$/,
    limit: 32,
  },
  {
    plugin: mysqlLegacyPlugin,
    name: 'mysql-legacy-database-plugin',
    usual: /^v-r-[A-Za-z0-9]{12}$/,
    longest: /^v-r{4}-[A-Za-z0-9]{9}$/,
    limit: 16,
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
