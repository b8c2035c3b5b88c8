import { expect, test } from '@jest/globals';
import { ownChange } from '../src/own-password.ts';
import { isMysqlFrom } from '../src/server-version.ts';

test.each([
  ['8.0.14', true],
  ['8.0.36-0ubuntu0.22.04.1', true],
  ['8.4.3', true],
  ['9.7.4', true],
  ['8.0.13', false],
  ['5.7.44-log', false],
  ['11.8.3-MariaDB-0+deb13u1', false],
  ['8.0.11-TiDB-v7.5.1', false],
])('the server %s is a MySQL of 8.0.14 or later: %s', (version, is) => {
  expect(isMysqlFrom(version, [8, 0, 14])).toBe(is);
});

test.each([
  ['9.7.4', `ALTER USER USER() IDENTIFIED BY 'n' REPLACE 'c'`],
  ['5.7.44-log', `ALTER USER USER() IDENTIFIED BY 'n'`],
  ['11.8.3-MariaDB', `SET PASSWORD = PASSWORD('n')`],
])('a user of the server %s changes its own password by %s', (version, statement) => {
  expect(ownChange(version, 'n', 'c')).toBe(statement);
});
