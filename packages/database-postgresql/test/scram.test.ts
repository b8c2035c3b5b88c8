import { expect, test } from '@jest/globals';
import { scramVerifier } from '../src/scram.ts';

test('the verifier has the form that PostgreSQL stores, and a salt of its own', async () => {
  const [one, two] = await Promise.all([scramVerifier('pencil'), scramVerifier('pencil')]);
  expect(one).toMatch(/^SCRAM-SHA-256\$4096:[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{43}=:[A-Za-z0-9+/]{43}=$/);
  expect(one).not.toBe(two);
});

test('with the salt of RFC 7677 it gives the keys of its example', async () => {
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
  expect(await scramVerifier('pencil', salt)).toBe(
    'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
  );
});
