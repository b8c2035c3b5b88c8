import { type AnyPath, NoContent, path, shownFields } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { configFields, configWarnings, shownConfig } from './config.ts';
import type { ConfigStore } from './config-store.ts';

export function configPath(configs: ConfigStore): AnyPath {
  return path('config', {
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
      }),
      handle: async () => {
        const config = await configs.read();
        return { data: { ...shownConfig(config), bindpass_set: config.bindpass !== '' } };
      },
    })
    .update({
      summary: 'Configure the method.',
      response: NoContent,
      handle: async (req) => {
        const warnings = configWarnings(await configs.update(req.data, req.supplied, req.caller.sudo), req.supplied);
        return warnings.length > 0 ? { warnings } : undefined;
      },
    });
}
