import assert from 'node:assert/strict';
import { secretFields, type DatabasePlugin } from '@strongroom/database-sdk';
import { compileTemplate } from '@strongroom/go-template';
import type { TObject } from 'typebox';
import type { Runner } from './options.ts';

/** What one plugin of a package declares. */
export interface DeclaredPlugin {
  readonly plugin: Pick<DatabasePlugin, 'kind' | 'name' | 'apiVersion' | 'usernameTemplate' | 'usernameMaxLength'>;
  readonly name: string;
  /** A name by the default template, for display name `token` and role `r`. */
  readonly usual: RegExp;
  /** A name by the default template, for a display name and a role of 40 characters. */
  readonly longest: RegExp;
  readonly limit: number | undefined;
}

/** What a plugin should declare, written out by hand. */
export interface DeclarationTable {
  readonly connection: TObject;
  /** Every parameter of a connection with its default; undefined for none. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The names of the parameters that are secret, in order. */
  readonly secrets: readonly string[];
  /** Statements that count where the operator gives none: their parameter, what the plugin uses, and what it should use. */
  readonly statements?: readonly (readonly [parameter: string, used: readonly string[], expected: readonly string[]])[];
  readonly plugins: readonly DeclaredPlugin[];
}

/** Defines a test for every row of the table. Runs under any runner with `test`. */
export function databasePluginDeclaration({ test }: Pick<Runner, 'test'>, table: DeclarationTable): void {
  const { connection, parameters, secrets, statements = [], plugins } = table;
  for (const [name, byDefault] of Object.entries(parameters)) {
    test(`parameter ${name}: ${JSON.stringify(byDefault) ?? 'nothing'} by default`, async () => {
      const field = connection.properties[name] as { default?: unknown; description?: string };
      assert.deepEqual(field.default, byDefault);
      assert.match(field.description ?? '', /\.$/);
    });
  }
  test(`there are no other parameters, and the secret ones are ${secrets.join(', ')}`, async () => {
    assert.deepEqual(Object.keys(connection.properties).sort(), Object.keys(parameters).sort());
    assert.deepEqual(secretFields(connection), secrets);
  });
  for (const [parameter, used, expected] of statements) {
    test(`${parameter}: without any, ${JSON.stringify(expected)}`, async () => assert.deepEqual(used, expected));
  }
  for (const { plugin, name, usual, longest, limit } of plugins) {
    test(`${name}: username_template gives ${String(usual)} by default, of long parts ${String(longest)}`, async () => {
      assert.deepEqual([plugin.kind, plugin.name, plugin.apiVersion], ['database', name, 2]);
      const template = compileTemplate(plugin.usernameTemplate, { fields: ['DisplayName', 'RoleName'] });
      const environment = { now: () => new Date(1_795_250_515_000), randomBytes: (count: number) => Buffer.alloc(count, 1) };
      const render = (DisplayName: string, RoleName: string): string => template.render({ DisplayName, RoleName }, environment);
      assert.match(render('token', 'r'), usual);
      assert.match(render('d'.repeat(40), 'r'.repeat(40)), longest);
      assert.equal(plugin.usernameMaxLength, limit);
    });
  }
}
