import { type AnyPath, type EngineHost, f, NoContent, path } from '@strongroom/engine-sdk';
import { plainServersWarning, sharersOf, sharingWarnings, unknownPolicy } from '@strongroom/ldap-client';
import { RotationStatus, visiblePlanFields } from '@strongroom/rotation';
import { Type } from 'typebox';
import { configFields, shortPasswords, shownConfig, type LdapSecretsConfig } from './config.ts';
import type { RootRotation } from './root-rotation.ts';
import type { DirectoryService } from './service.ts';

export function configPaths(host: EngineHost, service: DirectoryService, root: RootRotation): readonly AnyPath[] {
  const config = path('config', {
    synopsis: 'How the directory is reached, and how passwords are made.',
    description:
      'A write changes only what it sends. Nothing is tried: config/test does that. bindpass and the client certificate with its key are never shown. ' +
      'The password policy must exist when a password is first made.',
    fields: configFields,
  })
    .read({
      summary: 'Reads the configuration.',
      response: Type.Object(
        {
          schema: Type.String(),
          last_bind_password_rotation: Type.Optional(Type.String()),
          bindpass_set: Type.Boolean({ description: 'Whether there is a password, which is never shown.' }),
          ...visiblePlanFields,
          root_rotation: Type.Optional(RotationStatus),
          binddn_shared_with: Type.Optional(
            Type.Array(Type.String(), {
              description: 'Other mounts that log in with the same account. One rotation locks the others out.',
            }),
          ),
        },
        { additionalProperties: true },
      ),
      handle: async () => {
        const record = await service.read();
        if (!record) return undefined;
        const sharers = record.self_managed ? [] : await sharersOf(host.mount.path, record);
        return {
          data: {
            ...shownConfig(record),
            bindpass_set: record.bindpass !== '',
            ...(record.self_managed ? {} : { root_rotation: await root.status(record) }),
            ...(sharers.length > 0 ? { binddn_shared_with: sharers } : {}),
          },
        };
      },
    })
    .upsert({
      summary: 'Configures the engine.',
      response: NoContent,
      exists: async () => (await service.read()) !== undefined,
      handle: async (req) => {
        const before = await service.read();
        const config = await service.write(req.data, req.supplied, req.caller.sudo);
        const warnings = [
          req.supplied.has('url') || req.supplied.has('starttls') ? plainServersWarning(config) : undefined,
          req.supplied.has('length') ? shortPasswords(config) : undefined,
          req.supplied.has('password_policy') ? await unknownPolicy(host, config) : undefined,
          ...(config.self_managed ? selfManagedWarnings(before, config) : sharingWarnings(await sharersOf(host.mount.path, config))),
        ].filter((text) => text !== undefined);
        return warnings.length === 0 ? undefined : { warnings };
      },
    })
    .delete({
      summary: 'Deletes the configuration. Roles, sets and leases stay, and wait for another one.',
      response: NoContent,
      handle: async () => {
        const deleted = await service.delete();
        const warnings = lostPassword(deleted);
        return warnings.length === 0 ? undefined : { warnings };
      },
    });

  const rotate = path('rotate-root', {
    synopsis: 'Changes the password of binddn.',
    description: 'The new password is known to this server alone. It is proven by a login before the old one is forgotten.',
    fields: {
      adopt: f.bool('Take the account over from whoever manages it now, in this mount or another: that one does not rotate it any more.'),
    },
  }).update({
    summary: 'Rotates the password of binddn now.',
    response: NoContent,
    handle: async (req) => {
      await root.rotate(req.signal, req.data.adopt);
      return undefined;
    },
  });

  return [config, rotate];
}

function selfManagedWarnings(before: LdapSecretsConfig | undefined, { binddn }: LdapSecretsConfig): string[] {
  const unused = binddn === '' ? [] : ['binddn: it has no effect, since this mount is self_managed and has no service account'];
  return [...unused, ...lostPassword(before)];
}

/** The warning of a configuration that goes, with a bindpass that this server alone knows. */
function lostPassword(gone: LdapSecretsConfig | undefined): string[] {
  if (gone?.root?.previous === undefined) return [];
  return [
    `the password of ${gone.binddn} was rotated, and the new one is stored nowhere; set another one in the directory before you configure this account again`,
  ];
}
