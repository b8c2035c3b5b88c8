import { describe, expect, test } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import {
  PasswordGenerationError,
  PasswordPolicyError,
  defaultPasswordPolicy,
  generatePassword,
  isUnsatisfiable,
  parsePasswordPolicy,
  passwordPolicy,
} from '../src/index.ts';

function policyError(text: string): PasswordPolicyError {
  try {
    parsePasswordPolicy(text);
  } catch (error) {
    if (error instanceof PasswordPolicyError) return error;
    throw error;
  }
  throw new Error('the policy was accepted');
}

/** A repeatable stream of bytes. */
function seeded(seed: string): (count: number) => Uint8Array {
  let block = 0;
  return (count) => {
    const blocks: Buffer[] = [];
    for (let bytes = 0; bytes < count; bytes += 64)
      blocks.push(
        createHash('sha512')
          .update(`${seed}:${(block += 1)}`)
          .digest(),
      );
    return Buffer.concat(blocks).subarray(0, count);
  };
}

const CHARSET = 'rule "charset" { charset = "abc" }';

describe('reading a policy', () => {
  test('HCL with several rules gives the sorted union of the charsets', () => {
    const policy = parsePasswordPolicy(
      'length = 12\nrule "charset" {\n  charset = "cba"\n  min-chars = 2\n}\nrule "charset" { charset = "a1\u00e9\u{1f600}" }',
    );
    expect(policy).toEqual({
      length: 12,
      rules: [
        { charset: 'cba', minChars: 2 },
        { charset: 'a1\u00e9\u{1f600}', minChars: 0 },
      ],
      alphabet: ['1', 'a', 'b', 'c', '\u00e9', '\u{1f600}'],
    });
  });

  test.each([
    ['the JSON OpenBao writes', '{"length":20,"rule":[{"charset":[{"charset":"abcde","min-chars":2}]}]}'],
    ['JSON with a plain object', '{"length":20,"rule":{"charset":{"charset":"abcde","min-chars":2}}}'],
    ['a block in a block', 'length = 20\nrule { charset { charset = "abcde" min-chars = 2 } }'],
    ['names in another case and unknown keys', 'Length = 20\nother = "x"\nrule "charset" { CHARSET = "abcde" Min-Chars = 2 more = 1 }'],
    ['a key twice', 'length = 5\nlength = 20\nrule "charset" { charset = "abcde" min-chars = 2 }'],
    ['fractions', 'length = 20.9\nrule "charset" { charset = "abcde" min-chars = 2.5 }'],
  ])('%s is read', (_name, text) => {
    expect(parsePasswordPolicy(text)).toMatchObject({ length: 20, rules: [{ charset: 'abcde', minChars: 2 }] });
  });

  const DECODING = 'decoding failed due to the following error(s):\n\n';
  test.each<[string, string, string[]]>([
    ['no length', CHARSET, ['length must be > 0']],
    ['a negative length', `length = -2\n${CHARSET}`, ['length must be > 0']],
    ['no rule', 'length = 20', ['no charset specified']],
    ['nothing', '', ['length must be > 0', 'no charset specified']],
    [
      'rules longer than the password',
      'length = 3\nrule "charset" { charset = "ab" min-chars = 2 }\nrule "charset" { charset = "12" min-chars = 2 }',
      ['specified rules require at least 4 characters but 3 is specified'],
    ],
    ['a control character', 'length = 5\nrule "charset" { charset = "a\\tb" }', ['non-printable character in charset']],
    ['a blank that is not the plain one', 'length = 5\nrule "charset" { charset = "a\u00a0" }', ['non-printable character in charset']],
  ])('%s breaks the rules of policies', (_name, text, reasons) => {
    const error = policyError(text);
    expect(error.reasons).toEqual(reasons);
    const count = reasons.length === 1 ? '1 error' : `${reasons.length} errors`;
    expect(error.message).toBe(`${count} occurred:\n\t* ${reasons.join('\n\t* ')}\n\n`);
  });

  test.each<[string, string]>([
    ['length = 20\nrule "zz" {}', 'unable to parse rules: unable to parse rule zz: unrecognized rule type zz'],
    ['length = "20"', `failed to decode configuration: ${DECODING}'length' expected type 'int', got unconvertible type 'string'`],
    ['length = true', `failed to decode configuration: ${DECODING}'length' expected type 'int', got unconvertible type 'bool'`],
    ['length = [1]', `failed to decode configuration: ${DECODING}'length' expected type 'int', got unconvertible type '[]interface {}'`],
    [
      'length { }',
      `failed to decode configuration: ${DECODING}'length' expected type 'int', got unconvertible type '[]map[string]interface {}'`,
    ],
    ['{"length": null}', `failed to decode configuration: ${DECODING}'length' expected type 'int', got unconvertible type 'string'`],
    ['length = 99999999999999999999', 'unable to decode: strconv.ParseInt: parsing "99999999999999999999": value out of range'],
    [
      'rule "charset" { min-chars = "1" }',
      `unable to parse rules: unable to parse rule charset: failed to parse charset restriction: ${DECODING}'min-chars' expected type 'int', got unconvertible type 'string'`,
    ],
    [
      'rule "charset" { charset = 5.5 }',
      `unable to parse rules: unable to parse rule charset: failed to parse charset restriction: ${DECODING}'charset' source data must be an array or slice, got float64`,
    ],
    ['rule = 5', "unable to retrieve rules: '' source data must be an array or slice, got int"],
    ['rule {}', 'unable to parse rules: unable to get rule info: rule is empty'],
    ['rule { n = [] }', 'unable to parse rules: unable to get rule info: rule info cannot be empty'],
    [
      'rule { n = 1 }',
      "unable to parse rules: unable to get rule info: unable to get rule data: '' source data must be an array or slice, got int",
    ],
    ['a = "x', 'unable to decode: At 1:5: literal not terminated'],
    ['asdf', "unable to decode: At 1:5: key 'asdf' expected start of object ('{') or assignment ('=')"],
  ])('%j is refused in the words of OpenBao', (text, message) => {
    const error = policyError(text);
    expect(error.message).toBe(message);
    expect(error.reasons).toEqual([message]);
  });

  test('an empty list of rules is no rule', () => {
    expect(policyError('length = 1\nrule = []').reasons).toEqual(['no charset specified']);
  });

  test('a rule with two labels holds nothing', () => {
    expect(policyError('length = 1\nrule "charset" "x" { charset = "a" }').reasons).toEqual(['no charset specified']);
  });
});

describe('making passwords', () => {
  test('the default policy makes 20 letters, digits and dashes with one of each kind', () => {
    for (let round = 0; round < 500; round += 1) {
      const password = generatePassword(defaultPasswordPolicy, randomBytes);
      expect(password).toMatch(/^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*-)[a-zA-Z\d-]{20}$/);
    }
  });

  test('the least numbers of every rule are met, also where charsets overlap', () => {
    const policy = passwordPolicy(8, [
      { charset: 'abcdef', minChars: 3 },
      { charset: 'ab', minChars: 2 },
      { charset: '0123456789', minChars: 2 },
    ]);
    for (let round = 0; round < 500; round += 1) {
      const password = generatePassword(policy, randomBytes);
      expect(password).toHaveLength(8);
      expect(password.match(/[a-f]/g)?.length).toBeGreaterThanOrEqual(3);
      expect(password.match(/[ab]/g)?.length).toBeGreaterThanOrEqual(2);
      expect(password.match(/\d/g)?.length).toBeGreaterThanOrEqual(2);
    }
  });

  test('characters outside the basic plane count as one', () => {
    const password = generatePassword(passwordPolicy(6, [{ charset: '\u{1f600}\u{1f601}', minChars: 1 }]), randomBytes);
    expect([...password]).toHaveLength(6);
  });

  test.each([3, 10, 63, 200, 256])('each of %d characters is equally likely', (size) => {
    const alphabet = Array.from({ length: size }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('');
    const password = generatePassword(passwordPolicy(size * 400, [{ charset: alphabet, minChars: 0 }]), seeded(`size ${size}`));
    const counts = new Map([...alphabet].map((char) => [char, 0]));
    for (const char of password) counts.set(char, (counts.get(char) ?? 0) + 1);
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - 400) ** 2 / 400, 0);
    expect(Math.abs(chiSquare - (size - 1))).toBeLessThan(4 * Math.sqrt(2 * (size - 1)));
  });

  test('bytes beyond the last whole multiple of the alphabet are thrown away', () => {
    const bytes = (count: number): Uint8Array =>
      Uint8Array.from({ length: count }, (_, index) => [255, 254, 253, 252, 0, 1, 251][index % 7] ?? 0);
    const charset = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-';
    const password = generatePassword(passwordPolicy(6, [{ charset, minChars: 0 }]), bytes);
    expect(password).toBe('-0z--0');
  });

  test('a policy that is hardly ever met is given up after a second of the clock', () => {
    const policy = passwordPolicy(100, [
      { charset: 'a', minChars: 100 },
      { charset: 'bcdefghijklmnopqrstuvwxyz', minChars: 0 },
    ]);
    let now = 0;
    let looks = 0;
    const clock = (): number => {
      looks += 1;
      return (now += 100);
    };
    expect(() => generatePassword(policy, randomBytes, clock)).toThrow(new PasswordGenerationError('timed out generating string'));
    expect(now).toBe(1100);
    expect(looks).toBe(11);
  });

  test('a rule nothing can meet is known beforehand and fails without a try', () => {
    const policy = parsePasswordPolicy(`length = 5\n${CHARSET}\nrule "charset" { min-chars = 1 }`);
    expect(isUnsatisfiable(policy)).toBe(true);
    expect(isUnsatisfiable(defaultPasswordPolicy)).toBe(false);
    const none = (): Uint8Array => {
      throw new Error('no byte is needed');
    };
    expect(() => generatePassword(policy, none)).toThrow('timed out generating string');
  });

  test('an alphabet of more than 256 characters is refused', () => {
    const charset = Array.from({ length: 257 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('');
    expect(() => generatePassword(passwordPolicy(5, [{ charset, minChars: 0 }]), randomBytes)).toThrow(
      new PasswordGenerationError('unable to generate random characters: charset is too long: limited to 255 characters'),
    );
  });
});
