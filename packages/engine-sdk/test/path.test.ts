import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { f, path } from '../src/index.ts';

const Role = Type.Object({ db_name: Type.String(), default_ttl: Type.Number() });

describe('a path declaration', () => {
  test('gives handlers the decoded types of its fields', () => {
    const roles = path('roles/{name}', {
      synopsis: 'Roles.',
      description: 'Roles.',
      fields: {
        name: f.name('Role name.'),
        db_name: f.string('Connection.', { required: true }),
        default_ttl: f.duration('Lease length.', { default: 0 }),
        max_ttl: f.duration('Longest lease.'),
        policies: f.commaStrings('Policies.'),
      },
    })
      .read({
        summary: 'Read a role',
        response: Role,
        handle: async (req) => {
          const name: string = req.data.name;
          const db: string = req.data.db_name;
          const ttl: number = req.data.default_ttl;
          const max: number | undefined = req.data.max_ttl;
          const list: string[] | undefined = req.data.policies;
          // @ts-expect-error a field without default may be undefined
          const wrong: number = req.data.max_ttl;
          void [name, max, list, wrong, req.supplied.has('max_ttl')];
          return { data: { db_name: db, default_ttl: ttl } };
        },
      })
      .upsert({ summary: 'Write a role', exists: async (req) => req.data.name === 'there', handle: async () => undefined });
    expect(Object.keys(roles.operations).sort()).toEqual(['exists', 'read', 'update']);
  });

  test('does not compile when a capture has no field', () => {
    // @ts-expect-error the capture `name` has no field
    const wrong = path('roles/{name:at}/x', { synopsis: '', description: '', fields: { other: f.string('x') } });
    expect(wrong.pattern).toBe('roles/{name:at}/x');
  });

  test('refuses to declare one operation twice', () => {
    const twice = path('x', { synopsis: '', description: '', fields: {} }).read({ summary: '', handle: async () => undefined });
    expect(() => twice.read({ summary: '', handle: async () => undefined })).toThrow('path x declares read twice');
  });
});
