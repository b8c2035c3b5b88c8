import { expect, test } from '@jest/globals';
import { opensslSubject } from '../src/index.ts';

test.each([
  ['CN=v-app-1', '/CN=v-app-1'],
  ['CN=app, O=Example Ltd,C=DE', '/C=DE/O=Example Ltd/CN=app'],
  ['CN=app+UID=7,O=x', '/O=x/CN=app/UID=7'],
  ['CN=a\\,b\\+c\\=d\\\\e', '/CN=a,b+c=d\\e'],
  ['CN=a\\2Cb', '/CN=a,b'],
  ['CN=ä€', '/CN=\\xC3\\xA4\\xE2\\x82\\xAC'],
  ['1.2.3.4=x', '/1.2.3.4=x'],
  ['', ''],
])('the subject %p is compared as %p', (subject, line) => {
  expect(opensslSubject(subject)).toBe(line);
});

test('what is not a distinguished name is refused', () => {
  expect(() => opensslSubject('nobody')).toThrow('not a distinguished name');
  expect(() => opensslSubject('CN=a,,O=b')).toThrow('not a distinguished name');
});
