import assert from 'node:assert/strict';
import type { TObject } from 'typebox';
import { isSyncError } from '@strongroom/sync-sdk';
import type { Cases } from './case-bodies.ts';

export const ownershipCases: Cases<TObject, TObject> = {
  async 'what somebody else wrote reads as not ours'(fixture) {
    await fixture.session(async (session) => {
      const name = await fixture.name();
      await fixture.options.outside.write(name, 'theirs');
      assert.equal((await fixture.requireRead(session, name)).mark, undefined);
    });
  },

  async 'creating what somebody else has created meanwhile is NameTaken or replaces nothing'(fixture) {
    await fixture.session(async (session) => {
      const name = await fixture.name();
      assert.equal(await fixture.read(session, name), undefined);
      await fixture.options.outside.write(name, 'theirs');
      let refused: unknown;
      await fixture.put(session, name, 'ours').catch((error: unknown) => (refused = error));
      assert.ok(isSyncError(refused, 'name_taken'), `put did not reject with NameTaken: ${String(refused)}`);
      await fixture.stands(name, 'theirs', 'a secret that somebody else has just made was overwritten');
    });
  },

  async 'adopting puts our value and mark on what somebody else wrote'(fixture) {
    await fixture.session(async (session) => {
      const name = await fixture.name();
      await fixture.options.outside.write(name, 'theirs');
      await fixture.put(session, name, 'ours', { current: await fixture.requireRead(session, name) });
      await fixture.stands(name, 'ours', 'an adopted secret keeps its old value');
      if (fixture.marked) assert.deepEqual((await fixture.requireRead(session, name)).mark, fixture.mark);
    });
  },

  async 'a foreign edit shows as another revision'(fixture) {
    await fixture.session(async (session) => {
      const name = await fixture.name();
      const ours = await fixture.put(session, name, 'one');
      await fixture.options.outside.write(name, 'edited');
      const found = await fixture.requireRead(session, name);
      assert.notEqual(found.revision, ours.revision);
      assert.equal(found.identity, ours.identity);
      const listed = (await fixture.list(session)).find((secret) => secret.name === name);
      if (listed) assert.equal(listed.revision, found.revision);
    });
  },

  async 'a secret that somebody deletes and makes again is distinguished from ours'(fixture) {
    await fixture.session(async (session) => {
      const name = await fixture.name();
      const ours = await fixture.put(session, name, 'one');
      await fixture.options.outside.remove(name);
      await fixture.options.outside.write(name, 'theirs');
      const found = await fixture.requireRead(session, name);
      assert.ok(
        fixture.marked ? found.mark === undefined : found.identity !== ours.identity,
        'what somebody else made under our name looks like ours',
      );
    });
  },

  async 'a soft-deleted name is recovered and then set'(fixture) {
    await fixture.session(async (session) => {
      const name = await fixture.name();
      await fixture.put(session, name, 'one');
      await fixture.options.outside.softDelete!(name);
      const found = await fixture.requireRead(session, name);
      assert.equal(found.softDeleted, true);
      assert.ok(!(await fixture.list(session)).some((secret) => secret.name === name), 'list gives what is soft-deleted');
      await fixture.put(session, name, 'two', { current: found });
      await fixture.stands(name, 'two', 'a soft-deleted secret is not set');
      if (fixture.marked) assert.deepEqual((await fixture.requireRead(session, name)).mark, fixture.mark);
    });
  },
};
