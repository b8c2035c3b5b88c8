import { expect, test } from '@jest/globals';
import { retains } from '../src/two-passwords.ts';

test.each([
  ['8.0.14', true],
  ['8.0.36-0ubuntu0.22.04.1', true],
  ['8.4.3', true],
  ['9.7.4', true],
  ['8.0.13', false],
  ['5.7.44-log', false],
  ['11.8.3-MariaDB-0+deb13u1', false],
  ['8.0.11-TiDB-v7.5.1', false],
])('the server %s keeps a replaced password: %s', (version, keeps) => {
  expect(retains(version)).toBe(keeps);
});
