import { BadRequest, f, path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import type { Credential } from '@strongroom/database-sdk';
import { Type } from 'typebox';
import { subjectOf } from './certificate-subject.ts';
import type { Connections } from './connections.ts';
import type { CredentialMaker } from './credential-maker.ts';
import { SLACK } from './dynamic-users.ts';
import { recordsIn, type RoleRecord } from './records.ts';
import { requireCredentialType } from './role-checks.ts';
import { roleAfter, roleFields } from './role-settings.ts';

const SAMPLE_PASSWORD = 'SAMPLE-password-0';
const SAMPLE_KEY = '-----BEGIN PUBLIC KEY-----\nSAMPLE\n-----END PUBLIC KEY-----\n';

export function previewPaths(host: EngineHost, connections: Connections, credentials: CredentialMaker): readonly AnyPath[] {
  const preview = path('roles/{name}/preview', {
    synopsis: 'What creds would do.',
    description:
      'Renders the creation statements of a role with sample values, for a user of the caller. Nothing is executed, stored or connected to. With fields ' +
      'of a role, those count in place of the stored ones; the role need not exist then.',
    fields: { name: f.name('Name of the role.'), ...roleFields },
  }).update({
    summary: 'Shows the statements, user name and end of a credential of the role.',
    response: Type.Object({
      username: Type.String({ description: 'Made as a real one is; the next one is another.' }),
      expiration: Type.String({ description: 'When the user expires in the database: a little after the lease ends.' }),
      lease_duration: Type.Number({ description: 'Seconds.' }),
      statements: Type.Array(Type.String(), { description: 'In order, as they would be sent.' }),
      credential_type: Type.String(),
      sample: Type.Record(Type.String(), Type.String(), { description: 'The sample credential in the statements.' }),
    }),
    handle: async (req) => {
      const { name } = req.data;
      const before = await recordsIn(host.storage).roles.get(name);
      const supplied: ReadonlySet<string> = req.supplied;
      const sent = Object.keys(roleFields).some((field) => supplied.has(field));
      if (!before && !sent) throw new BadRequest(`unknown role: ${name}`);
      const role = roleAfter(before, req.data);
      const connection = await connections.forRole(role.db_name, name);
      const { plugin, names } = connections.naming(connection);
      requireCredentialType(plugin, role.credential_type);
      const { ttl } = host.limit({ ttl: role.default_ttl, maxTtl: role.max_ttl });
      const expiresAt = new Date(host.clock.millis() + (ttl + SLACK) * 1_000);
      const username = names.next(req.caller.displayName, name);
      const { credential, sample } = sampleOf(role, () =>
        credentials.commonName(role.credential_config, username, req.caller.displayName, name),
      );
      const statements = await connections.preview(connection, {
        username,
        credential,
        expiresAt,
        statements: { commands: role.creation_statements },
      });
      return {
        data: {
          username,
          expiration: expiresAt.toISOString(),
          lease_duration: ttl,
          statements: [...statements],
          credential_type: role.credential_type,
          sample,
        },
      };
    },
  });
  return [preview];
}

function sampleOf(role: RoleRecord, commonName: () => string): { credential: Credential; sample: Record<string, string> } {
  switch (role.credential_type) {
    case 'password':
      return { credential: { type: 'password', password: SAMPLE_PASSWORD }, sample: { password: SAMPLE_PASSWORD } };
    case 'rsa_private_key':
      return { credential: { type: 'rsa_private_key', publicKey: SAMPLE_KEY }, sample: { public_key: SAMPLE_KEY } };
    case 'client_certificate': {
      const subject = subjectOf(commonName());
      return { credential: { type: 'client_certificate', subject }, sample: { subject } };
    }
  }
}
