import { expect, jest, test } from '@jest/globals';
import { reserveCode, runAttributed, notifyOwner } from '../src/index.ts';

function thrownIn(place: string): Error {
  const error = new Error('late');
  error.stack = `Error: late\n    at Client._handleError (${place}/client.js:1:1)\n    at Socket.<anonymous> (node:net:1:1)`;
  return error;
}

test("what the server runs itself is nobody else's fault, though a plugin names it too", () => {
  const told: unknown[] = [];
  const owner = { leaked: (error: unknown) => told.push(error), code: ['file:///plugins/postgres/', 'pg', 'pg-cursor'] };
  runAttributed(owner, () => undefined);
  const ofDriver = thrownIn('/app/node_modules/pg/lib');
  expect(notifyOwner(ofDriver)).toBe(true);
  reserveCode(['file:///storage/', 'pg']);
  expect(notifyOwner(ofDriver)).toBe(false);
  expect(notifyOwner(thrownIn('file:///storage'))).toBe(false);
  expect(notifyOwner(thrownIn('/app/node_modules/pg-cursor'))).toBe(true);
  expect(notifyOwner(thrownIn('file:///plugins/postgres'))).toBe(true);
  expect(told).toHaveLength(3);
});

test('one more owner costs the same however many there are, and all that live are notified', () => {
  const looks = jest.spyOn(WeakRef.prototype, 'deref');
  let told = 0;
  const owners = Array.from({ length: 4_000 }, () => ({ leaked: () => (told += 1), code: ['file:///plugins/many/'] }));
  for (const owner of owners) runAttributed(owner, () => undefined);
  expect(looks.mock.calls.length).toBeLessThan(3 * owners.length);
  looks.mockRestore();
  expect(notifyOwner(thrownIn('file:///plugins/many'))).toBe(true);
  expect(told).toBe(owners.length);
});
