import { expect, test } from '@jest/globals';
import { unreachable } from '../src/failure.ts';

test.each([
  ['connect ECONNREFUSED 127.0.0.1:1', 'Error: connect ECONNREFUSED 127.0.0.1:1. Resolution note: '],
  ['self-signed certificate', 'Error: self-signed certificate. Resolution note: '],
  ['read ECONNRESET', 'read ECONNRESET Resolution note: nothing'],
])('says that etcd cannot be reached because of %j, without what gRPC says around it', (reason, last) => {
  const error = Object.assign(new Error('14 UNAVAILABLE'), { code: 14, details: `No connection established. Last error: ${last}` });
  expect(unreachable(error)).toBe(`etcd cannot be reached: ${reason}`);
});

test('says what else is said as it is', () => {
  const error = Object.assign(new Error('14 UNAVAILABLE: Connection dropped'), { code: 14, details: 'Connection dropped' });
  expect(unreachable(error)).toBe('etcd cannot be reached: Connection dropped');
});
