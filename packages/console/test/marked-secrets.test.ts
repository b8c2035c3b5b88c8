import { describe, expect, test } from '@jest/globals';
import { isSecret } from '../web/api/marked-secrets.ts';
import type { ApiDocument, Schema } from '../web/api/openapi.ts';

const secret: Schema = { type: 'string', 'x-vault-displayAttrs': { sensitive: true } };
const text: Schema = { type: 'string' };
const document: ApiDocument = {
  info: { version: '1' },
  paths: {},
  components: {
    responses: {},
    schemas: {
      Account: { type: 'object', properties: { name: text, password: secret } },
      Tree: { type: 'object', properties: { name: text, children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } } },
    },
  },
};
const account: Schema = { $ref: '#/components/schemas/Account' };
const marks = (schema: Schema, name: string): boolean => isSecret(document, schema, name);

describe('a field of an answer is hidden', () => {
  test('when it is marked, and no field beside it', () => {
    expect(['password', 'name'].map((name) => marks(account, name))).toEqual([true, false]);
  });

  test('when something in it is marked, however deep', () => {
    const holders: Record<string, Schema> = {
      object: { type: 'object', properties: { inner: { type: 'object', properties: { key: secret } } } },
      list: { type: 'array', items: secret },
      accounts: { type: 'array', items: account },
      byName: { type: 'object', additionalProperties: { type: 'object', additionalProperties: account } },
      either: { anyOf: [text, account] },
      both: { allOf: [{ type: 'object', properties: { name: text } }, account] },
    };
    for (const name of Object.keys(holders)) {
      expect({ name, hidden: marks({ type: 'object', properties: holders }, name) }).toEqual({ name, hidden: true });
    }
  });

  test('when the answer is a secret as a whole, whatever its fields are called', () => {
    const stored: Schema = { type: 'object', additionalProperties: {}, 'x-vault-displayAttrs': { sensitive: true } };
    for (const name of ['user', 'constructor', '__proto__']) expect(marks(stored, name)).toBe(true);
  });

  test('when every field without a name of its own is one, even one that objects inherit', () => {
    const stored: Schema = { type: 'object', properties: { version: text }, additionalProperties: secret };
    expect(['version', 'user', 'constructor'].map((name) => marks(stored, name))).toEqual([false, true, true]);
  });

  test('when one of the alternatives of the answer marks it', () => {
    const either: Schema = { anyOf: [{ type: 'object', properties: { name: text } }, account] };
    expect(['password', 'name'].map((name) => marks(either, name))).toEqual([true, false]);
  });

  test('and a schema that contains itself is no trap', () => {
    expect(marks({ type: 'object', properties: { tree: { $ref: '#/components/schemas/Tree' } } }, 'tree')).toBe(false);
  });
});
