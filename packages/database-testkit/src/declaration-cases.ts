import assert from 'node:assert/strict';
import { Ajv } from 'ajv';
import type { DatabasePlugin } from '@strongroom/database-sdk';
import { secretFields } from '@strongroom/database-sdk';
import type { TObject } from 'typebox';
import type { Cases } from './case-bodies.ts';

const SEMVER = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const SECRET_NAME = /pass(word|wd|phrase)$|secret|private_key|token$/;

/** What the plugin says of itself, checked without a server. */
export const declarationCases: Cases<TObject> = {
  async 'name and version are well formed'({ options: { plugin } }) {
    const { name, version, kind, apiVersion, supports, usernameTemplate } = plugin as DatabasePlugin;
    assert.match(name, /^[a-z0-9]+(-[a-z0-9]+)*$/, 'a plugin name is kebab case');
    if (version !== undefined) assert.match(version, SEMVER, 'version is semver');
    assert.equal(kind, 'database');
    assert.equal(apiVersion, 2);
    assert.ok(supports.credentials.length > 0, 'a plugin supports at least one kind of credential');
    assert.equal(new Set(supports.credentials).size, supports.credentials.length, 'each kind of credential is named once');
    for (const type of supports.credentials) assert.ok(['password', 'rsa_private_key', 'client_certificate'].includes(type), type);
    assert.ok(['native', 'lease-only'].includes(supports.expiry));
    assert.ok(['sql', 'json'].includes(supports.statements));
    for (const where of plugin.code ?? [])
      assert.match(
        where,
        /^(?:file:\/\/.*\/|(?:@[a-z0-9-]+\/)?[a-z0-9._-]+|@[a-z0-9-]+)$/,
        'code lists packages, and folders as file: URLs with a closing slash',
      );
    assert.ok(usernameTemplate.includes('random'), 'without a random part user names collide');
  },

  async 'defaults satisfy the schema'(fixture) {
    const { connection } = fixture.options.plugin;
    const ajv = new Ajv({ strict: false, allErrors: true });
    for (const [name, field] of Object.entries(connection.properties)) {
      if (!('default' in field)) continue;
      assert.ok(ajv.validate(field, field.default), `the default of ${name} does not satisfy its schema: ${ajv.errorsText()}`);
    }
    const config = structuredClone(await fixture.config());
    const filling = new Ajv({ strict: false, allErrors: true, useDefaults: true });
    assert.ok(filling.validate(connection, config), `the given config does not satisfy the schema: ${filling.errorsText()}`);
    await fixture.session(async () => undefined, config);
  },

  async 'secret fields are marked'({ options: { plugin } }) {
    const marked = new Set(secretFields(plugin.connection));
    for (const name of Object.keys(plugin.connection.properties)) {
      if (SECRET_NAME.test(name)) assert.ok(marked.has(name), `${name} looks like a secret, but is not annotated secret: true`);
    }
  },
};
