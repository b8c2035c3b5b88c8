import { expect, test } from '@jest/globals';
import { readMeta } from '../src/snapshot-meta.ts';
import { SnapshotFault } from '../src/snapshot-fault.ts';

test.each([
  ['null', 'no JSON object'],
  ['[]', 'no JSON object'],
  ['{', 'no JSON'],
  ['{}', 'has the format undefined'],
  ['{"Format":"strongroom-1","Version":null}', 'Version is not 1'],
  ['{"Format":"strongroom-1","Version":1}', 'ID is missing'],
])('meta.json that is %s is refused', (text, complaint) => {
  expect(() => readMeta(text)).toThrow(SnapshotFault);
  expect(() => readMeta(text)).toThrow(complaint);
});
