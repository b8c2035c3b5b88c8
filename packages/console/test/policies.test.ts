import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { declaredPaths } from '../web/api/policy-patterns.ts';
import { operationsOf, writtenPath } from '../web/api/explanation.ts';
import { lineDiff } from '../web/api/line-diff.ts';
import { mergePlan } from '../web/pages/access/merge-plan.ts';
import type { Alias, Entity } from '../web/pages/access/identity.ts';
import { policyWrite } from '../web/pages/access/saved-policy.ts';

describe('the difference of two texts', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((lines) => lines.join('\n'));

  test('gives both texts back, whatever they are', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = lineDiff(before, after);
        const of = (kind: 'added' | 'removed'): string =>
          lines
            .filter((line) => line.kind !== kind)
            .map((line) => line.text)
            .join('\n');
        expect([of('added'), of('removed')]).toEqual([before, after]);
      }),
      { numRuns: 2_000 },
    );
  });

  test('shows one changed line as removed and added, with its numbers', () => {
    expect(lineDiff('a\nb\nc', 'a\nx\nc')).toEqual([
      { kind: 'same', text: 'a', old: 1, new: 1 },
      { kind: 'removed', text: 'b', old: 2 },
      { kind: 'added', text: 'x', new: 2 },
      { kind: 'same', text: 'c', old: 3, new: 3 },
    ]);
  });
});

describe('questions about a refused call', () => {
  test('a write may have lacked update or create', () => {
    expect(operationsOf('POST')).toEqual(['update', 'create']);
    expect(operationsOf('LIST')).toEqual(['list']);
    expect(operationsOf('GET')).toEqual(['read']);
  });

  test('the path is asked about as people write it', () => {
    expect(writtenPath('secret/data/a%20b/c%2523')).toBe('secret/data/a b/c%23');
    expect(writtenPath('secret/%')).toBe('secret/%');
  });
});

test('paths of the API are offered as policies write them', () => {
  const read = { summary: 'Reads.' };
  expect(declaredPaths({ paths: { '/db/roles/{name}': { get: read }, '/db/roles/{name}/x': { get: read }, '/db/roles': {} } })).toEqual([
    { pattern: 'db/roles', about: '' },
    { pattern: 'db/roles/*', about: 'Reads.' },
    { pattern: 'db/roles/+/x', about: 'Reads.' },
  ]);
});

test('a merge says what moves, what clashes and what is lost', () => {
  const alias = (id: string, accessor: string): Alias => ({ id, name: id, mount_accessor: accessor, metadata: null });
  const entity = (more: Partial<Entity>): Entity => ({
    ...{ id: 'e', name: 'e', disabled: false, policies: [], metadata: null, aliases: [], direct_group_ids: [], inherited_group_ids: [] },
    ...{ group_ids: [], merged_entity_ids: null, creation_time: '', last_update_time: '' },
    ...more,
  });
  const from = entity({
    aliases: [alias('a1', 'ldap'), alias('a2', 'oidc')],
    policies: ['dev', 'ops'],
    direct_group_ids: ['g1', 'g2'],
    metadata: { t: '1' },
  });
  const to = entity({ aliases: [alias('b1', 'ldap')], policies: ['ops'], direct_group_ids: ['g2'] });
  const plan = mergePlan(from, to);
  expect(plan.moves.map(({ id }) => id)).toEqual(['a2']);
  expect(plan.clashes.map(({ ours, theirs }) => [ours.id, theirs.id])).toEqual([['b1', 'a1']]);
  expect([plan.joins, plan.lost, plan.lostMetadata]).toEqual([['g1'], ['dev'], ['t']]);
});

describe('a save of a policy', () => {
  const settings = {
    cas_required: true,
    allow_wildcards_in_identity_templates: true,
    allow_slashes_in_identity_templates: false,
    expiration: '2030-01-01T00:00:00.000Z',
  };
  const read = { name: 'dev', policy: 'old', version: 7, modified: '2029-01-01T00:00:00.000Z', ...settings };

  test('names the version that was read, and keeps every setting', () => {
    expect(policyWrite('new', read)).toEqual({ policy: 'new', cas: 7, ...settings });
  });

  test('gives no end to a policy without one', () => {
    const { expiration: _, ...endless } = read;
    expect(policyWrite('new', endless)).not.toHaveProperty('expiration');
  });

  test('creates a policy only where there is none', () => {
    expect(policyWrite('new', undefined)).toEqual({ policy: 'new', cas: -1 });
  });
});
