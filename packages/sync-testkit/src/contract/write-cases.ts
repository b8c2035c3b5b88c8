import assert from 'node:assert/strict';
import { SYNCED_TAG } from '@strongroom/sync-sdk';
import type { TObject } from 'typebox';
import type { Cases } from './case-bodies.ts';
import { deadline, newMark, token } from './fixture.ts';

const CONCURRENT = 20;

export const writeCases: Cases<TObject, TObject> = {
  async 'a free name reads as nothing'(fixture) {
    await fixture.session(async (session) => {
      assert.equal(await fixture.read(session, await fixture.name()), undefined);
    });
  },

  async 'put creates: the value exists outside, and read sees our mark'(fixture) {
    await fixture.session(async (session) => {
      const name = await fixture.name();
      await fixture.put(session, name, 'one');
      await fixture.stands(name, 'one', 'the value does not exist outside');
      const found = await fixture.requireRead(session, name);
      assert.equal(found.name, name);
      assert.notEqual(found.softDeleted, true);
      if (fixture.marked) assert.deepEqual(found.mark, fixture.mark);
    });
  },

  async 'put, read and list give the same identity and revision'(fixture) {
    await fixture.session(async (session) => {
      const name = await fixture.name();
      const put = await fixture.put(session, name, 'one');
      const read = await fixture.requireRead(session, name);
      const listed = (await fixture.list(session)).find((secret) => secret.name === name);
      assert.ok(listed, 'list leaves out what was put');
      assert.ok(put.revision, 'put gives no revision');
      for (const other of [read, listed]) {
        assert.equal(other.revision, put.revision);
        assert.equal(other.identity, put.identity);
      }
      if (!fixture.marked) assert.ok(put.identity, 'a destination without marks must give identities');
    });
  },

  async 'put with another value replaces it, with another revision and the same identity'(fixture) {
    await fixture.session(async (session) => {
      const name = await fixture.name();
      const before = await fixture.put(session, name, 'one');
      const after = await fixture.put(session, name, 'two', { current: await fixture.requireRead(session, name) });
      await fixture.stands(name, 'two', 'the new value does not exist outside');
      assert.notEqual(after.revision, before.revision);
      assert.equal(after.identity, before.identity);
      const back = await fixture.put(session, name, 'one', { current: await fixture.requireRead(session, name) });
      await fixture.stands(name, 'one', 'going back to an earlier value does not work');
      assert.notEqual(back.revision, after.revision);
    });
  },

  async 'repeating a put is harmless'(fixture) {
    await fixture.session(async (session) => {
      const name = await fixture.name();
      const operationId = '11111111-2222-4333-8444-555555555555';
      await fixture.put(session, name, 'one', { operationId });
      const again = await fixture.put(session, name, 'one', { operationId, current: await fixture.requireRead(session, name) });
      await fixture.stands(name, 'one', 'a repeated put changes the value');
      assert.equal((await fixture.requireRead(session, name)).revision, again.revision);
    });
  },

  async 'custom tags are set, and the tag of synced secrets with them'(fixture) {
    await fixture.session(async (session) => {
      const name = await fixture.name();
      await fixture.put(session, name, 'one', { tags: { team: 'blue' } });
      const tags = (await fixture.outside(name))?.tags ?? {};
      assert.equal(tags['team'], 'blue');
      const synced = Object.entries(tags).some(([key, value]) => key === SYNCED_TAG || (key === 'hashicorp' && value === 'vault'));
      assert.ok(synced, `there is no tag ${SYNCED_TAG}`);
      await fixture.put(session, name, 'two', { tags: { team: 'red' }, current: await fixture.requireRead(session, name) });
      assert.equal((await fixture.outside(name))?.tags?.['team'], 'red');
    });
  },

  async 'values in any script, with line breaks and quotes, arrive unchanged'(fixture) {
    await fixture.session(async (session) => {
      for (const value of [
        'grüße 日本語 🗝️',
        'line\nbreak\r\nand\ttab',
        `"double" 'single' \`back\` \\ $HOME \${x}`,
        '  blanks  ',
        '{"a":1}',
      ]) {
        const name = await fixture.name();
        await fixture.put(session, name, value);
        await fixture.stands(name, value, `${JSON.stringify(value)} arrives changed`);
      }
    });
  },

  async 'a value as large as the limit arrives'(fixture) {
    await fixture.session(async (session) => {
      const name = await fixture.name();
      const value = 'x'.repeat((await fixture.limits()).valueMaxBytes);
      await fixture.put(session, name, value);
      await fixture.stands(name, value, 'a value of the largest size does not arrive');
    });
  },

  async 'an empty value arrives, where limits say so'(fixture) {
    if (!(await fixture.limits()).emptyValue)
      return fixture.leaveOut('an empty value arrives, where limits say so', 'the provider takes no empty values');
    await fixture.session(async (session) => {
      const name = await fixture.name();
      await fixture.put(session, name, '');
      await fixture.stands(name, '', 'an empty value does not arrive');
    });
  },

  async 'names as long as the limit work'(fixture) {
    await fixture.session(async (session) => {
      const { maxLength } = (await fixture.limits()).name;
      const name = await fixture.name(`kit-${token()}`.padEnd(maxLength, 'x'));
      assert.equal(name.length, maxLength, 'normalisation shortens a name');
      await fixture.put(session, name, 'one');
      await fixture.stands(name, 'one', 'a secret with the longest name does not arrive');
    });
  },

  async '20 concurrent puts of different names all arrive'(fixture) {
    await fixture.session(async (session) => {
      const names = await Promise.all(Array.from({ length: CONCURRENT }, () => fixture.name()));
      await Promise.all(names.map((name) => fixture.put(session, name, name, { mark: newMark(fixture.mark.destination) })));
      for (const name of names) await fixture.stands(name, name, 'one of several secrets put at once did not arrive');
    });
  },

  async 'remove takes it away, and removing it again succeeds'(fixture) {
    await fixture.session(async (session) => {
      const name = await fixture.name();
      await fixture.put(session, name, 'one');
      const current = await fixture.requireRead(session, name);
      await fixture.remove(session, name, current);
      assert.equal(await fixture.outside(name), undefined, 'a removed secret still exists outside');
      const left = await fixture.read(session, name);
      assert.ok(left === undefined || left.softDeleted === true, 'a removed secret reads as if it were there');
      await fixture.remove(session, name, current);
      await fixture.options.outside.remove(name).catch(() => undefined);
      await fixture.remove(session, name, current);
    });
  },

  async 'list gives ours, page by page, and nothing else'(fixture) {
    await fixture.session(async (session) => {
      const names = await Promise.all(Array.from({ length: fixture.options.listed ?? 25 }, () => fixture.name()));
      for (const name of names) await fixture.put(session, name, 'one', { mark: newMark(fixture.mark.destination) });
      const foreign = await fixture.name();
      await fixture.options.outside.write(foreign, 'theirs');
      const listed = (await fixture.list(session)).map((secret) => secret.name);
      assert.equal(new Set(listed).size, listed.length, 'list gives a secret twice');
      for (const name of names) assert.ok(listed.includes(name), 'list leaves out one of ours');
      if (fixture.marked) {
        assert.deepEqual([...listed].sort(), [...names].sort());
        assert.deepEqual(await fixture.list(session, newMark().destination), []);
      } else {
        assert.ok(listed.includes(foreign), 'a destination without marks lists all that is there');
      }
    });
  },

  async 'count grows with every secret'(fixture) {
    if ((await fixture.limits()).maxCount === undefined)
      return fixture.leaveOut('count grows with every secret', 'the provider has no limit on their number');
    await fixture.session(async (session) => {
      assert.ok(session.count, 'a limit on the number needs count');
      const before = await session.count(deadline());
      await fixture.put(session, await fixture.name(), 'one');
      await fixture.options.outside.write(await fixture.name(), 'theirs');
      assert.equal(await session.count(deadline()), before + 2);
    });
  },
};
