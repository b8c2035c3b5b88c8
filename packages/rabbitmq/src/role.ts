import { BadRequest, f } from '@strongroom/engine-sdk';
import { putPermission, putTopicPermission, putUser, type BrokerChange } from './broker.ts';
import { isRecord } from './broker-answer.ts';
import type { RoleRecord } from './records.ts';

/** The parameters of a role, with the names that Vault and OpenBao use. */
export const roleFields = {
  tags: f.string(
    'Tags of the user, separated by commas, such as management or monitoring. Without one, the management API is closed to it.',
  ),
  vhosts: f.string(
    'JSON: permissions by virtual host, as regular expressions: {"/":{"configure":"","write":"^orders$","read":".*"}}. What is left out allows nothing.',
    { multiline: 'json' },
  ),
  vhost_topics: f.string(
    'JSON: permissions on topic exchanges, by virtual host and exchange, as regular expressions: {"/":{"amq.topic":{"write":"^a","read":".*"}}}.',
    { multiline: 'json' },
  ),
} as const;

export interface SentRole {
  readonly tags?: string | undefined;
  readonly vhosts?: string | undefined;
  readonly vhost_topics?: string | undefined;
}

/** The role of a write, which replaces the one before. @throws BadRequest */
export function roleOf({ tags = '', vhosts: vhostText = '', vhost_topics: topicText = '' }: SentRole): RoleRecord {
  if (tags === '' && vhostText === '') throw new BadRequest('both tags and vhosts not specified');
  const vhosts = Object.entries(objectIn('vhosts', vhostText)).map(
    ([vhost, value]) => [vhost, texts('vhosts', vhost, value, ['configure', 'write', 'read'])] as const,
  );
  const topics = Object.entries(objectIn('vhost_topics', topicText)).map(([vhost, value]) => {
    if (!isRecord(value)) throw malformed('vhost_topics', `${JSON.stringify(vhost)} must be an object of exchanges`);
    const exchanges = Object.entries(value).map(
      ([exchange, one]) => [exchange, texts('vhost_topics', `${vhost}: ${exchange}`, one, ['write', 'read'])] as const,
    );
    return [vhost, Object.fromEntries(exchanges)] as const;
  });
  return { tags, vhosts: Object.fromEntries(vhosts), vhost_topics: Object.fromEntries(topics) };
}

/** What creates a user of the role, in the order in which it is sent. */
export function creationOf(role: RoleRecord, username: string, password: string): BrokerChange[] {
  const permissions = Object.entries(role.vhosts).map(([vhost, permission]) => putPermission(vhost, username, permission));
  const topics = Object.entries(role.vhost_topics).flatMap(([vhost, exchanges]) =>
    Object.entries(exchanges).map(([exchange, permission]) => putTopicPermission(vhost, username, exchange, permission)),
  );
  return [putUser(username, password, role.tags), ...permissions, ...topics];
}

function objectIn(field: string, text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw malformed(field, (error as Error).message);
  }
  // Clients send null for none.
  if (value === null) return {};
  if (!isRecord(value)) throw malformed(field, 'must be a JSON object');
  return value;
}

function texts<K extends string>(field: string, where: string, value: unknown, names: readonly K[]): Record<K, string> {
  if (!isRecord(value)) throw malformed(field, `${JSON.stringify(where)} must be an object with ${names.join(', ')}`);
  const other = Object.keys(value).find((name) => !names.includes(name as K));
  if (other !== undefined)
    throw malformed(field, `${JSON.stringify(where)} has ${JSON.stringify(other)}, and may have ${names.join(', ')}`);
  const found: Partial<Record<K, string>> = {};
  for (const name of names) {
    const text = value[name] ?? '';
    if (typeof text !== 'string') throw malformed(field, `${name} of ${JSON.stringify(where)} must be text`);
    found[name] = text;
  }
  return found as Record<K, string>;
}

function malformed(field: string, why: string): BadRequest {
  return new BadRequest(`failed to unmarshal ${field}: ${why}`);
}
