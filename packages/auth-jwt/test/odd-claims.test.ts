import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { BadRequest, readJson } from '@strongroom/engine-sdk';
import type { JsonObject } from '../src/json/json-pointer.ts';
import { acceptToken } from '../src/login/accept-token.ts';
import { mergeRole } from '../src/roles/merge-role.ts';

const NAMES = ['sub', 'aud', 'iss', 'exp', 'iat', 'nbf', 'groups', 'x', '', '/', '__proto__', 'constructor', 'toString', 'length', 'a/b'];
const SCALARS = [
  'null',
  'true',
  '0',
  '-1',
  '1.50',
  '1e999',
  '12345678901234567890',
  '1e9',
  '""',
  '"alice"',
  '"strongroom"',
  '"\\u0000"',
  '" "',
  '"root"',
];

/** A generator with a seed, so that a failure can be repeated. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * below);
  };
}

function json(random: (below: number) => number, depth: number): string {
  const kind = depth === 0 ? 0 : random(4);
  const count = random(4);
  if (kind === 2) return `[${Array.from({ length: count }, () => json(random, depth - 1)).join(',')}]`;
  if (kind === 3) return object(random, depth - 1, count);
  return SCALARS[random(SCALARS.length)]!;
}

function object(random: (below: number) => number, depth: number, count: number): string {
  const members = Array.from({ length: count }, () => `${JSON.stringify(NAMES[random(NAMES.length)])}:${json(random, depth)}`);
  return `{${members.join(',')}}`;
}

describe('whatever the claims of a token are,', () => {
  const pick = (random: (below: number) => number): string => `${random(2) === 0 ? '' : '/'}${NAMES[random(NAMES.length)]}`;

  test('a role accepts them with texts as alias, groups, metadata and policies, or refuses them with 400', () => {
    const seed = randomBytes(4).readUInt32LE();
    const random = generator(seed);
    let accepted = 0;
    for (let round = 0; round < 20_000; round += 1) {
      // Of two members of one name, the later counts.
      const odd = object(random, 3, random(5)).slice(1);
      const claims = readJson(`{"sub":"alice","iat":1,"exp":100${odd === '}' ? '' : ','}${odd}`) as JsonObject;
      const data = {
        role_type: 'jwt',
        user_claim: random(3) === 0 ? NAMES[random(NAMES.length)]! || 'sub' : 'sub',
        bound_audiences: random(2) === 0 ? ['strongroom'] : [],
        token_bound_cidrs: ['127.0.0.1'],
        bound_claims: random(3) === 0 ? { [pick(random)]: ['alice', 0, true] } : {},
        claim_mappings: random(2) === 0 ? { [pick(random)]: 'key' } : {},
        groups_claim: random(3) === 0 ? pick(random) : '',
        token_policies: random(3) === 0 ? ['a-{{.x}}', '{{range .groups}}{{.}}{{end}}'] : ['b'],
        token_policies_template_claims: random(2) === 0,
      };
      try {
        const role = mergeRole(undefined, data, new Set(Object.keys(data)));
        const template = { now: () => new Date(0), randomBytes: (count: number) => new Uint8Array(count) };
        const { auth } = acceptToken({
          roleName: 'r',
          role,
          claims,
          remoteAddress: '',
          groupSeparator: undefined,
          template,
          issuer: '',
          now: 10,
        });
        const texts = [auth.alias!.name, ...auth.groupAliases, ...Object.values(auth.metadata), ...auth.policies];
        if (!texts.every((text) => typeof text === 'string')) throw new Error('not a text');
        accepted += 1;
      } catch (error) {
        if (!(error instanceof BadRequest))
          throw new Error(`seed ${seed}, round ${round}: ${JSON.stringify({ claims, data })}`, { cause: error });
      }
    }
    expect(accepted).toBeGreaterThan(500);
  });
});
