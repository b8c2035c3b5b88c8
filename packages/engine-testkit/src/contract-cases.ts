import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { fieldSpec, type AnyPath, type Engine } from '@strongroom/engine-sdk';
import type { CoreResponse, RequestOperation } from '@strongroom/core';
import { callsOf, garbageCalls, wrongTypeCalls, type ContractCall } from './garbage.ts';
import type { Fixture } from './contract-fixture.ts';
import type { TestMount } from './mount-for-test.ts';
import type { ContractCase } from './contract-titles.ts';

export const contractCases: Record<ContractCase, (fixture: Fixture) => Promise<void>> = {
  'the package is well formed': async ({ engine }) => {
    assert.match(engine.name, /^[a-z][a-z0-9-]*$/, 'the name is what operators write: lower-case letters, digits and dashes');
    assert.ok(['auth', 'secret'].includes(engine.kind), `kind ${String(engine.kind)}`);
    assert.equal(engine.apiVersion, 2);
    if (engine.version !== undefined) assert.match(engine.version, /^\d+\.\d+\.\d+/, 'the version is a semantic one');
  },

  'every path is described, every operation has a summary, every field says what it is': async (fixture) => {
    for (const path of await fixture.paths()) {
      const { about, operations, pattern } = path;
      assert.notEqual(about.synopsis.trim(), '', `${pattern}: no synopsis`);
      assert.notEqual(about.description.trim(), '', `${pattern}: no description`);
      const { exists: _exists, ...ops } = operations;
      assert.ok(Object.keys(ops).length > 0, `${pattern}: no operation`);
      for (const [name, op] of Object.entries(ops)) {
        assert.notEqual(op.summary.trim(), '', `${pattern}: ${name} has no summary`);
        assert.ok(op.response, `${pattern}: ${name} does not declare its response; a 204 is NoContent`);
      }
      for (const [name, field] of Object.entries(about.fields as Record<string, object>)) {
        assert.notEqual(
          (field as { description?: string }).description?.trim() ?? '',
          '',
          `${pattern}: field ${name} does not say what it is`,
        );
      }
    }
  },

  'every capture has a field': async (fixture) => {
    for (const path of await fixture.paths()) {
      for (const [, name] of path.pattern.matchAll(/\{(\w+)(?::\w+)?\}/g)) {
        assert.ok(Object.hasOwn(path.about.fields as object, name!), `${path.pattern}: no field ${name}`);
      }
    }
  },

  'secret types, intents and schedules have names of their own': async (fixture) => {
    const engine = await fixture.build();
    for (const names of [engine.secrets?.map((s) => s.type), engine.intents?.map((i) => i.kind), engine.schedules?.map((s) => s.kind)]) {
      for (const name of names ?? []) assert.match(name, /^[a-z][a-z0-9_-]*$/i, 'these names are written into records');
      assert.equal(new Set(names).size, names?.length ?? 0, `one of ${names?.join(', ')} is there twice`);
    }
  },

  'every path answers help': async (fixture) => {
    const mount = await fixture.mount();
    for (const path of await fixture.paths()) {
      const at = `${mount.path}/${exampleOf(path)}`;
      const answer = await mount.call('help', at);
      assert.equal(answer.status, 200, `help for ${at}`);
      assert.match(String(answer.raw?.body), new RegExp(path.about.synopsis.slice(0, 8).replace(/[^\w ]/g, '.')), `help for ${at}`);
    }
  },

  'without a token, only open paths answer': async (fixture) => {
    const mount = await fixture.mount();
    for (const path of await fixture.paths()) {
      if (path.about.access === 'unauthenticated' || path.about.login) continue;
      for (const operation of operationsOf(path)) {
        const answer = await mount.call(operation, `${mount.path}/${exampleOf(path)}`, { token: '' });
        assert.equal(answer.status, 403, `${operation} ${path.pattern} without a token: ${textOf(answer)}`);
      }
    }
  },

  'an unknown path is a 404, an operation that a path does not have is a 405': async (fixture) => {
    const mount = await fixture.mount();
    const paths = await fixture.paths();
    if (!paths.some((path) => /\{\w+:all\}/.test(path.pattern))) {
      const answer = await mount.call('read', `${mount.path}/no/such/path/here/at/all`);
      assert.equal(answer.status, 404, textOf(answer));
    }
    for (const path of paths) {
      const has = operationsOf(path);
      for (const operation of ['read', 'update', 'delete', 'patch', 'list', 'scan'] as const) {
        if (has.includes(operation)) continue;
        const at = exampleOf(path);
        // A path that is more specific in its shape may take the example, or the list of a folder may be declared on its own.
        if (paths.some((other) => other !== path && operationsOf(other).includes(operation) && mayMatch(other, at))) continue;
        const answer = await mount.call(operation, `${mount.path}/${at}`);
        assert.ok([404, 405].includes(answer.status), `${operation} ${path.pattern}: ${textOf(answer)}`);
      }
    }
  },

  'garbage on an unconfigured mount is refused with a 4xx': async (fixture) => throwGarbage(fixture, false),
  'garbage on a mount in use is refused with a 4xx': async (fixture) => throwGarbage(fixture, true),

  'a field of the wrong type is a 400 that names it': async (fixture) => {
    const mount = await fixture.mountInUse();
    for (const path of await fixture.paths()) {
      for (const call of wrongTypeCalls(path, fixture.prepared)) {
        const answer = await mount.call(call.operation, `${mount.path}/${call.path}`, { data: call.data });
        assert.equal(answer.status, 400, `${shown(call)}: ${textOf(answer)}`);
        assert.ok(textOf(answer).includes(call.field), `${shown(call)}: the answer does not name ${call.field}: ${textOf(answer)}`);
      }
    }
  },

  'an unknown field is a warning in the answer': async (fixture) => {
    const mount = await fixture.mountInUse();
    for (const { path, at } of fixture.examples(await fixture.paths())) {
      if (!path.operations.read || path.about.arbitraryData) continue;
      if (fixture.hasEffect(path)) continue;
      const answer = await mount.call('read', `${mount.path}/${at}`, { data: { no_such_field_here: '1' } });
      if (answer.status !== 200 || answer.raw) continue;
      assert.ok(
        answer.warnings?.some((warning) => warning.includes('no_such_field_here')),
        `read ${at} says nothing of a field that it does not know`,
      );
    }
  },

  'no secret field is shown': async (fixture) => {
    const mount = await fixture.mountInUse();
    for (const { path, at } of fixture.examples(await fixture.paths())) {
      if (!path.operations.read || fixture.hasEffect(path)) continue;
      const answer = await mount.call('read', `${mount.path}/${at}`);
      const data = (answer.data ?? {}) as Record<string, unknown>;
      for (const [name, field] of Object.entries(path.about.fields as Record<string, never>)) {
        if (!fieldSpec(field).secret || data[name] === undefined) continue;
        assert.ok(['', null, '*****'].includes(data[name] as string), `read ${at} shows the secret field ${name}`);
      }
    }
  },

  'two mounts know nothing of each other': async (fixture) => {
    const mount = await fixture.mountInUse();
    const other = await fixture.mountBeside();
    for (const { path, at } of fixture.examples(await fixture.paths())) {
      for (const operation of ['list', 'scan'] as const) {
        if (!path.operations[operation]) continue;
        const first = await mount.call(operation, `${mount.path}/${at}`);
        if (first.status !== 200) continue;
        const second = await mount.call(operation, `${other}/${at}`);
        const keys = (second.data as { keys?: unknown[] } | null)?.keys ?? [];
        assert.deepEqual(keys, [], `${at} of a second, empty mount lists what belongs to the first`);
      }
    }
  },

  'everything is still there after sealing and unsealing': async (fixture) => {
    const mount = await fixture.mountInUse();
    const look = async (): Promise<Map<string, unknown>> => {
      const seen = new Map<string, unknown>();
      for (const { path, at } of fixture.examples(await fixture.paths())) {
        for (const operation of ['read', 'list'] as const) {
          if (!path.operations[operation] || (operation === 'read' && fixture.hasEffect(path))) continue;
          const { status, data, errors } = await mount.call(operation, `${mount.path}/${at}`);
          seen.set(`${operation} ${at}`, { status, data, errors });
        }
      }
      return seen;
    };
    const earlier = await look();
    assert.ok(
      [...earlier.values()].some((answer) => (answer as CoreResponse).status === 200),
      'nothing can be read after `prepare`',
    );
    await mount.core.seal();
    assert.equal((await mount.call('read', `${mount.path}/x`)).status, 503);
    await mount.core.openAutomatically();
    const after = await look();
    for (const [what, answer] of earlier) assert.ok(isDeepStrictEqual(after.get(what), answer), `${what} answers otherwise than earlier`);
  },

  'unmounting leaves nothing of the mount in the store': async (fixture) => {
    const mount = await fixture.mountInUse();
    const uuid = fixture.uuid();
    const gone = await mount.call('delete', placeOf(fixture, mount.path));
    // 200 lists what stays outside by its nature.
    assert.ok([200, 204].includes(gone.status), `unmounting: ${textOf(gone)}`);
    await mount.core.settleSchedule();
    assert.deepEqual(await keysOf(fixture, uuid, mount.path), [], 'keys that are left');
  },

  'a forced unmount names what is left outside, and holds no secret': async (fixture) => {
    fixture.breakRevocations();
    const mount = await fixture.mountInUse();
    const uuid = fixture.uuid();
    const secrets = await secretValues(fixture, mount);
    const leases = await leasesOf(mount);
    const gone = await mount.call('delete', placeOf(fixture, mount.path), { data: { force: true } });
    assert.equal(gone.status, 200, `unmounting by force: ${textOf(gone)}`);
    const left = (gone.data as { left_outside: Record<string, unknown>[] }).left_outside;
    for (const thing of left) {
      const shown = JSON.stringify(thing);
      for (const [key, value] of Object.entries(thing)) {
        assert.ok(['kind', 'name', 'system', 'detail', 'lease_id', 'journal_id'].includes(key), `${shown} has ${key}`);
        assert.ok(typeof value === 'string' && value !== '', `${shown}: ${key} is no text`);
      }
      assert.ok(thing['kind'] !== undefined && thing['name'] !== undefined, `${shown} has no kind or no name`);
      for (const secret of secrets) assert.ok(!shown.includes(secret), 'what is left outside is reported with a secret');
    }
    const mayBeSilent = (await fixture.build()).secrets?.some((type) => type.outside !== undefined) === true;
    for (const lease of leases) {
      // A type may say that a lease of its has nothing outside.
      assert.ok(mayBeSilent || left.some((thing) => thing['lease_id'] === lease), `the lease ${lease} was dropped without a word`);
    }
    for (const { kind, name } of fixture.leavesOutside) {
      assert.ok(
        left.some((thing) => thing['kind'] === kind && name.test(String(thing['name']))),
        `no ${kind} ${String(name)} is among what is left outside: ${JSON.stringify(left)}`,
      );
    }
    await mount.core.settleSchedule();
    assert.deepEqual(await keysOf(fixture, uuid, mount.path), [], 'keys that are left');
  },

  'closing an engine twice, or one that never started, is no fault': async (fixture) => {
    const engine: Engine = await fixture.build();
    await engine.close?.();
    await engine.close?.();
  },
};

function placeOf(fixture: Fixture, path: string): string {
  return `sys/${fixture.engine.kind === 'auth' ? path : `mounts/${path}`}`;
}

/** What the store still has of the mount. */
async function keysOf(fixture: Fixture, uuid: string, path: string): Promise<string[]> {
  return (await fixture.keys()).filter((key) => key.includes(uuid) || key.startsWith(`lease/${path}/`) || key.startsWith('intent/'));
}

/** Ids of the leases of secrets; tokens go with the mount. */
async function leasesOf(mount: TestMount, folder = `${mount.path}/`): Promise<string[]> {
  const { data, status } = await mount.call('list', `sys/leases/lookup/${folder}`);
  if (status !== 200) return [];
  const found: string[] = [];
  for (const key of (data as { keys: string[] }).keys) {
    if (key.endsWith('/')) found.push(...(await leasesOf(mount, `${folder}${key}`)));
    else if (!mount.path.startsWith('auth/')) found.push(`${folder}${key}`);
  }
  return found;
}

/** The values of secret fields that are shown nowhere else: those of the contract's own writes are not known here, those that answers give are. */
async function secretValues(fixture: Fixture, mount: TestMount): Promise<string[]> {
  const found: string[] = [];
  for (const { path, at } of fixture.examples(await fixture.paths())) {
    if (!path.operations.read || !fixture.hasEffect(path)) continue;
    const { data } = await mount.call('read', `${mount.path}/${at}`);
    for (const name of ['password', 'secret_key', 'secret', 'token', 'key', 'code']) {
      const value = (data as Record<string, unknown> | null)?.[name];
      if (typeof value === 'string' && value.length >= 8) found.push(value);
    }
  }
  return found;
}

async function throwGarbage(fixture: Fixture, inUse: boolean): Promise<void> {
  const mount = inUse ? await fixture.mountInUse() : await fixture.mount();
  for (const path of await fixture.paths()) {
    const outside = fixture.reachesOutside(path);
    for (const call of garbageCalls(path, fixture.prepared)) {
      const answer = await mount.call(call.operation, `${mount.path}/${call.path}`, { data: call.data });
      const text = textOf(answer);
      assert.ok(answer.status < 500 || (outside && !text.includes('internal error')), `${shown(call)} is answered with ${text}`);
    }
  }
}

function operationsOf(path: AnyPath): RequestOperation[] {
  const { exists: _exists, ...operations } = path.operations;
  return Object.keys(operations) as RequestOperation[];
}

function exampleOf(path: AnyPath): string {
  return callsOf(path).path;
}

function mayMatch(path: AnyPath, at: string): boolean {
  const shape = path.pattern
    .replace(/[.*+?^$()|[\]\\]/g, '\\$&')
    .replace(/\{\w+:(?:all|path)\}/g, '.*')
    .replace(/\{\w+(?::\w+)?\}/g, '[^/]+');
  return new RegExp(`^${shape}$`).test(at);
}

function textOf(answer: CoreResponse): string {
  return `${answer.status} ${(answer.errors ?? []).join('; ')}`;
}

function shown(call: ContractCall): string {
  return `${call.operation} ${JSON.stringify(call.path)} ${JSON.stringify(call.data).slice(0, 300)}`;
}
