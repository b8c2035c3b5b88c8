import { BadRequest, InvalidRequest, type EngineHost } from '@strongroom/engine-sdk';
import { globMatches } from '@strongroom/go-template';
import { subjectOf } from './certificate-subject.ts';
import { DatabaseMisused } from './call-failed.ts';
import { policyRemark } from './connection-remarks.ts';
import type { Connections, NamedConnection } from './connections.ts';
import { pluginCredential } from './credential-maker.ts';
import type { AnyDatabasePlugin } from './plugin-catalog.ts';
import { holdsPlaceholder } from './placeholders.ts';
import { recordsIn, type RoleRecord } from './records.ts';
import { ownUserMissing } from './self-managed.ts';

/** What the statements of each type of credential hold, so that the user has it. */
const PLACEHOLDERS = { password: 'password', rsa_private_key: 'public_key', client_certificate: 'subject' } as const;

const SAMPLE_USER = 'v_sample_user';

/**
 * Tells what would fail when credentials are issued. Nothing is connected to. Resolves with what may be right in the end; a connection may be made later.
 * @throws BadRequest that names the field, for what cannot be
 */
export async function checkRole(host: EngineHost, connections: Connections, name: string, role: RoleRecord): Promise<string[]> {
  const policy = await policyRemark(host, 'credential_config: password_policy', role.credential_config['password_policy'] ?? '');
  const record = await recordsIn(host.storage).connections.get(role.db_name);
  if (!record) return [...policy, `db_name: there is no connection ${JSON.stringify(role.db_name)} yet`];
  const connection = { name: role.db_name, record };
  const allowed = record.allowed_roles.some((pattern) => globMatches(pattern, name))
    ? []
    : [`db_name: the allowed_roles of the connection "${role.db_name}" do not hold this role`];
  if (record.self_managed) throw new BadRequest(`db_name: ${ownUserMissing(role.db_name).message}`);
  const plugin = connections.plugin(record);
  if (!plugin) return [...policy, ...allowed];
  const { on_owned_objects: owned = 'fail' } = role;
  if (owned !== 'fail' && plugin.supports.ownedObjects !== true)
    throw new BadRequest(`on_owned_objects: ${plugin.name} can only fail where a user owns something, not ${owned} it`);
  if (!plugin.supports.credentials.includes(role.credential_type))
    return [...policy, ...allowed, unsupported(plugin, role.credential_type)];
  const rendered = await renderOnce(host, connections, connection, role);
  const cautions = plugin.cautions?.({ commands: role.creation_statements }) ?? [];
  return [
    ...policy,
    ...allowed,
    ...rendered,
    ...cautions,
    ...(plugin.supports.statements === 'sql' ? placeholderRemarks(plugin, role) : []),
  ];
}

/** @throws InvalidRequest */
export function requireCredentialType(plugin: AnyDatabasePlugin, type: RoleRecord['credential_type']): void {
  if (!plugin.supports.credentials.includes(type)) throw new InvalidRequest(unsupported(plugin, type));
}

function unsupported({ name, supports }: AnyDatabasePlugin, type: string): string {
  return `${name} does not support credential_type ${JSON.stringify(type)}; it supports ${supports.credentials.join(', ')}`;
}

/** The plugin renders the statements as it would for a user. */
async function renderOnce(host: EngineHost, connections: Connections, connection: NamedConnection, role: RoleRecord): Promise<string[]> {
  if (!connections.plugin(connection.record)?.preview) return [];
  try {
    await connections.preview(connection, {
      username: SAMPLE_USER,
      credential: sampleCredential(role.credential_type),
      expiresAt: host.clock.now(),
      statements: { commands: role.creation_statements },
    });
  } catch (error) {
    // Any other failure is none of the role's.
    if (!(error instanceof DatabaseMisused)) return [];
    // They may be written by and by.
    if (role.creation_statements.length === 0)
      return [`creation_statements: none are given, and without them no credentials can be issued`];
    throw new BadRequest(`creation_statements: ${error.message}`);
  }
  return [];
}

function sampleCredential(type: RoleRecord['credential_type']) {
  const credential = {
    password: { type, password: 'SAMPLE-password-0' },
    rsa_private_key: { type, publicKey: '-----BEGIN PUBLIC KEY-----\nSAMPLE\n-----END PUBLIC KEY-----\n' },
    client_certificate: { type, subject: subjectOf(SAMPLE_USER) },
  }[type];
  return pluginCredential({ credential, data: {} });
}

function placeholderRemarks(plugin: AnyDatabasePlugin, role: RoleRecord): string[] {
  const remarks: string[] = [];
  const { creation_statements: creation, revocation_statements: revocation, credential_type: type } = role;
  if (creation.length === 0 && !plugin.preview)
    remarks.push('creation_statements: none are given, and most plugins have none of their own');
  if (creation.length > 0 && !holdsPlaceholder(creation, ['name', 'username'])) {
    remarks.push('creation_statements: no statement contains {{name}}, so they would not create the user whose name is returned');
  }
  // A certificate may be compared with the user's name alone.
  if (creation.length > 0 && type !== 'client_certificate' && !holdsPlaceholder(creation, [PLACEHOLDERS[type]])) {
    remarks.push(
      `creation_statements: no statement contains {{${PLACEHOLDERS[type]}}}, so the user would not have the credential that is returned`,
    );
  }
  if (revocation.length > 0 && !holdsPlaceholder(revocation, ['name', 'username'])) {
    remarks.push('revocation_statements: no statement contains {{name}}, so they would not remove the user');
  }
  return remarks;
}
