import { type AnyPath, type EngineHost, f, NoContent, path, shownFields } from '@strongroom/engine-sdk';
import { sharersOf, sharingWarnings, unknownPolicy } from '@strongroom/ldap-client';
import { rotatesByItself, RotationStatus } from '@strongroom/rotation';
import { Type } from 'typebox';
import { configFields, configWarnings, shownConfig, type LdapAuthConfig } from './config.ts';
import type { ConfigStore } from './config-store.ts';
import type { RootRotation } from './root-rotation.ts';

export function configPaths(host: EngineHost, configs: ConfigStore, root: RootRotation): readonly AnyPath[] {
  const config = path('config', {
    synopsis: 'How the directory is reached and searched, and what tokens of a login are like.',
    description:
      'A write changes only what it sends. bindpass and the client certificate with its key are never shown. A write that would send them to another ' +
      'server, or less safely, sends them again, or comes with a token whose policy grants sudo on this path.',
    fields: configFields,
  })
    .read({
      summary: 'Read the configuration.',
      response: shownFields(configFields, {
        bindpass_set: Type.Boolean({ description: 'Whether there is a password, which is never shown.' }),
        last_bind_password_rotation: Type.Optional(Type.String()),
        root_rotation: Type.Optional(RotationStatus),
        binddn_shared_with: Type.Optional(
          Type.Array(Type.String(), {
            description: 'Other mounts that log in with the same account. One rotation locks the others out.',
          }),
        ),
      }),
      handle: async () => {
        const config = await configs.read();
        const sharers = await sharersOf(host.mount.path, config);
        return {
          data: {
            ...shownConfig(config),
            bindpass_set: config.bindpass !== '',
            ...(isRotated(config) ? { root_rotation: await root.status(config) } : {}),
            ...(sharers.length > 0 ? { binddn_shared_with: sharers } : {}),
          } as never,
        };
      },
    })
    .update({
      summary: 'Configure the method.',
      response: NoContent,
      handle: async (req) => {
        const written = await configs.update(req.data, req.supplied, req.caller.sudo);
        const { password_policy = '' } = written;
        const policy = req.supplied.has('password_policy') ? await unknownPolicy(host, { password_policy }) : undefined;
        const warnings = [
          ...configWarnings(written, req.supplied),
          ...(policy === undefined ? [] : [policy]),
          ...sharingWarnings(await sharersOf(host.mount.path, written)),
        ];
        return warnings.length > 0 ? { warnings } : undefined;
      },
    });

  const rotate = path('config/rotate-root', {
    synopsis: 'Changes the password of binddn.',
    description: 'The new password is known to this server alone. It is proven by a login before the old one is forgotten.',
    fields: {
      adopt: f.bool('Take the account over from whoever manages it now, in this mount or another: that one does not rotate it any more.'),
    },
  }).update({
    summary: 'Rotates the password of binddn now.',
    response: NoContent,
    handle: async (req) => {
      try {
        await root.rotate(req.signal, req.data.adopt);
      } finally {
        configs.rotated();
      }
      return undefined;
    },
  });
  return [config, rotate];
}

/** Whether bindpass was ever rotated, or is to be. */
function isRotated({ root, plan }: LdapAuthConfig): boolean {
  return (
    rotatesByItself(plan) || (root !== undefined && (root.last_rotation > 0 || root.pending !== undefined || root.last_error !== undefined))
  );
}
