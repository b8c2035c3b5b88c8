import { expect, test } from '@jest/globals';
import { secretFields } from '@strongroom/database-sdk';
import { compileTemplate } from '@strongroom/go-template';
import { MongodbConnection, mongodbPlugin } from '../src/index.ts';

const parameters: Record<string, unknown> = {
  connection_url: undefined,
  username: undefined,
  password: undefined,
  disable_escaping: false,
  write_concern: undefined,
  tls_ca: undefined,
  tls_certificate_key: undefined,
  username_template: undefined,
};

test.each(Object.entries(parameters))('parameter %s: %p by default', (name, byDefault) => {
  const field = MongodbConnection.properties[name as keyof typeof MongodbConnection.properties] as {
    default?: unknown;
    description?: string;
  };
  expect(field.default).toEqual(byDefault);
  expect(field.description).toMatch(/\.$/);
});

test('there are no other parameters, and the secret ones are password, tls_certificate_key', () => {
  expect(Object.keys(MongodbConnection.properties).sort()).toEqual(Object.keys(parameters).sort());
  expect(secretFields(MongodbConnection)).toEqual(['password', 'tls_certificate_key']);
});

test.each([
  {
    plugin: mongodbPlugin,
    name: 'mongodb-database-plugin',
    usual: /^v-token-r-[A-Za-z0-9]{20}-1795250515$/,
    longest: /^v-d{15}-r{15}-[A-Za-z0-9]{20}-1795250515$/,
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
