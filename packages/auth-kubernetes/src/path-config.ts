import { path, type AnyPath } from '@strongroom/engine-sdk';
import { podTokenUse, trustedCa } from './clusters.ts';
import { configFields, configWarnings, shownConfig, writtenConfig } from './config.ts';
import type { ConfigStore } from './config-store.ts';
import type { PodFiles } from './pod-files.ts';

export function configPath(configs: ConfigStore, pod: PodFiles): AnyPath {
  return path('config', {
    synopsis: 'How the API server of the cluster is reached.',
    description:
      'A write replaces everything; token_reviewer_jwt alone stays where it is left out and kubernetes_host is the same. A write with another ' +
      'kubernetes_ca_cert sends it again, or comes with a token whose policy grants sudo on this path. It is never shown.',
    fields: configFields,
  })
    .read({
      summary: 'Read the configuration.',
      handle: async () => {
        const config = await configs.read();
        return config && { data: shownConfig(config) };
      },
    })
    .update({
      summary: 'Configure the method.',
      handle: async (req) => {
        await trustedCa(writtenConfig(undefined, req.data), pod);
        const config = await configs.write(req.data, req.caller.sudo);
        const warnings = configWarnings(config);
        if ((await podTokenUse(config, pod)) === 'withheld') warnings.push(WITHHELD);
        return warnings.length > 0 ? { warnings } : undefined;
      },
    });
}

const WITHHELD =
  "the token of this server's pod is not sent to an API server that another CA than the pod's vouches for: each token is reviewed with itself; set " +
  'token_reviewer_jwt, or leave kubernetes_ca_cert out';
