import { type AnyPath, NoContent, path, shownFields } from '@strongroom/engine-sdk';
import { hostWarnings, trustedCa, type PodFiles } from '@strongroom/kubernetes-client';
import { Type } from 'typebox';
import { podTokenUse } from './clusters.ts';
import { configFields, shownConfig, writtenConfig } from './config.ts';
import type { ConfigStore } from './config-store.ts';

export function configPath(configs: ConfigStore, pod: PodFiles): AnyPath {
  return path('config', {
    synopsis: 'Configure the connection to the API server.',
    description:
      'A write replaces all parameters, except that it keeps an omitted token_reviewer_jwt if kubernetes_host is unchanged. A write that changes ' +
      'kubernetes_ca_cert must include token_reviewer_jwt, or the caller needs sudo on this path. A read never shows it.',
    fields: configFields,
  })
    .read({
      summary: 'Read the configuration.',
      response: shownFields(configFields, { token_reviewer_jwt_set: Type.Boolean() }),
      handle: async () => {
        const config = await configs.read();
        return config && { data: shownConfig(config) };
      },
    })
    .update({
      summary: 'Configure the method.',
      response: NoContent,
      handle: async (req) => {
        await trustedCa(writtenConfig(undefined, req.data), pod);
        const config = await configs.write(req.data, req.caller.sudo);
        const warnings = hostWarnings(config.kubernetes_host);
        if ((await podTokenUse(config, pod)) === 'withheld') warnings.push(WITHHELD);
        return warnings.length > 0 ? { warnings } : undefined;
      },
    });
}

const WITHHELD =
  "the token of this server's pod is not sent to an API server that another CA than the pod's vouches for: each token is reviewed with itself; set " +
  'token_reviewer_jwt, or leave kubernetes_ca_cert out';
