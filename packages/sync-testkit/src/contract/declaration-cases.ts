import assert from 'node:assert/strict';
import { compileTemplate } from '@strongroom/go-template';
import { fieldSpec } from '@strongroom/engine-sdk';
import { NAME_TEMPLATE_FIELDS, nameComplaint } from '@strongroom/sync-sdk';
import type { TObject, TSchema } from 'typebox';
import type { Cases } from './case-bodies.ts';

const OF_THE_HOST = ['type', 'name', 'secret_name_template', 'granularity', 'custom_tags', 'on_conflict', 'purge', 'force_delete'];

export const declarationCases: Cases<TObject, TObject> = {
  async 'name, aliases and version are well formed'({ options: { plugin } }) {
    for (const name of [plugin.name, ...(plugin.aliases ?? [])]) assert.match(name, /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
    assert.equal(plugin.kind, 'sync-destination');
    assert.equal(plugin.apiVersion, 2);
    assert.ok(plugin.title.trim() !== '', 'the title is empty');
    if (plugin.version !== undefined) assert.match(plugin.version, /^\d+\.\d+\.\d+/);
  },

  async 'fixed fields and options fit the connection'({ options: { plugin } }) {
    const fields = Object.entries(plugin.connection.properties as Record<string, TSchema>);
    for (const [name, schema] of fields) {
      assert.match(name, /^[a-z][a-z0-9_]*$/);
      assert.ok(!OF_THE_HOST.includes(name), `${name} is a field of the host`);
      assert.ok('x-field' in schema, `${name} is not built with f of engine-sdk`);
      if (/secret|token$|password|private_key|credential/.test(name) && !/^(identity_token_ttl|secrets_location|secret_type)$/.test(name)) {
        assert.equal(fieldSpec(schema).secret, true, `${name} should be f.secret`);
      }
    }
    const names = fields.map(([name]) => name);
    for (const name of plugin.fixed) assert.ok(names.includes(name), `fixed names ${name}, which is no field`);
    if (plugin.accounts) assert.ok(names.includes(plugin.accounts.field), `accounts.field names ${plugin.accounts.field}`);
    assert.ok(['secret-path', 'secret-key'].includes(plugin.options.granularity));
  },

  async 'the default template gives names that fit, after normalisation'(fixture) {
    const { plugin } = fixture.options;
    const { name } = await fixture.limits();
    const template = compileTemplate(plugin.options.secretNameTemplate, { fields: NAME_TEMPLATE_FIELDS });
    const data = {
      DestinationType: plugin.name,
      DestinationName: 'my-dest',
      NamespacePath: '',
      NamespaceBaseName: '',
      NamespaceID: 'root',
      MountPath: 'team/kv',
      MountBaseName: 'kv',
      MountAccessor: 'kv_1234abcd',
      SecretPath: 'app/web_front.end',
      SecretBaseName: 'web_front.end',
      SecretKey: 'API_KEY',
    };
    const rendered = template.render(data, { now: () => new Date(0), randomBytes: (count) => new Uint8Array(count) });
    assert.equal(nameComplaint(name, name.normalize(rendered)), undefined, `${rendered} becomes ${name.normalize(rendered)}`);
  },

  async 'normalisation is idempotent and gives what the pattern takes'(fixture) {
    const { name } = await fixture.limits();
    for (const rendered of ['secret/kv_1/a b', 'A-b_C.d/e', 'vault/kv_12/über', '1st', 'x$y#z', 'a//b', 'kv:prod@eu']) {
      const once = name.normalize(rendered);
      assert.equal(name.normalize(once), once, `${rendered} changes again when normalised twice`);
      assert.equal(nameComplaint(name, once), undefined, `${rendered} becomes ${once}, which does not fit`);
    }
    assert.notEqual(nameComplaint(name, ''), undefined, 'an empty name fits');
    assert.notEqual(nameComplaint(name, 'x'.repeat(name.maxLength + 1)), undefined, 'a name that is too long fits');
  },

  async 'a wrong connection is reported without connecting'(fixture) {
    const { plugin } = fixture.options;
    const good = await fixture.config();
    assert.deepEqual([...(plugin.check?.(good) ?? [])], []);
    const bad = await fixture.require('malformed')(good);
    assert.ok((plugin.check?.(bad) ?? []).length > 0, 'check finds nothing wrong with malformed settings');
  },
};
