import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { capabilityNames, neededCapability } from '../../../src/services/policies/capability.ts';
import { aclOf } from './fixture.ts';

interface Rule {
  readonly path: string;
  readonly capabilities: readonly string[];
}

/** The selection rules word by word, over all rules. */
function decides(rules: readonly Rule[], path: string, listing: boolean): string | undefined {
  const paths = [...new Set(rules.map((rule) => rule.path))];
  const variants = listing && path.endsWith('/') ? [path, path.slice(0, -1)] : [path];
  const exact = variants.filter((variant) => paths.includes(variant));
  const denied = exact.find((variant) => rules.some((rule) => rule.path === variant && rule.capabilities.includes('deny')));
  if (exact.length > 0) return denied ?? exact[0];
  const wild = paths.filter((one) => isWild(one) && variants.some((variant) => matches(one, variant)));
  return wild.sort(weakerFirst).at(-1);
}

const isWild = (path: string) => path.endsWith('*') || path.split('/').includes('+');

function matches(path: string, asked: string): boolean {
  const stem = path.endsWith('*') ? path.slice(0, -1) : path;
  const source = stem.split('/').map((segment) => (segment === '+' ? '[^/]*' : segment.replace(/[*+]/g, '\\$&')));
  return new RegExp(`^${source.join('/')}${path.endsWith('*') ? '' : '$'}`).test(asked);
}

function weakerFirst(a: string, b: string): number {
  const first = (path: string) => {
    const plus = path.split('/').indexOf('+');
    const before = path.split('/').slice(0, plus).join('/');
    return plus < 0 ? path.length - 1 : plus === 0 ? 0 : before.length + 1;
  };
  const pluses = (path: string) => path.split('/').filter((segment) => segment === '+').length;
  const stem = (path: string) => path.replace(/\*$/, '');
  if (first(a) !== first(b)) return first(a) - first(b);
  if (a.endsWith('*') !== b.endsWith('*')) return a.endsWith('*') ? -1 : 1;
  if (pluses(a) !== pluses(b)) return pluses(b) - pluses(a);
  if (stem(a).length !== stem(b).length) return stem(a).length - stem(b).length;
  return stem(a) < stem(b) ? -1 : 1;
}

function capabilitiesOf(rules: readonly Rule[], path: string): string[] {
  const granted = (decider: string | undefined): string[] => {
    const all = rules.filter((rule) => rule.path === decider).flatMap((rule) => rule.capabilities);
    return all.includes('deny') ? [] : all;
  };
  const decider = decides(rules, path, false);
  const ofList = granted(decides(rules, `${path}/`, true)).filter((one) => one === 'list' || (one === 'sudo' && decider === undefined));
  const all = [...granted(decider).filter((one) => one !== 'list'), ...ofList];
  return all.length === 0 ? ['deny'] : [...new Set(all)].sort();
}

const operations = ['create', 'read', 'update', 'delete', 'list'] as const;
const segment = fc.constantFrom('a', 'ab', 'abc', 'b', 'c+', '');
const asked = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => segments.join('/'));
const ruled = fc
  .tuple(
    fc.array(fc.oneof({ weight: 2, arbitrary: segment }, { weight: 1, arbitrary: fc.constant('+') }), { minLength: 1, maxLength: 5 }),
    fc.boolean(),
  )
  .map(([segments, glob]) => segments.join('/').replace(/^\/+/, '') + (glob ? '*' : ''))
  .filter((path) => !path.includes('+*'));
const rule = fc.record({
  path: ruled,
  capabilities: fc.uniqueArray(fc.constantFrom('create', 'read', 'update', 'delete', 'list', 'sudo', 'deny'), {
    minLength: 1,
    maxLength: 3,
  }),
});
const policies = fc.array(fc.array(rule, { maxLength: 12 }), { minLength: 1, maxLength: 3 });

const hcl = (rules: readonly Rule[]) =>
  rules.map(({ path, capabilities }) => `path ${JSON.stringify(path)} { capabilities = ${JSON.stringify(capabilities)} }`).join('\n');

describe('the tree of rules', () => {
  test('decides as the selection rules read, for any policies and path', () => {
    fc.assert(
      fc.property(policies, asked, (all, path) => {
        const acl = aclOf(...all.map(hcl));
        const bare = path.replace(/^\/+|\/+$/g, '');
        expect(acl.capabilities(bare)).toEqual(capabilitiesOf(all.flat(), bare));
      }),
      { numRuns: 3000 },
    );
  });

  test('allows each operation by the capability of the deciding rule', () => {
    fc.assert(
      fc.property(policies, asked, fc.constantFrom(...operations), (all, path, operation) => {
        const acl = aclOf(...all.map(hcl));
        const bare = path.replace(/^\/+/, '');
        const decider = decides(all.flat(), bare, operation === 'list');
        const granted = all.flat().filter((one) => one.path === decider);
        const expected =
          granted.some((one) => one.capabilities.includes(operation)) && !granted.some((one) => one.capabilities.includes('deny'));
        expect(acl.check({ operation, path: bare }).allowed).toBe(expected);
        expect(acl.explain(operation, bare).rule?.path).toBe(decider);
      }),
      { numRuns: 2000 },
    );
  });

  test('a mount is shown whenever some path below it is allowed', () => {
    fc.assert(
      fc.property(policies, fc.array(fc.constantFrom('a', 'ab', 'b'), { minLength: 1, maxLength: 2 }), asked, (all, mount, below) => {
        const acl = aclOf(...all.map(hcl));
        const prefix = `${mount.join('/')}/`;
        fc.pre(operations.some((operation) => acl.check({ operation, path: prefix + below }).allowed));
        expect(acl.reaches(prefix)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test('capability names and bits agree', () => {
    for (const operation of ['create', 'read', 'update', 'patch', 'delete', 'list', 'scan'] as const) {
      expect(capabilityNames(neededCapability(operation))).toEqual([operation]);
    }
  });
});
