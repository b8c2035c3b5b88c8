import { recordPaths } from '@strongroom/auth-sdk';
import { BadRequest, type AnyPath, type EngineHost, type Transaction } from '@strongroom/engine-sdk';
import type { ConfigStore } from './config.ts';
import { mergeRole, roleData, roleFields, type Role } from './role.ts';
import { roleRecords, trusted, type RoleStore } from './role-store.ts';

/** `certs` and `certs/:name`. */
export function certPaths(roles: RoleStore, configs: ConfigStore, { mount }: Pick<EngineHost, 'mount'>): AnyPath[] {
  return recordPaths({
    at: 'certs',
    capture: 'name',
    noun: 'role',
    synopsis: 'Configure a role: the certificates to trust, and the tokens to issue.',
    description: 'A write changes only what it contains. Lists that allow everything read as null.',
    fields: roleFields,
    storage: roles.storage,
    records: roleRecords,
    alwaysUpdate: true,
    read: roleData,
    write: async (stored, req, tx, name) => {
      if (!stored && !req.data.certificate) throw new BadRequest('failed to parse certificate');
      const record = mergeRole(stored, req.data, req.supplied, name);
      const { prefix_alias_with_issuer: apart } = await configs.read();
      return { record, warnings: [...lifetimeWarnings(record, mount), ...(apart ? [] : await otherAuthority(tx, name, record))] };
    },
  });
}

function lifetimeWarnings({ token_ttl, token_max_ttl }: Role, { defaultLeaseTtl, maxLeaseTtl }: EngineHost['mount']): string[] {
  return [
    ...(token_ttl > defaultLeaseTtl
      ? [`Given ttl of ${token_ttl} seconds is greater than current mount/system default of ${defaultLeaseTtl} seconds`]
      : []),
    ...(token_max_ttl > maxLeaseTtl
      ? [`Given max_ttl of ${token_max_ttl} seconds is greater than current mount/system maximum of ${maxLeaseTtl} seconds`]
      : []),
  ];
}

/** The entity of a login is its common name, whoever issued the certificate. */
async function otherAuthority(tx: Transaction, name: string, role: Role): Promise<string[]> {
  const own = trusted(name, role).anchors;
  if (own.length === 0) return [];
  for (const [other, record] of await roleRecords(tx).entries()) {
    const { anchors } = trusted(other, record);
    if (other === name || anchors.length === 0 || anchors.some((anchor) => own.some((one) => one.keyDigest === anchor.keyDigest))) continue;
    return [
      `role "${other}" trusts another CA: certificates of both with one common name are one entity; set prefix_alias_with_issuer in config, or use a mount for each CA`,
    ];
  }
  return [];
}
