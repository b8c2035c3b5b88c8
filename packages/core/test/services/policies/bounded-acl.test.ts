import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BoundedAcl } from '../../../src/services/policies/bounded-acl.ts';
import { aclOf } from './fixture.ts';

const operations = ['create', 'read', 'update', 'patch', 'delete', 'list'] as const;
const segment = fc.constantFrom('a', 'b', 'c');
const asked = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join('/'));
const written = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '+'), { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([segments, glob]) => segments.join('/') + (glob ? '/*' : ''));
const policy = fc
  .array(
    fc.record({
      path: written,
      capabilities: fc.uniqueArray(fc.constantFrom(...operations, 'sudo', 'deny'), { minLength: 1, maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((rules) => rules.map(({ path, capabilities }) => `path "${path}" { capabilities = ${JSON.stringify(capabilities)} }`).join('\n'));

describe('a token that is bounded by its maker', () => {
  test('may do nothing that its maker may not, whatever the policies say, and nothing that its own do not', () => {
    fc.assert(
      fc.property(
        fc.array(policy, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(3), { maxLength: 3 }),
        fc.array(fc.nat(3), { maxLength: 3 }),
        asked,
        fc.constantFrom(...operations),
        (all, some, fewer, path, operation) => {
          const pick = (from: readonly string[], at: readonly number[]): string[] => from.filter((_, i) => at.includes(i));
          const child = pick(all, some);
          const grandchild = pick(child, fewer);
          const maker = aclOf(...all);
          const first = new BoundedAcl(aclOf(...child), [maker]);
          const second = new BoundedAcl(aclOf(...grandchild), [maker, aclOf(...child)]);
          const query = { operation, path: operation === 'list' ? `${path}/` : path };
          expect(first.check(query).allowed).toBe(maker.check(query).allowed && aclOf(...child).check(query).allowed);
          expect(second.check(query).allowed).toBe(first.check(query).allowed && aclOf(...grandchild).check(query).allowed);
          if (second.check(query).sudo) expect(maker.check(query).sudo).toBe(true);
          expect(second.capabilities(path).includes(operation)).toBe(second.check(query).allowed);
          expect(second.explain(operation, query.path).allowed).toBe(second.check(query).allowed);
        },
      ),
      { numRuns: 5_000 },
    );
  });
});
