import { expect, test } from '@jest/globals';
import { secretFields } from '@strongroom/database-sdk';
import { compileTemplate } from '@strongroom/go-template';
import { DEFAULT_RULES } from '../src/rules.ts';
import { RedisConnection, redisPlugin, valkeyPlugin } from '../src/index.ts';

const parameters: Record<string, unknown> = {
  host: undefined,
  port: 6379,
  connection_url: undefined,
  username: undefined,
  password: undefined,
  disable_escaping: false,
  tls: false,
  insecure_tls: false,
  ca_cert: undefined,
  tls_certificate: undefined,
  private_key: undefined,
  persistence_mode: undefined,
  username_template: undefined,
};

test.each(Object.entries(parameters))('parameter %s: %p by default', (name, byDefault) => {
  const field = RedisConnection.properties[name as keyof typeof RedisConnection.properties] as { default?: unknown; description?: string };
  expect(field.default).toEqual(byDefault);
  expect(field.description).toMatch(/\.$/);
});

test('there are no other parameters, and the secret ones are password, private_key', () => {
  expect(Object.keys(RedisConnection.properties).sort()).toEqual(Object.keys(parameters).sort());
  expect(secretFields(RedisConnection)).toEqual(['password', 'private_key']);
});

test.each([['creation_statements', DEFAULT_RULES, ['["~*","+@read"]']]])('%s: without any, %j', (_, used, expected) => {
  expect(used).toEqual(expected);
});

test.each([
  {
    plugin: redisPlugin,
    name: 'redis-database-plugin',
    usual: /^V_TOKEN_R_[A-Z0-9]{20}_1795250515$/,
    longest: /^V_D{15}_R{15}_[A-Z0-9]{20}_1795250515$/,
    limit: undefined,
  },
  {
    plugin: valkeyPlugin,
    name: 'valkey-database-plugin',
    usual: /^V_TOKEN_R_[A-Z0-9]{20}_1795250515$/,
    longest: /^V_D{15}_R{15}_[A-Z0-9]{20}_1795250515$/,
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
