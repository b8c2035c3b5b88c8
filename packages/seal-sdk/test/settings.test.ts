import { describe, expect, test } from '@jest/globals';
import { isSealError, readSettings, setting, type SettingSources } from '../src/index.ts';

const declared = {
  address: setting.text('Where the service is.', { required: true, env: ['BOX_ADDR', 'OLD_BOX_ADDR'] }),
  region: setting.text('The region.', { default: 'here', choices: ['here', 'there'] }),
  token: setting.secret('The credential.', { env: ['BOX_TOKEN'] }),
  renew: setting.flag('Whether the credential is renewed.'),
  pin: setting.key('A key.'),
};
const hex = 'ab'.repeat(32);

function read(block: Record<string, string>, sources: Partial<SettingSources> = {}) {
  const files: SettingSources['readFile'] = () => {
    throw Object.assign(new Error('gone'), { code: 'ENOENT' });
  };
  return readSettings(declared, { block, env: {}, readFile: files, ...sources });
}

describe('the settings of a seal', () => {
  test('come as declared: texts, flags, keys and defaults', () => {
    const { complaints, values } = read({ address: 'a', renew: 'true', pin: hex });
    expect(complaints).toEqual([]);
    expect(values()).toEqual({ address: 'a', region: 'here', token: undefined, renew: true, pin: Buffer.from(hex, 'hex') });
  });

  test('an environment variable wins over the block, the first of several first; an empty one counts as absent', () => {
    expect(read({ address: 'block' }, { env: { OLD_BOX_ADDR: 'old', BOX_ADDR: 'env' } }).values().address).toBe('env');
    expect(read({ address: 'block' }, { env: { BOX_ADDR: '' } }).values().address).toBe('block');
    expect(read({ address: 'block' }, { env: { BOX_ADDR: 'env' }, envWins: false }).values().address).toBe('block');
    expect(read({}, { env: { BOX_ADDR: 'env' }, envWins: false }).values().address).toBe('env');
  });

  test('values may name an environment variable or a file, which is read again at each opening', () => {
    let held = 'one\n';
    const { values } = read({ address: 'env://PLACE', token: 'file:///t' }, { env: { PLACE: 'there' }, readFile: () => Buffer.from(held) });
    expect(values()).toMatchObject({ address: 'there', token: 'one' });
    held = 'two';
    expect(values()).toMatchObject({ token: 'two' });
  });

  test('a key comes from a file as it is, or written as hex or base64', () => {
    const key = Buffer.alloc(32, 10);
    for (const held of [key, Buffer.from(`${key.toString('hex')}\n`), Buffer.from(key.toString('base64'))])
      expect(read({ address: 'a', pin: 'file:///k' }, { readFile: () => held }).values().pin).toEqual(key);
  });

  test('a file that is not there yet is a notice; opening then fails as unavailable', () => {
    const { complaints, notices, values } = read({ address: 'a', token: 'file:///t' });
    expect(complaints).toEqual([]);
    expect(notices).toEqual([
      { key: 'token', text: 'names the file "/t", which cannot be read: ENOENT; the server stays sealed until it can be read' },
    ]);
    let thrown: unknown;
    try {
      values();
    } catch (error) {
      thrown = error;
    }
    expect(isSealError(thrown, 'seal_unavailable')).toBe(true);
  });

  test('everything wrong is complained about at once, without a value', () => {
    const { complaints } = read({ regoin: 'x', region: 'hidden', renew: 'hidden', pin: 'hidden', token: 'env://NONE' });
    expect(complaints).toEqual([
      { key: 'regoin', text: 'is not a known key; did you mean region?' },
      { text: 'address is required: a text, env://NAME or file://path; or set BOX_ADDR or OLD_BOX_ADDR' },
      { key: 'region', text: 'must be one of "here", "there"' },
      { key: 'token', text: 'names the environment variable "NONE", which is not set' },
      { key: 'renew', text: 'must be true or false' },
      { key: 'pin', text: 'must be 32 bytes as hex or base64' },
    ]);
  });

  test('names like those of objects are unknown keys', () => {
    expect(read({ address: 'a', constructor: 'x', toString: 'y' }).complaints.map(({ key }) => key)).toEqual(['constructor', 'toString']);
  });
});
