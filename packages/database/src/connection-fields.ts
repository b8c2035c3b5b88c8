import { f } from '@strongroom/engine-sdk';
import { rootPlanParameters } from '@strongroom/rotation';
import { connectionLimitFields } from './connection-limits.ts';

/** The fields of a connection beside the parameters of its plugin. */
export const connectionFields = {
  name: f.name('Name of the connection.'),
  plugin_name: f.string('The plugin that speaks to this kind of database, such as "postgresql-database-plugin".'),
  plugin_version: f.string('Version of the plugin, where several are installed; empty for the newest.'),
  verify_connection: f.bool('Connect now, and refuse settings that do not work. On unless it was turned off.'),
  allowed_roles: f.commaStrings('Roles that may use the connection; may hold "*". Empty: none may.'),
  root_rotation_statements: f.statements("Statements that change the root user's credentials. Empty: the plugin's own."),
  password_policy: f.string('Password policy for generated passwords; empty for the default one.'),
  skip_static_role_import_rotation: f.bool('Static roles leave the credential as it is at creation. A role can say otherwise.'),
  self_managed: f.bool('The connection has no user of its own: the users of static roles log in, and change their own passwords.'),
  ...connectionLimitFields,
  ...rootPlanParameters,
  adopt: f.bool('With a plan: take the root user over from the role or mount that manages its password now.', { default: false }),
};

export const OWN_FIELDS: ReadonlySet<string> = new Set(Object.keys(connectionFields));

/** What was sent beside the fields: the parameters of the plugin. */
export function detailsIn(raw: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(raw).filter(([key]) => !OWN_FIELDS.has(key)));
}
