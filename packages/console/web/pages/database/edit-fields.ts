import type { FormField } from '../../parts/fields-form.tsx';

/** What all connections take. */
const CONNECTION: readonly FormField[] = [
  {
    ...{ name: 'allowed_roles', label: 'Roles that may use it', kind: 'lines', placeholder: '*' },
    help: 'One a line; * stands for all. None may until you name some.',
  },
  { name: 'root_rotation_statements', label: 'Root rotation statements', kind: 'statements', help: "Empty: the plugin's own." },
  { name: 'password_policy', label: 'Password policy', kind: 'text', help: 'Empty: the default one.' },
  { name: 'verify_connection', label: 'Log in before it is stored', kind: 'switch', help: 'On unless it was turned off.' },
];

const URL_PLUGIN: readonly FormField[] = [
  {
    ...{ name: 'connection_url', label: 'Connection URL', kind: 'text', required: true },
    placeholder: 'postgresql://{{username}}:{{password}}@db.example.org:5432/postgres',
    help: 'With {{username}} and {{password}} in place of the login, so that the password can be rotated and is never shown.',
  },
  { name: 'username', label: 'User', kind: 'text', help: 'The root user: it makes and removes the others.' },
  { name: 'password', label: 'Password', kind: 'secret', help: 'Kept when left empty, unless the address changes.' },
];

const HOST_PLUGIN: readonly FormField[] = [
  { name: 'host', label: 'Host', kind: 'text', required: true },
  { name: 'port', label: 'Port', kind: 'number' },
  { name: 'username', label: 'User', kind: 'text', required: true },
  { name: 'password', label: 'Password', kind: 'secret' },
  { name: 'tls', label: 'TLS', kind: 'switch' },
];

/** The parameters of a plugin that people set; others are set by the command line, or on the generic page. */
export function connectionFields(plugin: string): readonly FormField[] {
  const own = /redis|influx/.test(plugin) ? HOST_PLUGIN : /cassandra/.test(plugin) ? CASSANDRA : URL_PLUGIN;
  return [...own, ...CONNECTION];
}

const CASSANDRA: readonly FormField[] = [
  { name: 'hosts', label: 'Hosts', kind: 'text', required: true, help: 'Separated by commas.' },
  ...HOST_PLUGIN.slice(1),
];

export const ROLE_FIELDS: readonly FormField[] = [
  { name: 'db_name', label: 'Connection', kind: 'text', required: true },
  {
    ...{ name: 'creation_statements', label: 'Creation statements', kind: 'statements' },
    placeholder: `CREATE ROLE "{{name}}" LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}';`,
    help: 'With {{name}}, {{password}} and {{expiration}}.',
  },
  { name: 'default_ttl', label: 'Lease', kind: 'text', placeholder: '1h', help: "How long a user lives; empty for the mount's default." },
  { name: 'max_ttl', label: 'At most', kind: 'text', placeholder: '24h', help: 'With all renewals.' },
  { name: 'revocation_statements', label: 'Revocation statements', kind: 'statements', help: "Empty: the plugin's own." },
  { name: 'renew_statements', label: 'Renew statements', kind: 'statements' },
  { name: 'rollback_statements', label: 'Rollback statements', kind: 'statements' },
  {
    ...{ name: 'credential_type', label: 'Credential', kind: 'choice' },
    choices: ['password', 'rsa_private_key', 'client_certificate'],
  },
];

export const STATIC_FIELDS: readonly FormField[] = [
  { name: 'db_name', label: 'Connection', kind: 'text', required: true },
  {
    name: 'username',
    label: 'User',
    kind: 'text',
    required: true,
    help: 'A user that the database already has. Its password is changed at once.',
  },
  { name: 'rotation_period', label: 'Rotated every', kind: 'text', placeholder: '24h', help: 'Or a schedule.' },
  { name: 'rotation_schedule', label: 'Schedule (UTC)', kind: 'text', placeholder: '0 4 * * *' },
  { name: 'rotation_window', label: 'Window', kind: 'text', placeholder: '1h', help: 'How late it may begin; with a schedule.' },
  { name: 'rotation_statements', label: 'Rotation statements', kind: 'statements', help: "Empty: the plugin's own." },
];
