import { type AnyPath, NoContent, path, shownFields } from '@strongroom/engine-sdk';
import { configFields, type CertConfig, type ConfigStore } from './config.ts';

/** `changed` is called with what a write has stored. */
export function configPath(configs: ConfigStore, changed: (config: CertConfig) => void): AnyPath {
  return path('config', {
    synopsis: 'Configure settings for all roles: renewal, aliases and the OCSP cache.',
    description: 'A write changes only what it contains.',
    fields: configFields,
  })
    .read({
      summary: 'Read the configuration.',
      response: shownFields(configFields),
      handle: async () => ({ data: await configs.read() }),
    })
    .update({
      summary: 'Configure the method.',
      response: NoContent,
      handle: async ({ data, supplied }) => {
        changed(await configs.update(data, supplied));
        return undefined;
      },
    });
}
