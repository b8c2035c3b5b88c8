import { BadRequest, EngineError, closest, type EngineHost } from '@strongroom/engine-sdk';
import type { AnyDatabasePlugin } from './plugin-catalog.ts';
import { holdsPlaceholder } from './placeholders.ts';
import type { ConnectionRecord } from './records.ts';

/** Names of roles, with the asterisks of patterns. */
const ROLE_PATTERN = /^[\w.*-]+$/;

/** What was stored and will have no effect, or fail later. */
export async function connectionRemarks(
  host: EngineHost,
  plugin: AnyDatabasePlugin,
  record: ConnectionRecord,
  sent: Readonly<Record<string, unknown>>,
  ownFields: Iterable<string>,
): Promise<string[]> {
  const known = Object.keys(plugin.connection.properties);
  const names = [...known, ...ownFields];
  const unknown = Object.keys(sent)
    .filter((name) => sent[name] !== null && !known.includes(name))
    .map((name) => {
      const near = closest(name, names);
      return `${JSON.stringify(name)} is not a parameter of ${plugin.name}: it was stored and has no effect${near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`}`;
    });
  const roles = record.allowed_roles
    .filter((pattern) => !ROLE_PATTERN.test(pattern))
    .map((pattern) => `allowed_roles: no role can be called ${JSON.stringify(pattern)}`);
  const policy = await policyRemark(host, 'password_policy', record.password_policy);
  const root = record.root_rotation_statements;
  const unchanging = plugin.supports.statements === 'sql' && root.length > 0 && !holdsPlaceholder(root, ['password']);
  const rotation = unchanging
    ? ['root_rotation_statements: no statement contains {{password}}, so they would not change the password']
    : [];
  return [...unknown, ...roles, ...policy, ...rotation, ...(plugin.cautions?.() ?? [])];
}

/** For a policy that is not there (yet). */
export async function policyRemark(host: EngineHost, field: string, policy: string): Promise<string[]> {
  if (policy === '') return [];
  try {
    await host.generatePassword(policy);
    return [];
  } catch (error) {
    if (!(error instanceof EngineError) || error.status >= 500) throw error;
    if (error instanceof BadRequest) return [`${field}: ${error.message}`];
    return [`${field}: there is no password policy ${JSON.stringify(policy)}`];
  }
}
